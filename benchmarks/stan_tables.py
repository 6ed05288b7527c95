"""The tables of `against_stan.py`, in Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from contest import CHAINS, StudyRound, TimedFit, figure, ratios, spread, standard_errors_apart

Fits = dict[tuple[str, str], list[TimedFit]]
"""By target and contestant, one fit for each round."""

FARTHEST = 4.0
"""Standard errors by which no mean may differ: chance alone passes it once in 15,000 means."""


def times(fits: Fits) -> Iterator[str]:
    """Tabulate seconds per fit and effective draws per second."""
    yield "Median (smallest–largest) over the rounds:\n"
    yield "| target | fit by | seconds per fit | effective draws | effective draws per second |"
    yield "|---|---|---|---|---|"
    for (target, name), rounds in fits.items():
        seconds = spread([fit.seconds for fit in rounds])
        effective = spread([float(fit.effective.min()) for fit in rounds])
        rate = spread([fit.effective_per_second for fit in rounds])
        yield f"| {target} | {name} | {seconds} | {figure(effective.median)} | {rate} |"
    yield f"\nStan's own clock counts {_own_clocks(fits)} of the seconds; the rest is PyStan's."


def advantages(fits: Fits, *, stan: Sequence[str], ours: Sequence[str]) -> Iterator[str]:
    """Tabulate how many times faster ours are, by the ratios within each round."""
    columns = [f"{name}, per {what}" for what in ("fit", "effective draw") for name in ours]
    yield "How many times faster ours are, median (smallest–largest) of the rounds' ratios:\n"
    yield "| target | against | " + " | ".join(columns) + " |"
    yield "|---|---|" + "---|" * len(columns)
    for target in _targets(fits):
        for name in stan:
            seconds = [fit.seconds for fit in fits[target, name]]
            rates = [fit.effective_per_second for fit in fits[target, name]]
            cells = [ratios(seconds, [fit.seconds for fit in fits[target, o]]) for o in ours]
            cells += [
                ratios([fit.effective_per_second for fit in fits[target, o]], rates) for o in ours
            ]
            yield f"| {target} | {name} | " + " | ".join(map(str, cells)) + " |"


def full_study(
    fits: Fits, study: Sequence[StudyRound], *, stan: Sequence[str], like: dict[str, int]
) -> Iterator[str]:
    """Tabulate all fits of the study: ours run in full, Stan's from the seconds of those run.

    `like` says how many fits of a replicate each target stands for.
    """
    count = sum(each.fits for each in study)
    seconds = sum(each.seconds for each in study)
    yield f"The study's {count} Bayesian fits:\n"
    yield "| fits by | time | times slower | how |"
    yield "|---|---|---|---|"
    yield f"| `understudy.study` | {figure(seconds)} s | 1 | all {count} run |"
    ours = [each.seconds / each.fits for each in study]
    for name in stan:
        rounds = np.array([[fit.seconds for fit in fits[target, name]] for target in like])
        per_fit = np.average(rounds, axis=0, weights=list(like.values())).tolist()
        hours = spread([count * each / 3600 for each in per_fit])
        how = f"extrapolated from {rounds.size} measured fits"
        yield f"| {name} | {hours} h | {ratios(per_fit, ours)} | {how} |"


def agreement(fits: Fits, exact: dict[str, np.ndarray]) -> Iterator[str]:
    """Tabulate how far the pooled means are from the exact ones of each target."""
    names = list(dict.fromkeys(name for _, name in fits))
    yield "Posterior means on a fine grid, and how many standard errors each one's are away:\n"
    yield "| target | φ | λ | " + " | ".join(names) + " |"
    yield "|---|---|---|" + "---|" * len(names)
    for target, (mean, precision) in exact.items():
        apart = [standard_errors_apart(fits[target, name], exact[target]) for name in names]
        cells = " | ".join(f"{each:.1f}" for each in apart)
        yield f"| {target} | {mean:.4f} | {precision:.3f} | {cells} |"


def disagreements(fits: Fits, exact: dict[str, np.ndarray]) -> list[str]:
    """Name the fits whose means are farther from the exact ones than chance explains."""
    return [
        f"{name} on {target}"
        for (target, name), rounds in fits.items()
        if standard_errors_apart(rounds, exact[target]) > FARTHEST
    ]


def _own_clocks(fits: Fits) -> str:
    """Return the median share of each contestant's seconds that its own clock counted."""
    side_by_side = min(CHAINS, os.cpu_count() or 1)
    shares: dict[str, list[float]] = {}
    for (_, name), rounds in fits.items():
        for fit in rounds:
            if fit.own_clock is not None:
                shares.setdefault(name, []).append(fit.own_clock / side_by_side / fit.seconds)
    return ", ".join(f"{np.median(values):.0%} ({name})" for name, values in shares.items())


def _targets(fits: Fits) -> list[str]:
    return list(dict.fromkeys(target for target, _ in fits))
