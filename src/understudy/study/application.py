"""The paper's application (section 5): five synthesisers at ε = 5 on one table, and ours beside.

Every synthesiser makes one synthetic table, as in the paper. One seed drives everything: each
synthesiser's own seed is derived from it and from the synthesiser's name, so that leaving one out
does not change the others. A seeded table is never for release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from understudy.errors import BadInput
from understudy.mechanisms import Anchored, Mechanism, Summary
from understudy.models.base import Model
from understudy.privacy.guarantee import Guarantee
from understudy.report.curves import reflected_kde
from understudy.study import arms, synthesisers
from understudy.study.application_sample import Sample, load_sample
from understudy.study.arms import ANALYSES, SYNTHESISERS, Values
from understudy.study.paper import APPLICATION_EPSILON
from understudy.support.progress import Progress, silent, stage

DISTANCES = ("max_ecdf", "avg_ecdf")
"""What says by itself how close a table is; `ANALYSES` are to be compared with the data's."""

Statistics = dict[str, float | None]

_AT_TARGET: dict[str, Mechanism] = {
    **synthesisers.bayesian(APPLICATION_EPSILON),
    **synthesisers.others(APPLICATION_EPSILON),
}
MECHANISMS = {
    **{key: _AT_TARGET[key] for key in SYNTHESISERS},
    "summary-5": _AT_TARGET["summary"],
    "summary-1": Summary(epsilon=1.0),
    "anchored-5": _AT_TARGET["anchored-ladder"],
    "anchored-1": Anchored(epsilon=1.0),
    "ph-sqrt": _AT_TARGET["ph-sqrt"],
    "unweighted": _AT_TARGET["unweighted"],
}
"""The five of the paper, in the order of its Table 2, and then what it does not have; the posterior
itself shows what the model can do at best."""
LABELS = {
    **arms.LABELS,
    "summary-5": "Summary (ε = 5)",
    "summary-1": "Summary (ε = 1)",
    "anchored-5": "Anchored (ε = 5)",
    "anchored-1": "Anchored (ε = 1)",
    "ph-sqrt": "PH (√n bins)",
    "unweighted": "Posterior (no privacy)",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTable:
    """One synthetic table, measured."""

    guarantee: Guarantee
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
    tables: dict[str, MeasuredTable]
    """By synthesiser, those of the paper first."""

    @property
    def labels(self) -> dict[str, str]:
        """What each column of numbers is called, the data's first."""
        return {key: LABELS[key] for key in ("data", *self.tables)}

    def row(self, statistic: str) -> Statistics:
        """Return a statistic of the data and of every synthetic table."""
        synthetic = {key: table.values[statistic] for key, table in self.tables.items()}
        return {"data": self.data.get(statistic)} | synthetic

    @cached_property
    def densities(self) -> tuple[Values, dict[str, Values]]:
        """A grid over the declared bounds, and the density of the data and of each table on it."""
        column = self.sample.schema.confidential[0]
        bounds = column.lower, column.upper
        columns = {key: table.synthetic for key, table in self.tables.items()}
        columns = {"data": self.sample.values} | columns
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
    mechanisms: Mapping[str, Mechanism] = MECHANISMS,
    progress: Progress = silent,
) -> Application:
    """Make and measure one synthetic table with each synthesiser."""
    from understudy.models.formula import formula
    from understudy.utility import summarise

    with stage(progress, "Model"):
        model = formula(sample.formula, family="beta", schema=sample.schema)
    tables = {}
    for key, mechanism in mechanisms.items():
        with stage(progress, LABELS[key]):
            tables[key] = _measured(mechanism, model, sample, derived_seed(seed, key))
    data = asdict(summarise(sample.values))
    return Application(sample=sample, seed=seed, data=data, tables=tables)


def _measured(mechanism: Mechanism, model: Model, sample: Sample, seed: int) -> MeasuredTable:
    from understudy.synthesis.run import synthesize

    release = synthesize(model, sample.table, mechanism, rows=len(sample.table), seed=seed)
    guarantee, diagnostics = release.guarantee, release.internal.diagnostics
    utility, epsilon = diagnostics["utility"][sample.outcome], diagnostics["local_epsilon"]
    if guarantee.epsilon is not None:
        epsilon = guarantee.epsilon[guarantee.asked]
    return MeasuredTable(
        guarantee=guarantee,
        values={
            "lipschitz_bound": diagnostics["lipschitz_bound"],
            "epsilon": epsilon,
            **{statistic: utility[statistic] for statistic in DISTANCES},
            **{statistic: utility["synthetic"][statistic] for statistic in ANALYSES},
        },
        synthetic=release.synthetic[sample.outcome].to_numpy(dtype=np.float64),
    )


def derived_seed(seed: int, key: str) -> int:
    """Return a synthesiser's own seed."""
    sequence = np.random.SeedSequence([seed, *key.encode()])
    return int(sequence.generate_state(1, np.uint64)[0]) >> 1
