"""One function for each tool: a table, its schema and ε in, a synthetic table out.

Every tool is imported where it is run, so that one that is not installed fails alone.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import secrets
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from peers import grid

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.schema import Schema


@dataclass(frozen=True)
class Task:
    """What a tool is asked for. `epsilon` is infinite where no privacy is asked for."""

    table: pd.DataFrame
    schema: Schema
    epsilon: float
    random: np.random.Generator = field(default_factory=np.random.default_rng)

    @property
    def rows(self) -> int:
        """The declared size, which is also the size of the synthetic table."""
        assert self.schema.size is not None
        return self.schema.size


Tool = Callable[[Task], "pd.DataFrame"]


def resample(task: Task) -> pd.DataFrame:
    """Draw records of the confidential table again: the noise that no synthesis can avoid."""
    return task.table.sample(task.rows, replace=True, random_state=task.random)


def understudy(model: str) -> Tool:
    """Return ours: a model of whole records, by noisy sums, or one draw without privacy."""

    def run(task: Task) -> pd.DataFrame:
        import understudy as us
        from understudy.adapters.loading import load_model

        built = load_model(model, schema=task.schema)
        private = np.isfinite(task.epsilon)
        mechanism = us.Summary(epsilon=task.epsilon) if private else us.Unweighted()
        return us.synthesize(built, task.table, mechanism).synthetic

    return run


def opendp(algorithm: str) -> Tool:
    """Return AIM or MST of OpenDP under max-divergence: pure ε, one record added or removed."""

    def run(task: Task) -> pd.DataFrame:
        import opendp.prelude as dp
        import polars as pl

        dp.enable_features("contrib")
        coded = grid.encode(task.table, task.schema)
        context = dp.Context.compositor(
            data=pl.LazyFrame({name: coded[name].to_numpy() for name in coded}),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=task.epsilon),
        )
        # Codes 0 … k−1 have the left-open cuts 0 … k−2. Keys would do, but add a code for nulls.
        cuts = {c.name: list(range(grid.size(c) - 1)) for c in task.schema.columns}
        release = (
            context.query(epsilon=task.epsilon)
            .contingency_table(cuts=cuts, algorithm=getattr(dp.mbi, algorithm)())
            .release()
        )
        return _rows(release.project(task.schema.names), task)

    return run


def _rows(joint: Any, task: Task) -> pd.DataFrame:
    """Draw rows from a fitted model of all columns, which is post-processing.

    mbi 1.1.0, which OpenDP 0.16 requires, would make columns depend on each other that its model
    keeps apart (github.com/ryan112358/mbi/pull/145, mended in 2.0.0), so it is not asked.
    """
    import pandas as pd

    counts = np.maximum(np.asarray(joint, dtype=np.float64), 0)
    drawn = task.random.choice(counts.size, task.rows, p=counts.ravel() / counts.sum())
    codes = np.unravel_index(drawn, counts.shape)
    made = pd.DataFrame(dict(zip(task.schema.names, codes, strict=True)))
    return grid.decode(made, task.schema, task.random)


def mbi(task: Task) -> pd.DataFrame:
    """Fit mbi's graphical model to all two-way tables with Laplace noise.

    The package brings inference and no mechanism of its own, so this is the plainest one: every
    pair's table is measured once. A record adds 1 to a cell of each, so scale pairs/ε is pure ε
    for a record added or removed.
    """
    from mbi import Domain, LinearMeasurement, estimation

    coded = grid.encode(task.table, task.schema)
    sizes = {column.name: grid.size(column) for column in task.schema.columns}
    pairs = list(itertools.combinations(sizes, 2))
    scale = len(pairs) / task.epsilon
    measured = []
    for a, b in pairs:
        flat = coded[a] * sizes[b] + coded[b]
        counts = np.bincount(flat, minlength=sizes[a] * sizes[b])
        noisy = counts + task.random.laplace(0, scale, counts.size)
        measured.append(LinearMeasurement(noisy, (a, b), stddev=scale * np.sqrt(2)))
    model = estimation.mirror_descent(Domain.fromdict(sizes), measured)
    return _rows(model.project(task.schema.names).values, task)


def datasynthesizer(task: Task) -> pd.DataFrame:
    """Run DataSynthesizer's correlated mode with the declared domain and fresh seeds."""
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    declared = _described(task.schema)
    with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(sys.stderr):
        place = Path(directory)
        task.table.to_csv(place / "table.csv", index=False)
        (place / "domains.json").write_text(json.dumps(declared["domains"]))
        describer = DataDescriber(histogram_bins=grid.BINS)
        describer.describe_dataset_in_correlated_attribute_mode(
            str(place / "table.csv"),
            epsilon=task.epsilon,
            k=2,
            attribute_to_datatype=declared["types"],
            attribute_to_is_categorical=declared["categorical"],
            attribute_to_is_candidate_key=dict.fromkeys(task.schema.names, False),
            categorical_attribute_domain_file=str(place / "domains.json"),
            numerical_attribute_ranges=declared["ranges"],
            seed=secrets.randbits(32),
        )
        describer.save_dataset_description_to_file(str(place / "description.json"))
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(
            task.rows, str(place / "description.json"), seed=secrets.randbits(32)
        )
    made: pd.DataFrame = generator.synthetic_dataset
    levelled = [column.name for column in task.schema.columns if column.levels is not None]
    return made.astype(dict.fromkeys(levelled, str))


def _described(schema: Schema) -> dict[str, dict[str, Any]]:
    """Return the declared domain in DataSynthesizer's words; whole numbers are categories."""
    told: dict[str, dict[str, Any]] = {"types": {}, "categorical": {}, "domains": {}, "ranges": {}}
    for column in schema.columns:
        counted = column.levels is not None or column.whole
        told["categorical"][column.name] = counted
        if column.levels is not None:
            # It reads codes such as 1 and 2 from its file as numbers.
            numbers = all(level.isdigit() for level in column.levels)
            told["types"][column.name] = "Integer" if numbers else "String"
            told["domains"][column.name] = [int(x) if numbers else x for x in column.levels]
        elif column.whole:
            told["types"][column.name] = "Integer"
            told["domains"][column.name] = list(range(int(column.lower), int(column.upper) + 1))
        else:
            told["types"][column.name] = "Float"
            told["ranges"][column.name] = [column.lower, column.upper]
    return told


TOOLS: dict[str, Tool] = {
    "understudy joint": understudy("joint"),
    "understudy mixture": understudy("mixture"),
    "OpenDP AIM": opendp("AIM"),
    "OpenDP MST": opendp("MST"),
    "mbi, all pairs": mbi,
    "DataSynthesizer": datasynthesizer,
}
"""What is run at every ε."""
BASELINES: dict[str, Tool] = {
    "a second sample": resample,
    "understudy joint": understudy("joint"),
}
"""What is run once without privacy."""
