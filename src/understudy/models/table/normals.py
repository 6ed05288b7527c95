"""The prior of parameters that are standard normals."""

from __future__ import annotations

import math
from collections.abc import Iterable

from understudy._jax import jax, jnp
from understudy.models.base import Parameter, Theta


def log_standard_normals(theta: Theta, parameters: Iterable[Parameter]) -> jax.Array:
    """Return the log density of the named parameters, all of them independent."""
    flat = jnp.concatenate([jnp.ravel(theta[parameter.name]) for parameter in parameters])
    return -0.5 * jnp.sum(flat**2) - 0.5 * flat.size * math.log(2 * math.pi)
