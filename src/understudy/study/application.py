"""The paper's application (section 5): five synthesisers at ε = 5 on one table, and ours beside.

Every synthesiser makes one synthetic table, as in the paper. One seed drives everything: each
synthesiser's own seed is derived from it and from the synthesiser's name, so that leaving one out
does not change the others. A seeded table is never for release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from understudy.errors import BadInput
from understudy.mechanisms import Anchored, Mechanism
from understudy.models.base import Model
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.report.curves import reflected_kde
from understudy.study import synthesisers
from understudy.study.application_sample import Sample, load_sample
from understudy.study.arms import ANALYSES, LABELS, SYNTHESISERS, Values
from understudy.study.paper import APPLICATION_EPSILON
from understudy.support.progress import Progress, silent, stage
from understudy.synthesis.release import Release

DISTANCES = ("max_ecdf", "avg_ecdf")
"""What says by itself how close a table is; `ANALYSES` are to be compared with the data's."""

Statistics = dict[str, float | None]


@dataclass(frozen=True)
class Synthesiser:
    """A mechanism under the name that tables and pictures give it."""

    key: str
    label: str
    mechanism: Mechanism


_MECHANISMS: dict[str, Mechanism] = {
    **synthesisers.bayesian(APPLICATION_EPSILON),
    **synthesisers.others(APPLICATION_EPSILON),
}
PAPER = tuple(Synthesiser(key, LABELS[key], _MECHANISMS[key]) for key in SYNTHESISERS)
"""The five of the paper, in the order of its Table 2."""

BEYOND = (
    Synthesiser("anchored-5", "Anchored (ε = 5)", _MECHANISMS["anchored-ladder"]),
    Synthesiser("anchored-1", "Anchored (ε = 1)", Anchored(epsilon=1.0)),
    Synthesiser("ph-sqrt", "PH (√n bins)", _MECHANISMS["ph-sqrt"]),
    Synthesiser("unweighted", "Posterior (no privacy)", _MECHANISMS["unweighted"]),
)
"""What the paper does not have; the posterior itself shows what the model can do at best."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTable:
    """One synthetic table, measured."""

    key: str
    label: str
    kind: Kind
    asked: Adjacency
    guaranteed: dict[Adjacency, float] | None
    """ε under both adjacencies, None where no ε holds."""
    values: Statistics
    """By statistic. ε is 2Δ, a diagnostic, wherever no ε holds."""
    synthetic: Values
    """The synthetic outcome column."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Application:
    """Section 5, computed."""

    sample: Sample
    seed: int
    data: Statistics
    """The statistics of the data themselves."""
    paper: tuple[MeasuredTable, ...]
    beyond: tuple[MeasuredTable, ...]

    @property
    def tables(self) -> tuple[MeasuredTable, ...]:
        """Every synthetic table, those of the paper first."""
        return self.paper + self.beyond

    @property
    def labels(self) -> dict[str, str]:
        """What each column of numbers is called, the data's first."""
        return {"data": LABELS["data"]} | {table.key: table.label for table in self.tables}

    def row(self, statistic: str) -> dict[str, float | None]:
        """Return a statistic of the data and of every synthetic table."""
        synthetic = {table.key: table.values[statistic] for table in self.tables}
        return {"data": self.data.get(statistic)} | synthetic

    @cached_property
    def densities(self) -> tuple[Values, dict[str, Values]]:
        """A grid over the declared bounds, and the density of the data and of each table on it."""
        column = self.sample.schema.confidential[0]
        bounds = column.lower, column.upper
        columns = {"data": self.sample.values} | {each.key: each.synthetic for each in self.tables}
        curves = {key: reflected_kde(values, bounds) for key, values in columns.items()}
        return curves["data"][0], {key: density for key, (_, density) in curves.items()}


def run_application(
    data: str | None, out: Path, *, seed: int, progress: Progress = silent
) -> Application:
    """Reproduce section 5 and write it to `out/application`."""
    from understudy.study.application_output import write_application

    sample = load_sample(data)
    folder = out / "application"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written to: {error.strerror}.") from None
    application = compute(sample, seed=seed, progress=progress)
    with stage(progress, "Writing"):
        write_application(application, folder)
    return application


def compute(
    sample: Sample,
    *,
    seed: int,
    paper: tuple[Synthesiser, ...] = PAPER,
    beyond: tuple[Synthesiser, ...] = BEYOND,
    progress: Progress = silent,
) -> Application:
    """Make and measure one synthetic table with each synthesiser."""
    from understudy.models.formula import formula
    from understudy.utility import summarise

    with stage(progress, "Model"):
        model = formula(sample.formula, family="beta", schema=sample.schema)
    tables = []
    for synthesiser in (*paper, *beyond):
        with stage(progress, synthesiser.label):
            tables.append(_measured(synthesiser, model, sample, seed))
    summary = summarise(sample.values)
    return Application(
        sample=sample,
        seed=seed,
        data={statistic: getattr(summary, statistic) for statistic in ANALYSES},
        paper=tuple(tables[: len(paper)]),
        beyond=tuple(tables[len(paper) :]),
    )


def _measured(synthesiser: Synthesiser, model: Model, sample: Sample, seed: int) -> MeasuredTable:
    from understudy.synthesis.run import synthesize

    release = synthesize(
        model,
        sample.table,
        synthesiser.mechanism,
        rows=len(sample.table),
        seed=derived_seed(seed, synthesiser.key),
    )
    return MeasuredTable(
        key=synthesiser.key,
        label=synthesiser.label,
        kind=release.guarantee.kind,
        asked=release.guarantee.asked,
        guaranteed=release.guarantee.epsilon,
        values=_statistics(release, sample.outcome),
        synthetic=release.synthetic[sample.outcome].to_numpy(dtype=np.float64),
    )


def _statistics(release: Release, outcome: str) -> Statistics:
    diagnostics, guaranteed = release.internal.diagnostics, release.guarantee.epsilon
    utility = diagnostics["utility"][outcome]
    local = diagnostics["local_epsilon"]
    return {
        "lipschitz_bound": diagnostics["lipschitz_bound"],
        "epsilon": local if guaranteed is None else guaranteed[release.guarantee.asked],
        **{statistic: utility[statistic] for statistic in DISTANCES},
        **{statistic: utility["synthetic"][statistic] for statistic in ANALYSES},
    }


def derived_seed(seed: int, key: str) -> int:
    """Return a synthesiser's own seed."""
    sequence = np.random.SeedSequence([seed, *key.encode()])
    return int(sequence.generate_state(1, np.uint64)[0]) >> 1
