"""What an earlier release knew of θ, as the prior of this one.

Its draws of θ are public, so a prior made from them costs nothing: the guarantee of either release
is what it was. What it assumes is that θ has not changed in between, and that the two tables are of
different people, or tell of θ independently. Where θ moves from period to period, an anchor alone
is the better start: it says where to measure, and nothing about the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from understudy._jax import jnp
from understudy.errors import BadInput
from understudy.models.base import Model

_PER_PARAMETER = 10
"""Draws for each parameter, without which their covariance says more than they do."""


def carried(model: Model, draws: Sequence[Mapping[str, Any]]) -> Model:
    """Return the model with the normal distribution of draws, unconstrained, as its prior.

    Args:
        model: The model of a row.
        draws: Of θ by name, each a value of the model.
    """
    # The same draw twice tells no more than once.
    different = len({repr(dict(draw)) for draw in draws})
    if different < _PER_PARAMETER * model.dimension:
        raise BadInput(
            f"the earlier release has {different} draws, and {_PER_PARAMETER} are needed for each "
            f"of the {model.dimension} parameters to carry over what it knew: use the anchor alone."
        )
    positions = np.array(
        [
            np.asarray(model.unconstrain({name: jnp.asarray(v) for name, v in theta.items()}))
            for theta in draws
        ]
    )
    covariance = np.atleast_2d(np.cov(positions, rowvar=False))
    if not (np.isfinite(covariance).all() and np.linalg.eigvalsh(covariance)[0] > 0):
        raise BadInput("the draws of the earlier release do not vary, so they are no prior.")
    return replace(model, normal_prior=(positions.mean(axis=0), covariance))
