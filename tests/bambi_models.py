"""Schemas, frames and starting points for tests of Bambi models."""

from understudy._jax import jax
from understudy.domain.schema import Schema

PUBLIC = {
    "group": {"role": "public", "type": "categorical", "levels": ["b", "a", "c"]},
    "state": {"role": "public", "type": "categorical", "levels": [f"s{k}" for k in range(12)]},
    "w": {"role": "public", "type": "continuous", "bounds": [0, 10]},
}
OUTCOMES = {
    "y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]},
    "u": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
    "k": {"role": "confidential", "type": "binary"},
    "answer": {"role": "confidential", "type": "binary", "levels": ["yes", "no"]},
    "kind": {"role": "confidential", "type": "categorical", "levels": ["x", "q", "z"]},
    "count": {"role": "confidential", "type": "count", "bounds": [0, 40]},
}
OTHER = {"role": "ignore"}


def schema_of(outcome, **more):
    ignored = {name: OTHER for name in OUTCOMES if name != outcome}
    return Schema.from_dict({"columns": {**PUBLIC, outcome: OUTCOMES[outcome], **ignored, **more}})


def start(model, seed=0, scale=0.3):
    return model.constrain(scale * model.starting_points(jax.random.key(seed), 1)[0])
