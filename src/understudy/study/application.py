"""The paper's application (section 5): five synthesisers at ε = 5 on one table, and ours beside.

Every synthesiser makes one synthetic table, as in the paper. One seed drives everything: each
synthesiser's own seed is derived from it and from the synthesiser's name, so that leaving one out
does not change the others. A seeded table is never for release.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import BadInput
from understudy.mechanisms import (
    Anchored,
    CensorUw,
    CensorW,
    Mechanism,
    PerturbedHistogram,
    Unweighted,
    Weighted,
    WeightedE,
)
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.study.application_sample import Sample, load_sample
from understudy.study.paper import APPLICATION_EPSILON, LABELS
from understudy.support.progress import Progress, silent, stage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from understudy.models.base import Model
    from understudy.synthesis.release import Release

GLOBAL, SPECIFIC = ("max_ecdf", "avg_ecdf"), ("mean", "median", "q15", "q90")
"""Rows that say by themselves how close a table is, and rows to be compared with the data's."""


@dataclass(frozen=True)
class Synthesiser:
    """A mechanism under the name that tables and pictures give it."""

    key: str
    label: str
    mechanism: Mechanism


def _histogram(bins: str) -> PerturbedHistogram:
    """Return PH with the paper's Laplace scale 2/ε, which is that of replace-one.

    The paper does not say into how many bins it divided salary. It prints a 15th percentile of
    30,108, far below that of the data, 51,000. On the simulated survey a histogram has 27,000 with
    ln n bins and 51,000 with √n, so ln n it is, as in its simulation.
    """
    return PerturbedHistogram(
        epsilon=APPLICATION_EPSILON, bins=bins, adjacency=Adjacency.REPLACE_ONE
    )


PAPER = (
    Synthesiser("weighted", LABELS["weighted"], Weighted()),
    Synthesiser("weighted-e", LABELS["weighted-e"], WeightedE(epsilon=APPLICATION_EPSILON)),
    Synthesiser("censor-w", LABELS["censor-w"], CensorW(epsilon=APPLICATION_EPSILON)),
    Synthesiser("censor-uw", LABELS["censor-uw"], CensorUw(epsilon=APPLICATION_EPSILON)),
    Synthesiser("ph", LABELS["ph"], _histogram("ln")),
)
"""The five of the paper, in the order of its Table 2."""

BEYOND = (
    Synthesiser("anchored-5", "Anchored (ε = 5)", Anchored(epsilon=APPLICATION_EPSILON)),
    Synthesiser("anchored-1", "Anchored (ε = 1)", Anchored(epsilon=1.0)),
    Synthesiser("ph-sqrt", "PH (√n bins)", _histogram("sqrt")),
    Synthesiser("unweighted", "Posterior (no privacy)", Unweighted()),
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
    values: dict[str, float | None]
    """By statistic. ε is 2Δ, a diagnostic, wherever no ε holds."""
    synthetic: NDArray[np.float64]
    """The synthetic outcome column."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Application:
    """Section 5, computed."""

    sample: Sample
    seed: int
    data: dict[str, float]
    """The statistics of the data themselves."""
    paper: tuple[MeasuredTable, ...]
    beyond: tuple[MeasuredTable, ...]

    @property
    def outcomes(self) -> tuple[MeasuredTable, ...]:
        """Every outcome, those of the paper first."""
        return self.paper + self.beyond


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
    outcomes = {}
    for synthesiser in (*paper, *beyond):
        with stage(progress, synthesiser.label):
            outcomes[synthesiser.key] = _outcome(synthesiser, model, sample, seed)
    summary = summarise(sample.values)
    return Application(
        sample=sample,
        seed=seed,
        data={statistic: getattr(summary, statistic) for statistic in SPECIFIC},
        paper=tuple(outcomes[each.key] for each in paper),
        beyond=tuple(outcomes[each.key] for each in beyond),
    )


def _outcome(synthesiser: Synthesiser, model: Model, sample: Sample, seed: int) -> MeasuredTable:
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
        values=_values(release, sample.outcome),
        synthetic=release.synthetic[sample.outcome].to_numpy(dtype=np.float64),
    )


def _values(release: Release, outcome: str) -> dict[str, float | None]:
    measured = release.internal.diagnostics["utility"][outcome]
    guaranteed, asked = release.guarantee.epsilon, release.guarantee.asked
    local = release.internal.diagnostics["local_epsilon"]
    return {
        "lipschitz_bound": release.internal.diagnostics["lipschitz_bound"],
        "epsilon": local if guaranteed is None else guaranteed[asked],
        **{statistic: measured[statistic] for statistic in GLOBAL},
        **{statistic: measured["synthetic"][statistic] for statistic in SPECIFIC},
    }


def derived_seed(seed: int, key: str) -> int:
    """Return a synthesiser's own seed."""
    sequence = np.random.SeedSequence([seed, *key.encode()])
    return int(sequence.generate_state(1, np.uint64)[0]) >> 1
