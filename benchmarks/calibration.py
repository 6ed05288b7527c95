"""Simulation-based calibration of `summary`: do its 90 % intervals hold θ in 90 % of the tables?

    python benchmarks/calibration.py --case beta [--tables 300] [--epsilon 1 0.1] [--file F.jsonl]
    python benchmarks/calibration.py --case width [--tables 40]

θ comes from a stated proper prior that the fit uses too, a table from the model at θ, and intervals
from the draws that a release holds. For each parameter the number of tables is printed in which the
central 90 % interval holds θ, beside the 99.9 % binomial band, Bonferroni over the parameters.
Parameters whose posterior is on average as wide as the prior are left to the prior, and listed
apart. `width` compares the 95 % interval of the mean of `beta` with the one without privacy, worked
out on a grid.

Each table is a line of the file, so a run that was interrupted goes on where it ended. Seeds are
fixed. Add-remove, strict, no history; two worker processes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.special
import scipy.stats
from numpyro import distributions as dist

import understudy as us

Theta = dict[str, Any]
LEVEL, BAND = 0.9, 0.999
TO_PRIOR = 0.95
"""Width of a posterior, in widths of the prior, from which on a parameter is left to the prior."""
SHARE = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
UNIT = {"role": "public", "type": "continuous", "bounds": [0, 1]}
GROUPS = [f"g{k:02d}" for k in range(20)]
SHAPES = {"narrow": (150.0, 350.0), "middle": (60.0, 15.0), "skewed": (0.5, 3.0)}


@dataclass(frozen=True)
class Case:
    """A model, θ from its prior, and a table from the model at θ."""

    model: us.Model
    theta: Callable[[np.random.Generator], Theta]
    table: Callable[[np.random.Generator, Theta], pd.DataFrame]


def beta(size: int = 2000, declared: int | None = None) -> Case:
    """Return the Beta model with phi ~ Beta(2, 2) and lambda − 0.1 ~ Gamma(2, scale 3)."""
    schema = us.Schema.from_dict({"table": {"size": declared or size}, "columns": {"x": SHARE}})

    def log_prior(theta: Any) -> Any:
        own = dist.Beta(2.0, 2.0).log_prob(theta["phi"])
        return own + dist.Gamma(2.0, 1 / 3).log_prob(theta["lambda"] - 0.1)

    def table(generator: np.random.Generator, theta: Theta) -> pd.DataFrame:
        a = theta["lambda"] * theta["phi"]
        return pd.DataFrame({"x": generator.beta(a, theta["lambda"] - a, size)})

    return Case(
        replace(us.beta(schema), log_prior=log_prior),
        lambda g: {"phi": g.beta(2, 2), "lambda": 0.1 + g.gamma(2, 3)},
        table,
    )


def _predictors(generator: np.random.Generator, size: int) -> dict[str, Any]:
    return {"a": generator.random(size), "b": generator.beta(2, 3, size)}


def regression(size: int = 2000) -> Case:
    """Return a beta regression with five parameters and public predictors."""
    levels = {"role": "public", "type": "categorical", "levels": ["no", "yes"]}
    columns = {"y": SHARE, "a": UNIT, "b": UNIT, "c": levels}
    schema = us.Schema.from_dict({"table": {"size": size}, "columns": columns})
    priors = {
        "Intercept": ("normal", 0.0, 1.0),
        "coefficients": ("normal", 0.0, 1.0),
        "lambda": ("lognormal", 1.5, 0.5),
    }
    model = us.formula("y ~ a + b + c", family="beta", schema=schema, priors=priors)
    names = [p.name for p in model.parameters if p.name != "lambda"]

    def table(generator: np.random.Generator, theta: Theta) -> pd.DataFrame:
        public = _predictors(generator, size) | {"c": generator.integers(2, size=size)}
        eta = np.column_stack([np.ones(size), *public.values()]) @ [theta[n] for n in names]
        mean = 1 / (1 + np.exp(-eta))
        y = generator.beta(theta["lambda"] * mean, theta["lambda"] * (1 - mean))
        public["c"] = np.array(["no", "yes"])[public["c"]]
        return pd.DataFrame({"y": y, **public})

    return Case(
        model,
        lambda g: {n: g.normal() for n in names} | {"lambda": g.lognormal(1.5, 0.5)},
        table,
    )


def logistic(size: int = 2000) -> Case:
    """Return a logistic regression with three parameters and public predictors."""
    columns = {"y": {"role": "confidential", "type": "binary", "levels": ["no", "yes"]}}
    schema = us.Schema.from_dict(
        {"table": {"size": size}, "columns": {**columns, "a": UNIT, "b": UNIT}}
    )
    priors = {"Intercept": ("normal", 0.0, 1.5), "coefficients": ("normal", 0.0, 1.5)}
    model = us.formula("y ~ a + b", family="bernoulli", schema=schema, priors=priors)
    names = [parameter.name for parameter in model.parameters]

    def table(generator: np.random.Generator, theta: Theta) -> pd.DataFrame:
        public = _predictors(generator, size)
        eta = np.column_stack([np.ones(size), *public.values()]) @ [theta[n] for n in names]
        yes = generator.random(size) < 1 / (1 + np.exp(-eta))
        return pd.DataFrame({"y": np.array(["no", "yes"])[yes.astype(int)], **public})

    return Case(model, lambda g: {n: 1.5 * g.normal() for n in names}, table)


def groups(size: int = 2000) -> Case:
    """Return a beta regression with an intercept for each of twenty groups."""
    group = {"role": "public", "type": "categorical", "levels": GROUPS}
    columns = {"y": SHARE, "a": UNIT, "g": group}
    schema = us.Schema.from_dict({"table": {"size": size}, "columns": columns})
    priors = {
        "Intercept": ("normal", 0.0, 1.0),
        "coefficients": ("normal", 0.0, 1.0),
        "1|g_sigma": ("half-normal", 0.5),
        "lambda": ("lognormal", 1.5, 0.5),
    }
    model = us.formula("y ~ a + (1 | g)", family="beta", schema=schema, priors=priors)

    def theta(generator: np.random.Generator) -> Theta:
        return {
            "Intercept": generator.normal(),
            "a": generator.normal(),
            "1|g_sigma": abs(generator.normal(0, 0.5)),
            "1|g_offset": generator.normal(size=len(GROUPS)),
            "lambda": generator.lognormal(1.5, 0.5),
        }

    def table(generator: np.random.Generator, theta: Theta) -> pd.DataFrame:
        a, g = generator.random(size), generator.integers(len(GROUPS), size=size)
        offset = theta["1|g_sigma"] * theta["1|g_offset"]
        mean = 1 / (1 + np.exp(-(theta["Intercept"] + theta["a"] * a + offset[g])))
        y = generator.beta(theta["lambda"] * mean, theta["lambda"] * (1 - mean))
        return pd.DataFrame({"y": y, "a": a, "g": np.array(GROUPS)[g]})

    return Case(model, theta, table)


CASES: dict[str, Callable[[], Case]] = {
    "beta": beta,
    "regression": regression,
    "logistic": logistic,
    "groups": groups,
    "beta-large": lambda: beta(200_000),
    "beta-declared": lambda: beta(2000, declared=2200),
}
_BUILT: dict[str, Case] = {}
"""Models of this process: a model that is built again is compiled again."""


def replicate(name: str, epsilon: float, number: int) -> dict[str, Any]:
    """Return for each element of θ where it lies among its draws, and how wide these are."""
    case = _BUILT.setdefault(name, CASES[name]())
    generator = np.random.default_rng([number, 15])
    theta = case.theta(generator)
    table = case.table(generator, theta)
    release = us.synthesize(case.model, table, us.Summary(epsilon=epsilon), seed=7000 + number)
    draws, wide = release.parameters[0]["draws"], np.random.default_rng(1)
    prior = [case.theta(wide) for _ in range(400)]
    below, ratio = {}, {}
    for parameter in case.model.parameters:
        true, own, before = (
            np.array([np.ravel(each[parameter.name]) for each in some])
            for some in ([theta], draws, prior)
        )
        for k, element in enumerate(parameter.element_names):
            below[element] = float(np.mean(own[:, k] < true[0, k]))
            ratio[element] = float(own[:, k].std() / before[:, k].std())
    fit = release.internal.diagnostics["fit"]
    about = {"case": name, "epsilon": epsilon, "table": number}
    return about | {"below": below, "ratio": ratio, "fit": fit}


def width(shape: str, epsilon: float, number: int) -> dict[str, Any]:
    """Return how wide the 95 % interval of the mean is, with privacy and without."""
    size, generator = 2000, np.random.default_rng([number, 16])
    schema = us.Schema.from_dict({"table": {"size": size}, "columns": {"x": SHARE}})
    if "width" not in _BUILT:
        _BUILT["width"] = Case(us.beta(schema), lambda g: {}, lambda g, theta: pd.DataFrame())
    table = pd.DataFrame({"x": generator.beta(*SHAPES[shape], size)})
    model = _BUILT["width"].model
    release = us.synthesize(model, table, us.Summary(epsilon=epsilon), seed=7000 + number)
    means = [draw["phi"] for draw in release.parameters[0]["draws"]]
    with_privacy = float(np.diff(np.quantile(means, [0.025, 0.975]))[0])
    about = {"case": f"width-{shape}", "epsilon": epsilon, "table": number}
    return about | {"private": with_privacy, "exact": _without_privacy(table["x"].to_numpy())}


def _without_privacy(x: np.ndarray) -> float:
    """Return the width of the posterior interval of the mean, on a grid around the estimate."""
    a, b, _, _ = scipy.stats.beta.fit(x, floc=0, fscale=1)
    mean, precision = a / (a + b), a + b
    spread = np.sqrt(mean * (1 - mean) / (1 + precision) / len(x))
    phi = np.clip(mean + spread * np.linspace(-8, 8, 401), 1e-9, 1 - 1e-9)
    lam = 0.1 + (precision - 0.1) * np.exp(8 / np.sqrt(len(x)) * np.linspace(-2, 2, 201))[:, None]
    constant = scipy.special.betaln(lam * phi, lam * (1 - phi))
    sums = lam * phi * np.log(x).sum() + lam * (1 - phi) * np.log1p(-x).sum()
    # The grid of λ is even in log(λ − 0.1), hence the last term.
    height = sums - len(x) * constant - 2.5 * np.log(lam) + np.log(lam - 0.1)
    below = np.cumsum(np.exp(height - height.max()).sum(axis=0))
    ends = np.interp(np.array([0.025, 0.975]) * below[-1], below, phi)
    return float(ends[1] - ends[0])


def summarise(lines: list[dict[str, Any]]) -> None:
    """Print a line for each parameter: what was counted, the band, and whether it is inside."""
    names = list(lines[0]["below"])
    left = [n for n in names if np.mean([line["ratio"][n] for line in lines]) > TO_PRIOR]
    print(f"{lines[0]['case']}, ε = {lines[0]['epsilon']:g}, {len(lines)} tables")
    tail = (1 - BAND) / max(len(names) - len(left), 1) / 2
    low, high = (int(scipy.stats.binom.ppf(p, len(lines), LEVEL)) for p in (tail, 1 - tail))
    margin = (1 - LEVEL) / 2
    for name in names:
        held = sum(margin <= line["below"][name] <= 1 - margin for line in lines)
        verdict = "pass" if low <= held <= high else "FAIL"
        told = "left to the prior" if name in left else f"band {low} to {high}: {verdict}"
        print(f"  {name:>16}: {held} ({held / len(lines):.3f}), {told}")
    samplers = [line["fit"]["sampler"] for line in lines]
    counts = {name: samplers.count(name) for name in sorted(set(samplers))}
    settled = sum(line["fit"]["settled"] for line in lines)
    print(f"  settled {settled}, sampler {counts}")


def summarise_widths(lines: list[dict[str, Any]]) -> None:
    """Print how many times as wide as without privacy intervals are, on average."""
    ratios = [line["private"] / line["exact"] for line in lines]
    error = np.std(ratios) / np.sqrt(len(ratios))
    about = f"{lines[0]['case']}, ε = {lines[0]['epsilon']:g}, {len(lines)} tables"
    print(f"{about}: {np.mean(ratios):.3f} ± {error:.3f} times as wide as without privacy")


def run(task: Callable[..., dict[str, Any]], name: str, asked: Any, epsilon: float) -> None:
    """Make the tables that the file does not hold yet, then print what all of them say."""
    path: Path = asked.file
    label = f"width-{name}" if task is width else name
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = [k for k in known if (k["case"], k["epsilon"]) == (label, epsilon)]
    todo = sorted(set(range(asked.tables)) - {line["table"] for line in lines})
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(task, name, epsilon, k) for k in todo]):
            lines.append(done.result())
            with path.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
    chosen = [line for line in lines if line["table"] < asked.tables]
    (summarise_widths if task is width else summarise)(chosen)


def main() -> None:
    """Calibrate a case at each ε."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--case", choices=[*CASES, "width"], required=True)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--epsilon", type=float, nargs="*", default=[1.0, 0.1])
    parser.add_argument("--file", type=Path, default=Path("calibration.jsonl"))
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for epsilon in asked.epsilon:
        if asked.case == "width":
            for shape in SHAPES:
                run(width, shape, asked, epsilon)
        else:
            run(replicate, asked.case, asked, epsilon)


if __name__ == "__main__":
    main()
