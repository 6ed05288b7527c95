"""NumPyro functions and schemas that tests of several adapter modules share."""

import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import pytest

from understudy._jax import jnp
from understudy.adapters.numpyro import from_numpyro
from understudy.domain.schema import Schema
from understudy.errors import BadInput

SIZE = 500
SCHEMA = Schema.from_dict(
    {
        "table": {"size": SIZE},
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
        },
    }
)
TABLE = pd.DataFrame({"y": np.zeros(SIZE), "w": np.zeros(SIZE)})
WEIGHTS = np.zeros(SIZE)
SHORT = [0.5 * k for k in range(57)]
REAL = Schema.from_dict(
    {"columns": {"y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]}}}
)


def refusal(function):
    """Return the one sentence with which a function is refused."""
    with pytest.raises(BadInput) as fault:
        from_numpyro(function, schema=SCHEMA)
    told = str(fault.value)
    assert "\n" not in told
    assert told.endswith(".")
    return told


def wrong_return(y, n):
    return dist.Normal(0, 1).log_prob(y)


def centred(y, n, centre):
    centre = numpyro.sample("centre", dist.Normal(centre, 1))
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre, 1), obs=y)


def schema_with(**columns):
    return Schema.from_dict({"columns": {"y": SCHEMA.column("y").to_dict(), **columns}})


def table_likelihood(y, n):
    centre = numpyro.sample("centre", dist.Normal(0, 1))
    shift = 0.0 if y is None else jnp.mean(y)
    with numpyro.plate("records", n):
        numpyro.sample("y", dist.Normal(centre + shift, 1), obs=y)


def raises(y, n):
    raise KeyError("thing")
