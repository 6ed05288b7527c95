"""Calibration as the command line does it: from files and texts."""

from functools import cache

import understudy as us
from understudy.adapters.loading import load_model


@cache
def _built(text, schema):
    """A model of a name, once for each schema: the kernels of equal models are compiled apart."""
    return load_model(text, schema=us.Schema.load(schema))


def settled(table, *, schema, model, **terms):
    if model is None:
        built = us.Schema.load(schema)
    elif ".py:" in model:
        built = load_model(model, schema=us.Schema.load(schema))
    else:
        built = _built(model, schema)
    return us.calibrate(built, table, **terms)
