"""A table of salaries, coded as its schema declares it, and a θ for models of it."""

import numpy as np

from understudy._jax import jax
from understudy.domain.schema import Schema

PAY = {"role": "confidential", "type": "continuous", "bounds": [1000, 5000]}
COLUMNS = {
    "pay": PAY,
    "sex": {"role": "public", "type": "categorical", "levels": ["F", "M"]},
    "age": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
    "weeks": {"role": "public", "type": "integer", "bounds": [2, 52]},
    "rate": {"role": "public", "type": "continuous", "bounds": [-1, 3]},
    "name": {"role": "ignore"},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})
N = 60


def table(rows=N, seed=1):
    generator = np.random.default_rng(seed)
    return {
        "pay": 1000 + 4000 * generator.beta(2, 5, rows),
        "sex": generator.integers(2, size=rows),
        "age": generator.integers(3, size=rows),
        "weeks": generator.integers(2, 53, size=rows).astype(float),
        "rate": generator.uniform(-1, 3, rows),
    }


def theta_of(model, seed=0):
    z = model.starting_points(jax.random.key(seed), 1)[0]
    return z, model.constrain(z)
