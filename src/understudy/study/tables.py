"""The study's tables: counts beside the paper's, and utility by mechanism and ε.

Two means differ when they lie more than four standard errors apart. The standard error takes its
two parts from this run and from the paper's printed standard deviation; where this run has too few
replicates to know its own, the paper's stands for both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from understudy.study import paper
from understudy.study.arms import STATISTICS, Arm, Results, Values, arms, has
from understudy.support.files import written_atomically

ERRORS = 4.0
"""Standard errors that separate two means."""
ENOUGH = 10
"""Replicates from which a standard deviation is worth using."""


@dataclass(frozen=True)
class CountRow:
    """One row of Table 1 or of the supplement's table, with the paper's beside it."""

    mechanism: str
    epsilon: float
    c1: float
    printed: paper.Counts
    ours: paper.Counts
    errors: float
    """How many standard errors our mean lies above the paper's."""
    guess: paper.Counts | None
    """Only for Censor_w: what the paper might have counted."""
    guess_errors: float | None

    @property
    def differs(self) -> bool:
        """Whether the difference of the means is more than chance."""
        return abs(self.errors) > ERRORS


def summarise(values: Values) -> paper.Counts:
    """Return the summary that the paper's tables print."""
    minimum, q1, median, q3, maximum = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    sd = float(values.std(ddof=1)) if values.size > 1 else math.nan
    return paper.Counts(minimum, q1, median, float(values.mean()), q3, maximum, sd)


def standard_errors(ours: paper.Counts, printed: paper.Counts, replicates: int) -> float:
    """Return the difference of two means in standard errors."""
    own = ours.sd if replicates >= ENOUGH else printed.sd
    error = math.sqrt(own**2 / replicates + printed.sd**2 / paper.REPLICATES)
    return (ours.mean - printed.mean) / error


def table_1(results: Results) -> list[CountRow]:
    """Return the number of records truncated or censored at each ε."""
    return [
        _row(results, mechanism, epsilon, 1.0, printed)
        for (mechanism, epsilon), printed in paper.TABLE_1.items()
    ]


def supplement_table(results: Results) -> list[CountRow]:
    """Return the number of records truncated or censored without and with downscaling."""
    return [
        _row(results, mechanism, paper.DOWNSCALED_EPSILON, c1, printed)
        for (mechanism, c1), printed in paper.SUPPLEMENT_TABLE.items()
    ]


def _row(
    results: Results, mechanism: str, epsilon: float, c1: float, printed: paper.Counts
) -> CountRow:
    def compared(statistic: str) -> tuple[paper.Counts, float]:
        counts = summarise(results.values(mechanism, statistic, epsilon=epsilon, c1=c1))
        return counts, standard_errors(counts, printed, results.replicates)

    guess = compared("records_unweighted") if mechanism == "censor-w" else (None, None)
    return CountRow(mechanism, epsilon, c1, printed, *compared("records"), *guess)


def counts_frame(rows: list[CountRow]) -> pd.DataFrame:
    """Return the rows as they are written to a file: ours, the paper's and the guess."""
    return pd.DataFrame(
        {
            **{"mechanism": row.mechanism, "epsilon": row.epsilon, "c1": row.c1, "source": source},
            **counts._asdict(),
            "standard_errors_from_paper": errors,
        }
        for row in rows
        for source, counts, errors in (
            ("this run", row.ours, row.errors),
            ("paper", row.printed, None),
            ("this run, unweighted", row.guess, row.guess_errors),
        )
        if counts is not None
    )


def arm_summaries(results: Results) -> dict[Arm, dict[str, paper.Counts]]:
    """Return the summary of each statistic that an arm has, Lipschitz bounds included."""
    return {
        arm: {
            statistic: summarise(
                results.values(arm.mechanism, statistic, epsilon=arm.epsilon, c1=arm.c1)
            )
            for statistic in STATISTICS
            if has(arm.mechanism, statistic)
        }
        for arm in arms()
    }


def utility_frame(results: Results) -> pd.DataFrame:
    """Return those summaries as they are written to a file."""
    return pd.DataFrame(
        {**arm._asdict(), "statistic": statistic, **summary._asdict()}
        for arm, summaries in arm_summaries(results).items()
        for statistic, summary in summaries.items()
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
