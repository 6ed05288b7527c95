"""Functions that build PyMC models, and a schema, for tests of several modules."""

import pymc as pm

from understudy._jax import jax
from understudy.domain.schema import Schema

SIZE = 500
REAL = Schema.from_dict(
    {
        "table": {"size": SIZE},
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
        },
    }
)


def start(model, seed=0):
    return model.constrain(model.starting_points(jax.random.key(seed), 1)[0])


def built(*, prior=None, likelihood=None, more=None):
    """Return a function that builds a normal model, with one part of it replaced."""

    def model(y, w):
        with pm.Model() as found:
            centre = pm.Normal("centre", 0, 1) if prior is None else prior(y, w)
            if more is not None:
                more(y, w, centre)
            if likelihood is None:
                pm.Normal("y", centre, 1, observed=y)
            else:
                likelihood(y, w, centre)
        return found

    return model
