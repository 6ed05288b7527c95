"""The study's tables: counts beside the paper's, and utility by mechanism and ε.

Two means differ when they lie more than four standard errors apart. The standard error takes its
two parts from this run and from the paper's printed standard deviation; where this run has too few
replicates to know its own, the paper's stands for both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.study import paper
from understudy.study.arms import (
    DOWNSCALED,
    LABELS,
    STATISTICS,
    WITH_WEIGHTS,
    WITHOUT_TARGET,
    Results,
    Values,
)
from understudy.support.files import written_atomically

if TYPE_CHECKING:
    from pandas import DataFrame

ERRORS = 4.0
"""Standard errors that separate two means."""
ENOUGH = 10
"""Replicates from which a standard deviation is worth using."""


@dataclass(frozen=True, kw_only=True)
class CountRow:
    """One row of Table 1 or of the supplement's table, with the paper's beside it."""

    mechanism: str
    epsilon: float
    c1: float
    ours: paper.Counts
    printed: paper.Counts
    guess: paper.Counts | None
    """Only for Censor_w: what the paper might have counted."""
    replicates: int

    @property
    def label(self) -> str:
        """The paper's name of the mechanism."""
        return LABELS[self.mechanism]

    @property
    def errors(self) -> float:
        """How many standard errors our mean lies above the paper's."""
        return standard_errors(self.ours, self.printed, self.replicates)

    @property
    def guess_errors(self) -> float | None:
        """How many standard errors the mean of the guess lies above the paper's."""
        return self.guess and standard_errors(self.guess, self.printed, self.replicates)

    @property
    def differs(self) -> bool:
        """Whether the difference of the means is more than chance."""
        return abs(self.errors) > ERRORS


def summarise(values: Values) -> paper.Counts:
    """Return the summary that the paper's tables print."""
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75])
    return paper.Counts(
        minimum=float(values.min()),
        q1=float(q1),
        median=float(median),
        mean=float(values.mean()),
        q3=float(q3),
        maximum=float(values.max()),
        sd=float(values.std(ddof=1)) if values.size > 1 else math.nan,
    )


def standard_errors(ours: paper.Counts, printed: paper.Counts, replicates: int) -> float:
    """Return the difference of two means in standard errors."""
    own = ours.sd if replicates >= ENOUGH else printed.sd
    error = math.sqrt(own**2 / replicates + printed.sd**2 / paper.REPLICATES)
    return (ours.mean - printed.mean) / error


def table_1(results: Results) -> tuple[CountRow, ...]:
    """Return the number of records truncated or censored at each ε."""
    return tuple(
        _row(results, mechanism, epsilon, 1.0, printed)
        for (mechanism, epsilon), printed in paper.TABLE_1.items()
    )


def supplement_table(results: Results) -> tuple[CountRow, ...]:
    """Return the number of records truncated or censored without and with downscaling."""
    return tuple(
        _row(results, mechanism, paper.DOWNSCALED_EPSILON, c1, printed)
        for (mechanism, c1), printed in paper.SUPPLEMENT_TABLE.items()
    )


def _row(
    results: Results, mechanism: str, epsilon: float, c1: float, printed: paper.Counts
) -> CountRow:
    def summary(statistic: str) -> paper.Counts:
        return summarise(results.values(mechanism, statistic, epsilon=epsilon, c1=c1))

    return CountRow(
        mechanism=mechanism,
        epsilon=epsilon,
        c1=c1,
        ours=summary("records"),
        printed=printed,
        guess=summary("records_unweighted") if mechanism == "censor-w" else None,
        replicates=results.replicates,
    )


def counts_frame(rows: tuple[CountRow, ...]) -> DataFrame:
    """Return the rows as they are written to a file: ours, the paper's and the guess."""
    import pandas as pd

    def lines() -> Iterator[dict[str, object]]:
        for row in rows:
            arm = {"mechanism": row.mechanism, "epsilon": row.epsilon, "c1": row.c1}
            sources = (
                ("this run", row.ours, row.errors),
                ("paper", row.printed, None),
                ("this run, unweighted", row.guess, row.guess_errors),
            )
            for source, counts, errors in sources:
                if counts is not None:
                    compared = {"standard_errors_from_paper": errors}
                    yield {**arm, "source": source, **counts._asdict(), **compared}

    return pd.DataFrame(lines())


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A mechanism at an ε and a c₁, as far as it has them."""

    mechanism: str
    epsilon: float | None
    c1: float | None

    @property
    def label(self) -> str:
        """What the mechanism is called."""
        return LABELS[self.mechanism]


def arms() -> Iterator[Arm]:
    """Yield every arm of the study: first the main study, then the downscaled arms."""
    for mechanism in LABELS:
        c1 = 1.0 if mechanism in WITH_WEIGHTS else None
        for epsilon in (None,) if mechanism in WITHOUT_TARGET else paper.EPSILONS:
            yield Arm(mechanism=mechanism, epsilon=epsilon, c1=c1)
    for mechanism in DOWNSCALED:
        epsilon = None if mechanism in WITHOUT_TARGET else paper.DOWNSCALED_EPSILON
        yield Arm(mechanism=mechanism, epsilon=epsilon, c1=paper.DOWNSCALED_C1)


def has(mechanism: str, statistic: str) -> bool:
    """Whether a mechanism has a statistic: the confidential table is no synthesis of itself."""
    if statistic == "lipschitz_bound":
        return mechanism in ("unweighted", "weighted", "weighted-e", "censor-w", "censor-uw")
    return mechanism != "data" or "ecdf" not in statistic


def arm_values(results: Results, arm: Arm, statistic: str) -> Values:
    """Return one value for each replicate."""
    return results.values(
        arm.mechanism, statistic, epsilon=arm.epsilon, c1=1.0 if arm.c1 is None else arm.c1
    )


def utility_frame(results: Results) -> DataFrame:
    """Return the summary of every statistic of every arm, Lipschitz bounds included."""
    import pandas as pd

    return pd.DataFrame(
        {
            "mechanism": arm.mechanism,
            "epsilon": arm.epsilon,
            "c1": arm.c1,
            "statistic": statistic,
            **summarise(arm_values(results, arm, statistic))._asdict(),
        }
        for arm in arms()
        for statistic in STATISTICS
        if has(arm.mechanism, statistic)
    )


def write_tables(results: Results, directory: Path) -> None:
    """Write `table-1.csv`, `table-supplement.csv` and `utility.csv`."""
    frames = {
        "table-1.csv": counts_frame(table_1(results)),
        "table-supplement.csv": counts_frame(supplement_table(results)),
        "utility.csv": utility_frame(results),
    }
    for name, frame in frames.items():
        with written_atomically(directory / name) as path:
            frame.to_csv(path, index=False, float_format="%.6g")
