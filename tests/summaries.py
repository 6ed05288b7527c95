"""Small models and populations whose sums can be worked out by other means."""

import numpy as np

import understudy as us
from understudy.inference.cells import Cells
from understudy.inference.contribution import TableContribution
from understudy.inference.measurement import LAPLACE, Measurement, Noise
from understudy.inference.moments import Population
from understudy.models.record.declared import as_declared

CONFIDENTIAL = {"role": "confidential"}
SHARE = CONFIDENTIAL | {"type": "continuous", "bounds": [0, 1]}
PUBLIC = {"role": "public", "type": "categorical", "levels": ["a", "b"]}


def schema_of(size=2000, **columns):
    return us.Schema.from_dict({"table": {"size": size}, "columns": columns})


BETA = us.beta(schema_of(x=SHARE))
ANSWER = CONFIDENTIAL | {"type": "binary", "levels": ["no", "yes"]}
LOGISTIC = us.formula("y ~ 1", family="bernoulli", schema=schema_of(y=ANSWER, g=PUBLIC))


def outcomes():
    """Return a model for each type of outcome, with columns at the edges of the domain."""
    counts = CONFIDENTIAL | {"type": "count", "bounds": [0, 50]}
    kinds = CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"]}
    gaps = SHARE | {"missing": "model"}
    g = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    edges = np.array([0.0, 1.0, 5e-324, 1 - 2.0**-53, 0.5, 1e-12, 0.0, 1.0])
    few = np.array([0.0, 50.0, 1.0, 49.0, 25.0, 0.0, 50.0, 7.0])
    return {
        "beta": (BETA, {"x": edges}),
        "beta regression": (
            us.formula("x ~ g", family="beta", schema=schema_of(x=SHARE, g=PUBLIC)),
            {"x": edges, "g": g},
        ),
        "lognormal": (
            us.formula("x ~ g", family="lognormal", schema=schema_of(x=SHARE, g=PUBLIC)),
            {"x": edges, "g": g},
        ),
        "gaussian": (
            us.formula("x ~ g", family="gaussian", schema=schema_of(x=SHARE, g=PUBLIC)),
            {"x": edges, "g": g},
        ),
        "poisson": (
            us.formula("x ~ g", family="poisson", schema=schema_of(x=counts, g=PUBLIC)),
            {"x": few, "g": g},
        ),
        "categorical": (
            us.formula("x ~ g", family="categorical", schema=schema_of(x=kinds, g=PUBLIC)),
            {"x": np.arange(8) % 3, "g": g},
        ),
        "missing": (
            as_declared(us.beta(schema_of(x=gaps))),
            {"x": np.where(np.arange(8) % 3 == 0, np.nan, edges)},
        ),
    }


OUTCOMES = outcomes()


def answers(population_size=300, *, noisy, scale, distribution=LAPLACE):
    """Return a population of yes and no whose predictors are known, and a table of answers."""
    public = {"g": np.arange(population_size) % 2}
    population = Population(LOGISTIC, public, population_size, True)
    cells, noise = (Cells(LOGISTIC.schema.confidential[0]),), Noise(scale, distribution)
    if distribution == LAPLACE:
        table = TableContribution(LOGISTIC, cells)
        return population, Measurement(table, np.asarray(noisy), noise, 1 / scale)
    table = TableContribution(LOGISTIC, cells, norm=2)
    return population, Measurement(table, np.asarray(noisy), noise, None, 1 / (2 * scale**2))
