"""Columns that rules are tested on, and some records of them."""

import itertools

import numpy as np

from understudy.domain.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "a": {"role": "confidential", "type": "integer", "bounds": [-5, 5]},
            "b": {"role": "confidential", "type": "integer", "bounds": [-5, 5]},
            "c": {"role": "public", "type": "count", "bounds": [0, 3]},
            "x": {"role": "confidential", "type": "continuous", "bounds": [0, 1000]},
            "job": {"role": "public", "type": "categorical", "levels": ["no", "part", "full"]},
            "ill": {"role": "confidential", "type": "binary"},
            "hours worked": {"role": "confidential", "type": "integer", "bounds": [0, 99]},
            "pid": {"role": "ignore"},
        }
    }
)


COLUMNS = {column.name: column for column in SCHEMA.columns}


RECORDS = list(itertools.product([-5, -1, 0, 2, 5], [-3, 0, 2], [0, 3], ["no", "full"]))


CODED = {
    "a": np.array([r[0] for r in RECORDS], dtype=float),
    "b": np.array([r[1] for r in RECORDS], dtype=float),
    "c": np.array([r[2] for r in RECORDS], dtype=float),
    "job": np.array([["no", "part", "full"].index(r[3]) for r in RECORDS]),
}
