"""Our fits of the paper's model against Stan's, interleaved in one run.

    pip install -e '.[bench]'
    python benchmarks/against_stan.py [--rounds 5] [--no-growth] [--paper ../shared/paper.tex]

Stan runs through PyStan: the paper's own script, the same without its generated quantities, and a
vectorised program of ours with the same density. Every contestant fits the same table of 2000
records from Beta(0.5, 3) in every round, with a new seed, in an order that rotates. The paper's
script is read from its LaTeX source; where that is absent, a program of ours with the same loop
over records stands in, and the output says so.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from contest import (
    CHAINS,
    DRAWS,
    PATIENCE,
    WARM_UP,
    FitTarget,
    StudyRound,
    TimedFit,
    figure,
)
from stan_fits import compiled, stan_fit
from stan_programs import StanProgram, programs
from stan_tables import Fits, advantages, agreement, disagreements, full_study, times
from understudy.study.paper import EPSILONS, REPLICATES, SHAPES, N

PAPER = Path(__file__).resolve().parents[2] / "shared" / "paper.tex"
SIZES = (2_000, 20_000, 200_000, 1_000_000)
OURS = ("our NUTS", "our quadrature")

Contestant = Callable[[FitTarget, int], TimedFit]
Contestants = dict[str, Contestant]


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--growth", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--paper", type=Path, default=PAPER, help="the paper's LaTeX source")
    arguments = parser.parse_args()
    if not 1 <= arguments.rounds <= REPLICATES:
        parser.error(f"--rounds must be a number from 1 to {REPLICATES}")
    if find_spec("httpstan") is None:
        parser.error("PyStan is not installed: pip install -e '.[bench]'")

    stan = programs(arguments.paper)
    names = [program.name for program in stan]
    show(headline(arguments.paper))
    show(compilation(stan))
    contestants = everybody(stan)
    fits, study = compete(contestants, arguments.rounds)
    exact = exactly()
    show(times(fits))
    show(advantages(fits, stan=names, ours=OURS))
    show(full_study(fits, study, stan=names, like={t.name: t.fits for t in targets(N)}))
    show(agreement(fits, exact))
    if arguments.growth:
        script, vectorised = names[0], names[-1]
        growing_ones = {name: contestants[name] for name in (script, vectorised, *OURS)}
        show(growth(growing_ones, only_smallest=script))
    if wrong := disagreements(fits, exact):
        sys.exit(f"times must not be compared, because means disagree: {', '.join(wrong)}")


def headline(paper: Path) -> Iterator[str]:
    """Say when, how, where and with what this was measured."""
    command = shlex.join(["python", "benchmarks/against_stan.py", *sys.argv[1:]])
    libraries = ("pystan", "httpstan", "jax", "blackjax", "numpy")
    used = ", ".join(f"{name} {version(name)}" for name in libraries)
    yield f"`{command}`, {datetime.date.today()}, {os.cpu_count()} cores, {used}."
    yield (
        f"Stan: {CHAINS} chains × ({WARM_UP} + {DRAWS}). Our NUTS: as many draws, after a warm-up "
        f"of its own. Quadrature: {DRAWS} independent draws."
    )
    if paper.is_file():
        yield f"The paper's script was read from {paper.name}."
    else:
        yield "The paper's source is absent: a program of ours with the same loop stands in."


def compilation(stan: Sequence[StanProgram]) -> Iterator[str]:
    """Compile Stan's programs and say how long that took."""
    yield "Stan's compilation, not counted below: " + ", ".join(
        f"{compiled(program):.0f} s ({program.name})" for program in stan
    )


def everybody(stan: Sequence[StanProgram]) -> Contestants:
    """Return the contestants by name. JAX starts here, after Stan's workers were forked."""
    from our_fits import nuts_fit, quadrature_fit

    theirs = {program.name: partial(stan_fit, program) for program in stan}
    return {**theirs, **dict(zip(OURS, (nuts_fit, quadrature_fit), strict=True))}


