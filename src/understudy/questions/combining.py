"""One interval from the analyses of M synthetic tables, each from its own draw of θ.

Let Q(θ) be what is asked about the population that θ describes. Table m of independent rows is
simulated from θₘ, a draw of θ given all that is known, so its estimate qₘ is Q(θₘ) plus the chance
of its rows, whose variance its own analysis estimates as uₘ. Over the tables, with mean q̄ and ū,

    B = Σ (qₘ − q̄)² / (M − 1)     estimates     Var Q(θ) + ū,

so B − ū estimates the posterior variance of Q, which holds everything that is not known: sampling
of the records, and the noise that protects them. q̄ differs from the posterior mean by chance with
variance B/M, and both together are the rule of Raghunathan, Reiter and Rubin:

    T = (1 + 1/M) B − ū.

B is about χ² with M − 1 degrees of freedom, and ū hardly varies. A χ² that has mean and variance of
T has Reiter's degrees of freedom ν = 2T²/Var T, with Var T = 2 ((1 + 1/M) B)² / (M − 1):

    ν = (M − 1) (1 − ū / ((1 + 1/M) B))²,      q̄ ± t(ν) √T.

The rule for multiple imputation, ū + (1 + 1/M) B, adds what is subtracted here: there, ū is the
sampling variance of the records, which nothing else tells; here it is that of invented rows, and B
tells all the rest. T can come out negative where ū is as large as the posterior variance. Tables of
ten times as many rows as there were records have a ū of a tenth of it, or less.

T. E. Raghunathan, J. P. Reiter and D. B. Rubin (2003), Multiple imputation for statistical
disclosure limitation, Journal of Official Statistics 19(1), 1-16. J. P. Reiter (2002), Satisfying
disclosure restrictions with synthetic data sets, Journal of Official Statistics 18(4), 531-543.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Combined:
    """One answer, combined over tables."""

    name: str
    """What it is an answer to: the question itself, a level, a difference or a coefficient."""
    estimate: float | None
    """q̄; None where one of the tables cannot tell."""
    standard_error: float | None
    """√T; None where the tables do not tell it."""
    degrees_of_freedom: float | None
    """ν."""
    lower: float | None
    """Where the interval begins."""
    upper: float | None
    """Where it ends."""
    problem: str | None = None
    """Why there is no interval, where there is none."""


def combine(
    analyses: Sequence[Mapping[str, tuple[float, float]]], *, level: float
) -> tuple[Combined, ...]:
    """Combine the estimates and variances of two tables or more, name by name."""
    return tuple(
        _combined(name, np.array([analysis[name] for analysis in analyses]), level)
        for name in analyses[0]
    )


def _combined(name: str, told: np.ndarray, level: float) -> Combined:
    from scipy.stats import t

    if not np.isfinite(told).all():
        return _without(name, None, "at least one of the tables cannot tell it")
    tables, (estimate, within) = len(told), told.mean(axis=0)
    between = (1 + 1 / tables) * told[:, 0].var(ddof=1)
    if not between > 0:
        return _without(name, float(estimate), "it is the same in all tables")
    total, freedom = between - within, (tables - 1) * (1 - within / between) ** 2
    reach = t.ppf((1 + level) / 2, freedom) * np.sqrt(total) if total > 0 else np.inf
    if not np.isfinite(reach):
        return _without(
            name,
            float(estimate),
            "the chance of the tables' rows hides how much is not known: it takes tables of more "
            "rows, or more of them",
        )
    return Combined(
        name=name,
        estimate=float(estimate),
        standard_error=float(np.sqrt(total)),
        degrees_of_freedom=float(freedom),
        lower=float(estimate - reach),
        upper=float(estimate + reach),
    )


def _without(name: str, estimate: float | None, problem: str) -> Combined:
    return Combined(
        name=name,
        estimate=estimate,
        standard_error=None,
        degrees_of_freedom=None,
        lower=None,
        upper=None,
        problem=problem,
    )
