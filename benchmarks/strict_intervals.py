"""How often 95 % intervals from releases by `ph` and `anchored` hold what they should.

    python benchmarks/strict_intervals.py [--tables 100] [--epsilon 1]

Tables of 2000 records, add-remove. `ph`: mean, median and 90th percentile of the histogram's
population, whose distribution is fixed. `anchored`: parameters of a model from a normal prior
around a skewed distribution, a table, the mechanism itself and draws of θ, all by chance. Seeds are
fixed, so the tables are reproducible.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

import understudy as us
from understudy._jax import jnp
from understudy.domain.tables import Columns
from understudy.inference.counts import draws_of_counts, read_counts
from understudy.inference.moments import Population
from understudy.inference.stages import read_stages
from understudy.inference.tempered import draws_after_tempering
from understudy.models.base import Model
from understudy.support.randomness import Source

N = 2000
SHARE: dict[str, Any] = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
LEVEL: dict[str, Any] = {"role": "public", "type": "binary", "levels": ["a", "b"]}
NUMBER: dict[str, Any] = {"role": "public", "type": "continuous", "bounds": [-3, 3]}
TRUTHS = {
    "Beta(0.5, 3)": (0.5, 3.0),
    "Beta(20, 5)": (20.0, 5.0),
    "Beta(200, 600)": (200.0, 600.0),
    "even": (1.0, 1.0),
}
CENTRES = {
    "beta": [-1.5, 1.2],
    "y ~ g + x": [-0.7, 0.0, 0.0, 1.8],
    "y ~ g + x + w": [-0.7, 0.0, 0.0, 0.0, 1.8],
}
SPREAD = 0.5


def schema_of(**columns: dict[str, Any]) -> us.Schema:
    """Return a schema of a declared size."""
    return us.Schema.from_dict({"table": {"size": N}, "columns": columns})


def of_histograms(name: str, epsilon: float, tables: int) -> list[float]:
    """Return the share of tables whose intervals hold mean, median and 90th percentile."""
    schema, truth, hits = schema_of(y=SHARE), TRUTHS[name], np.zeros(3)
    for r in range(tables):
        generator = np.random.default_rng(r)
        table = pd.DataFrame({"y": generator.beta(*truth, N)})
        release = us.synthesize(schema, table, us.PerturbedHistogram(epsilon=epsilon), seed=r)
        counts, scale = read_counts(release.parameters[0])
        draws = answers(draws_of_counts(counts, scale, generator, count=400))
        edges = np.linspace(0, 1, len(counts) + 1)
        (true,) = answers(np.diff(scipy.stats.beta.cdf(edges, *truth))[None])
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        hits += (low <= true) & (true <= high)
    return list(hits / tables)


def answers(shares: np.ndarray) -> np.ndarray:
    """Return mean, median and 90th percentile of histograms, one in a row."""
    bins = shares.shape[1]
    edges, below = np.linspace(0, 1, bins + 1), np.cumsum(shares, axis=1)
    levels = [[np.interp(q, np.append(0, each), edges) for each in below] for q in (0.5, 0.9)]
    return np.array([shares @ ((np.arange(bins) + 0.5) / bins), *levels]).T


def model_of(name: str) -> Model:
    """Return a model whose prior is normal, so that truths from it are plausible."""
    if name == "beta":
        model = us.beta(schema_of(y=SHARE))
    else:
        names = [each for each in ("g", "x", "w") if each in name]
        public = {each: LEVEL if each == "g" else NUMBER for each in names}
        model = us.formula(name, family="beta", schema=schema_of(y=SHARE, **public))
    centre = np.array(CENTRES[name])
    return replace(model, normal_prior=(centre, SPREAD**2 * np.eye(len(centre))))


def predictors(model: Model, generator: np.random.Generator) -> Columns:
    """Return rows of the public columns."""
    made: dict[str, Callable[[], np.ndarray]] = {
        "g": lambda: generator.integers(2, size=N),
        "x": lambda: np.clip(generator.normal(size=N), -3, 3),
        "w": lambda: np.clip(generator.normal(size=N), -3, 3),
    }
    return {column.name: made[column.name]() for column in model.schema.public}


def of_climbs(name: str, epsilon: float, tables: int) -> list[float]:
    """Return the share of tables whose intervals hold each of the parameters."""
    model, hits = model_of(name), np.zeros(len(CENTRES[name]))
    for r in range(tables):
        source, generator = Source(r), np.random.default_rng(r)
        z = np.array(CENTRES[name]) + SPREAD * generator.normal(size=len(hits))
        public = predictors(model, generator)
        simulated = model.simulate(source.key(), model.constrain(jnp.asarray(z)), public, N)
        table = pd.DataFrame({**public, **simulated})
        if "g" in table:
            table["g"] = np.array(["a", "b"])[table["g"]]
        mechanism = us.Anchored(epsilon=epsilon)
        release = us.synthesize(model, table, mechanism, sampler="exact", seed=r)
        stages = read_stages(release.parameters[0], model)
        population = Population(model, public, N, bool(public))
        draws = draws_after_tempering(population, stages, source, count=1000)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        hits += (low <= z) & (z <= high)
    return list(hits / tables)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    for title, measure, names in (
        ("ph: mean, median, 90th percentile", of_histograms, tuple(TRUTHS)),
        ("anchored: each parameter", of_climbs, tuple(CENTRES)),
    ):
        print(f"| {title} | coverage at ε = {given.epsilon:g} |\n|---|---|")
        for name in names:
            covered = measure(name, given.epsilon, given.tables)
            print(f"| {name} | " + ", ".join(f"{each:.1%}" for each in covered) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
