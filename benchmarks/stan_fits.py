"""Fits by Stan through PyStan, each timed as a user waits for it.

The clock runs over `Model.sample`: the data's way to httpstan, four chains, and the draws' way
back. Stan's own clock, summed over the chains, is kept beside it, so that one can see how much of
the wait is transport.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from contest import CHAINS, DRAWS, WARM_UP, FitTarget, TimedFit
from stan_programs import StanProgram

LARGE_BOUND = 1e6
"""What stands for an infinite bound, which Stan's data cannot hold: no score comes near it."""
_OWN_CLOCK = re.compile(rb"([0-9.]+) seconds \(Total\)")


def compiled(program: StanProgram) -> float:
    """Compile a program anew, let Stan start its workers, and return the seconds of compiling.

    httpstan forks its workers at the first fit. That must be over before JAX starts its threads,
    because a process with threads cannot be forked safely.
    """
    import httpstan.cache
    import httpstan.models

    httpstan.cache.delete_model_directory(httpstan.models.calculate_model_name(program.code))
    few = FitTarget("a few records", np.array([0.1, 0.2, 0.4]), LARGE_BOUND)
    started = time.perf_counter()
    # With the real stderr, from which httpstan keeps the compiler's warnings.
    with contextlib.redirect_stdout(sys.stderr):
        model = _build(program, few, seed=1)
    seconds = time.perf_counter() - started
    _sample(model, warm_up=100, draws=10)
    _forget(model)
    return seconds


def stan_fit(program: StanProgram, target: FitTarget, seed: int) -> TimedFit:
    """Fit a target; `seed` must be new, because httpstan replays a fit that it has seen."""
    with _quiet():
        model = _build(program, target, seed)
    started = time.perf_counter()
    fit = _sample(model, warm_up=WARM_UP, draws=DRAWS)
    seconds = time.perf_counter() - started
    _forget(model)
    # PyStan pools draws with the chain as the fastest index.
    draws = np.stack([fit[name].reshape(DRAWS, CHAINS).T for name in ("phi", "lambda")], axis=-1)
    return TimedFit(seconds, draws, own_clock=_own_clock(fit))


def _build(program: StanProgram, target: FitTarget, seed: int) -> Any:
    import stan

    return stan.build(program.code, data=_data(program, target), random_seed=seed)


def _sample(model: Any, *, warm_up: int, draws: int) -> Any:
    with _quiet():
        return model.sample(num_chains=CHAINS, num_warmup=warm_up, num_samples=draws)


def _data(program: StanProgram, target: FitTarget) -> dict[str, Any]:
    known = {
        "n": len(target.x),
        "outcome": target.x,
        "log_x": np.log(target.x),
        "log1m_x": np.log1p(-target.x),
        "alpha": np.ones(len(target.x)),
        "M": min(target.bound, LARGE_BOUND),
    }
    return {name: known[name] for name in program.data}


def _own_clock(fit: Any) -> float:
    found = [_OWN_CLOCK.search(output) for output in fit.stan_outputs]
    return sum(float(match.group(1)) for match in found if match is not None)


def _forget(model: Any) -> None:
    """Delete the cached draws: a fit of the paper's script leaves a hundred megabytes behind."""
    import httpstan.cache

    for path in httpstan.cache.model_directory(model.model_name).rglob("*.jsonlines.gz"):
        path.unlink()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep PyStan's progress out of the tables; errors still come as exceptions."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield
