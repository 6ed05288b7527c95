"""Units: when a person has several rows, their log-likelihoods are added before the clip.

    f(x₁, ..., xₖ) = f(x₁) + ... + f(xₖ)

So a record is from here on a person with all their rows: the bound, the weights and the guarantee
are per person. Censoring each row by itself would bound a person with k rows k times less.

Every unit is laid out with as many places as the schema declares rows, the empty ones filled with a
copy of its first row that counts for nothing. A unit then takes the same shape, and its score is
the same number, in whichever table it stands (`samplers/exact.py` relies on that).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Theta, extended, without

_PRESENT = "row of the unit present"


def by_unit(model: Model) -> Model:
    """Return the model whose records are units, where the schema declares one."""
    unit, width = model.schema.unit, model.schema.rows_per_unit
    if unit is None or width is None:
        return model
    name = unit.name

    def prepare(columns: Columns) -> Data:
        places, present = laid_out(columns[name], width)
        rows = model.prepare(columns)
        units = {key: jnp.asarray(np.asarray(values)[places]) for key, values in rows.items()}
        return extended(units, _PRESENT, present)

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        present = data[_PRESENT]
        # A design without columns has no size from which -1 could be inferred.
        rows = {
            key: jnp.reshape(values, (present.size, *values.shape[2:]))
            for key, values in without(data, _PRESENT).items()
        }
        each = jnp.reshape(model.record_loglik(theta, rows), present.shape)
        return jnp.sum(jnp.where(present, each, 0.0), axis=1)

    return replace(
        model,
        prepare=prepare,
        record_loglik=record_loglik,
        record_slope=None,
        rows_per_record=width,
    )


def laid_out(units: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the row in each place of each unit, shape (units, width), and which are its own."""
    _, codes, counts = np.unique(units, return_inverse=True, return_counts=True)
    if counts.max(initial=0) > width:
        raise BadInput(f"a unit has more than {width} rows, the most that the schema declares.")
    order = np.argsort(codes, kind="stable")
    first = np.cumsum(counts) - counts
    present = np.arange(width) < counts[:, None]
    places = np.where(present, first[:, None] + np.arange(width), first[:, None])
    return order[places], present
