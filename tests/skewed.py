"""Two thousand skewed values between 0 and 1, and the Beta model for them."""

import numpy as np
import pandas as pd

import understudy as us

N = 2000
COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
SCHEMA = us.Schema.from_dict({"table": {"size": N}, "columns": {"x": COLUMN}})
MODEL = us.beta(SCHEMA)
VALUES = np.random.default_rng(3).beta(0.5, 3, N)
TABLE = pd.DataFrame({"x": VALUES})
DATA = MODEL.prepare({"x": VALUES})
NEAR = np.array([-1.8, 1.2])
"""A point of the unconstrained parameters that is close to the posterior."""
