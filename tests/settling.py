"""Calibration as the command line does it: from files and texts."""

import understudy as us
from understudy.adapters.loading import load_model


def settled(table, *, schema, model, family=None, priors=(), **terms):
    declared = us.Schema.load(schema)
    built = declared
    if model is not None:
        built = load_model(model, schema=declared, family=family, priors=priors)
    return us.calibrate(built, table, **terms)
