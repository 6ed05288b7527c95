"""A small table of one skewed column, alone and beside a public group, and schemas for both."""

import numpy as np
import pandas as pd

import understudy as us

SIZE = 120
"""That of the survey, whose kernels then serve here as well."""
COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
GROUP = {"role": "public", "type": "categorical", "levels": ["a", "b"]}
ALONE = us.Schema.from_dict({"table": {"size": SIZE}, "columns": {"x": COLUMN}})
SIZELESS = us.Schema.from_dict({"columns": {"x": COLUMN}})
BETA = us.beta(ALONE)
"""One model, so that its kernels are compiled once."""
GROUPED = us.Schema.from_dict({"columns": {"x": COLUMN, "g": GROUP}})
VALUES = np.random.default_rng(0).beta(0.5, 3, SIZE)
TABLE = pd.DataFrame({"x": VALUES})
CODED = {"x": VALUES, "g": np.arange(SIZE) % 2}