def targets(n: int) -> list[FitTarget]:
    """Return the Unweighted target and the censored ones of a table with n records.

    In the study, Unweighted, Weighted and three Weighted-e have no bound; at each ε, Censor_w and
    Censor_uw share one.
    """
    x = np.random.default_rng(n).beta(*SHAPES, n)
    censored = [FitTarget(f"censored, ε = {e:g}", x, e / 2, fits=2) for e in EPSILONS]
    return [FitTarget("unweighted", x, math.inf, fits=2 + len(EPSILONS)), *censored]


def exactly() -> dict[str, np.ndarray]:
    """Return the exact means of φ and λ by target."""
    from our_fits import exact_means

    return {target.name: exact_means(target) for target in targets(N)}


def compete(contestants: Contestants, rounds: int) -> tuple[Fits, list[StudyRound]]:
    """Let everybody fit every target in every round.

    The replicates of our study are dealt out over the rounds: all are run, and interleaved too,
    in one worker process for each core, as the study runs them and as Stan runs its chains.
    """
    from understudy.study.workers import pool

    for name in OURS:
        contestants[name](targets(N)[0], 0)
    names = list(contestants)
    cores = os.cpu_count() or 1
    workers = pool(cores)
    # Twice as many tasks as workers, so that each has compiled its kernels.
    list(workers.map(fits_of, range(REPLICATES, REPLICATES + 2 * cores)))
    fits: Fits = {(target.name, name): [] for target in targets(N) for name in names}
    study = []
    for number, replicates in enumerate(np.array_split(np.arange(REPLICATES), rounds)):
        first = number % len(names)
        for target in targets(N):
            for name in names[first:] + names[:first]:
                fit = contestants[name](target, new_seed())
                fits[target.name, name].append(fit)
                note(f"round {number + 1}, {target.name}, {name}: {fit.seconds:.2f} s")
        started = time.perf_counter()
        count = sum(workers.map(fits_of, map(int, replicates)))
        study.append(StudyRound(time.perf_counter() - started, count))
    workers.shutdown()
    return fits, study


def fits_of(replicate: int) -> int:
    """Run the paper's Bayesian fits of one replicate, and return how many they were."""
    from understudy.study.replicate import begun, explore, paper_rows

    source, values = begun(replicate, 0)
    return len(explore(values, paper_rows(), source, "quadrature"))


def growth(contestants: Contestants, only_smallest: str) -> Iterator[str]:
    """Tabulate seconds per fit on tables of up to a million records."""
    target = targets(N)[-1].name
    yield f"Seconds per fit as the table grows ({target}, one timed fit each):\n"
    yield "| fit by | " + " | ".join(f"n = {n:,}" for n in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    for name, fit in contestants.items():
        sizes = SIZES[:1] if name == only_smallest else SIZES
        # Quadrature is run to the end, so that the table says what a million records cost.
        patience = math.inf if name == OURS[-1] else PATIENCE
        cells = list(growing(fit, sizes, warm=name in OURS, patience=patience))
        cells += ["not run"] * (len(SIZES) - len(cells))
        yield f"| {name} | " + " | ".join(cells) + " |"


def growing(
    fit: Contestant, sizes: Sequence[int], *, warm: bool, patience: float = PATIENCE
) -> Iterator[str]:
    """Yield the seconds at each size, until a fit is expected to take longer than `patience`."""
    seconds_per_record = 0.0
    for n in sizes:
        expected = seconds_per_record * n
        if expected > patience:
            yield f"not run: about {figure(expected)} expected"
            return
        target = targets(n)[-1]
        if warm:  # JAX compiles for each number of records.
            fit(target, new_seed())
        seconds = fit(target, new_seed()).seconds
        seconds_per_record = seconds / n
        note(f"n = {n:,}: {seconds:.2f} s")
        yield figure(seconds)


def new_seed() -> int:
    """Return a seed from the operating system: httpstan's cache of fits outlives a process."""
    return secrets.randbelow(2**31)


def show(lines: Iterable[str]) -> None:
    """Print a paragraph of the result."""
    for line in lines:
        print(line, flush=True)
    print(flush=True)


def note(line: str) -> None:
    """Tell whoever is waiting how far the run is."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
