"""One function for each tool: a table, its schema and ε in, a synthetic table out.

Every tool is imported where it is run, so that one that is not installed fails alone. Those that
cannot live beside `understudy` are run by an interpreter of their own (`peer.py`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from peers import grid
from peers.rounding import spendable
from peers.trees import rows_of
from understudy.privacy.accounting import rho_within

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.schema import Schema


DELTA = 1e-6
"""The δ of the rows that have one."""


class PeerFailed(RuntimeError):
    """A tool failed in an interpreter of its own; its text is the class of the error."""


@dataclass(frozen=True)
class Task:
    """What a tool is asked for. `epsilon` is infinite where no privacy is asked for."""

    table: pd.DataFrame
    schema: Schema
    epsilon: float
    pythons: Mapping[str, str] = field(default_factory=dict)
    """By the name of a package, an interpreter that has it."""
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


def understudy(model: str, delta: float = 0, *, balanced: bool = False) -> Tool:
    """Return ours: a model of whole records, by noisy sums, or one draw without privacy."""

    def run(task: Task) -> pd.DataFrame:
        import understudy as us
        from understudy.adapters.loading import load_model

        built = load_model(model, schema=task.schema)
        private = np.isfinite(task.epsilon)
        mechanism = (
            us.Summary(epsilon=task.epsilon, delta=delta or None) if private else us.Unweighted()
        )
        return us.synthesize(built, task.table, mechanism, balanced=balanced).synthetic

    return run


def opendp(algorithm: str, delta: float = 0) -> Tool:
    """Return AIM or MST of OpenDP, one record added or removed.

    Without δ it is under max-divergence, which is pure ε. With one it is under zero-concentrated
    divergence, as its authors published it, with the largest ρ that implies (ε, δ).
    """

    def run(task: Task) -> pd.DataFrame:
        import opendp.prelude as dp
        import polars as pl

        dp.enable_features("contrib")
        coded = grid.encode(task.table, task.schema)
        asked = rho_within(task.epsilon, delta=delta) if delta else task.epsilon
        if algorithm == "MST":
            asked = spendable(asked, len(task.schema.columns))
        loss = {"rho" if delta else "epsilon": asked}
        context = dp.Context.compositor(
            data=pl.LazyFrame({name: coded[name].to_numpy() for name in coded}),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(**loss),
        )
        # Codes 0 … k−1 have the left-open cuts 0 … k−2. Keys would do, but add a code for nulls.
        cuts = {c.name: list(range(grid.size(c) - 1)) for c in task.schema.columns}
        release = (
            context.query(**loss)
            .contingency_table(cuts=cuts, algorithm=getattr(dp.mbi, algorithm)())
            .release()
        )
        return _rows(release.model, task)

    return run


def _rows(model: Any, task: Task) -> pd.DataFrame:
    """Draw rows from mbi's model of all columns."""
    import pandas as pd

    codes = rows_of(model, task.rows, task.random)
    return grid.decode(pd.DataFrame(codes), task.schema, task.random)


def mbi(delta: float = 0) -> Tool:
    """Return mbi's graphical model, fitted to all two-way tables with noise.

    The package brings inference and no mechanism of its own, so this is the plainest one: every
    pair's table is measured once. A record adds 1 to a cell of each, so Laplace noise of scale
    pairs/ε is pure ε for a record added or removed. With δ, Gaussian noise of variance
    pairs/(2ρ) is ρ-zero-concentrated.
    """

    def run(task: Task) -> pd.DataFrame:
        from mbi import Domain, LinearMeasurement, estimation

        coded = grid.encode(task.table, task.schema)
        sizes = {column.name: grid.size(column) for column in task.schema.columns}
        pairs = list(itertools.combinations(sizes, 2))
        if delta:
            deviation = np.sqrt(len(pairs) / (2 * rho_within(task.epsilon, delta=delta)))
        else:
            deviation = np.sqrt(2) * len(pairs) / task.epsilon
        measured = []
        for a, b in pairs:
            flat = coded[a] * sizes[b] + coded[b]
            counts = np.bincount(flat, minlength=sizes[a] * sizes[b])
            if delta:
                noise = task.random.normal(0, deviation, counts.size)
            else:
                noise = task.random.laplace(0, deviation / np.sqrt(2), counts.size)
            measured.append(LinearMeasurement(counts + noise, (a, b), stddev=deviation))
        return _rows(estimation.mirror_descent(Domain.fromdict(sizes), measured), task)

    return run


def elsewhere(package: str, algorithm: str, delta: float = DELTA) -> Tool:
    """Return a tool that an interpreter of its own runs on the codes of the grid."""

    def run(task: Task) -> pd.DataFrame:
        import pandas as pd

        if package not in task.pythons:
            raise PeerFailed("no interpreter named")
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            grid.encode(task.table, task.schema).to_csv(place / "table.csv", index=False)
            sizes = {column.name: grid.size(column) for column in task.schema.columns}
            (place / "domain.json").write_text(json.dumps(sizes))
            asked = [package, algorithm, str(task.epsilon), str(delta), str(task.rows)]
            script = str(Path(__file__).with_name("peer.py"))
            done = subprocess.run(
                [task.pythons[package], script, *asked, str(place)],
                stdout=sys.stderr,
                check=False,
            )
            failure = place / "error.txt"
            if failure.is_file():
                raise PeerFailed(failure.read_text())
            if done.returncode:
                raise PeerFailed(f"crash, exit code {done.returncode}")
            codes = pd.read_csv(place / "synthetic.csv")
        return grid.decode(codes, task.schema, task.random)

    return run


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
    "understudy joint, balanced": understudy("joint", balanced=True),
    "understudy mixture": understudy("mixture"),
    "OpenDP AIM": opendp("AIM"),
    "OpenDP MST": opendp("MST"),
    "mbi, all pairs": mbi(),
    "DataSynthesizer": datasynthesizer,
}
"""What is run at every ε, with δ = 0."""
WITH_DELTA: dict[str, Tool] = {
    "understudy joint, delta": understudy("joint", DELTA),
    "understudy joint, balanced, delta": understudy("joint", DELTA, balanced=True),
    "OpenDP AIM, delta": opendp("AIM", DELTA),
    "OpenDP MST, delta": opendp("MST", DELTA),
    "mbi, all pairs, delta": mbi(DELTA),
    "dpmm AIM, delta": elsewhere("dpmm", "AIM"),
    "dpmm MST, delta": elsewhere("dpmm", "MST"),
    "dpmm PrivBayes, delta": elsewhere("dpmm", "PrivBayes"),
    "smartnoise AIM, delta": elsewhere("snsynth", "aim"),
    "smartnoise MST, delta": elsewhere("snsynth", "mst"),
}
"""What is run at every ε with a δ, where it is asked for: another promise."""
BASELINES: dict[str, Tool] = {
    "a second sample": resample,
    "understudy joint": understudy("joint"),
}
"""What is run once without privacy."""
EVERY = TOOLS | WITH_DELTA
