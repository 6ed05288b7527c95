"""What a family is: the distribution of one outcome given its linear predictor.

Everything is defined on the outcome *scaled by its declared bounds*, u = (y − lower) / width, so
that priors and densities are the same whatever the units, and every density is normalised over the
declared domain: what a family simulates lies within the bounds, and its log-likelihood is the
density of what it simulates. A family is a function of the declared column that returns this:
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Column, Type
from understudy.errors import BadInput
from understudy.models.balance import Floats
from understudy.models.base import Data, Theta
from understudy.models.priors import Prior

COEFFICIENTS = Prior("normal", (0.0, 2.5))
GROUP_SD = Prior("half-normal", (1.0,))


@dataclass(frozen=True)
class Extra:
    """A parameter beside the coefficients, with its default prior."""

    name: str
    prior: Prior
    shape: tuple[int, ...] = ()
    above: float = 0.0
    """A positive parameter's prior must not reach below this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Family:
    """The distribution of one outcome, as pure functions that JAX can trace."""

    extras: tuple[Extra, ...] = ()
    prepare: Callable[[np.ndarray], Data]
    """What is computed once from the outcome's values."""
    loglik: Callable[[jax.Array, Theta, Data], jax.Array]
    """The record log-likelihood, from the linear predictor η, θ and what `prepare` returned."""
    simulate: Callable[[jax.Array, Any, Theta], np.ndarray]
    """Values of the outcome, from a key, η and θ."""
    quantile: Callable[[Floats, jax.Array, Theta], np.ndarray]
    """The inverse distribution function: the outcome at a number from 0 to 1, from it, η and θ."""
    predictors: tuple[int, ...] = ()
    """Shape of one record's η: a number, or one for each level but the first."""
    intercept: Prior | None = COEFFICIENTS
    """Default prior of the intercept; None where the family has something in its place."""
    coefficients: Prior = COEFFICIENTS
    group_sd: Prior = GROUP_SD
    """Default prior of the standard deviation of varying intercepts."""


def accept(column: Column, family: str, *types: Type) -> None:
    """Refuse an outcome of another type than the family describes."""
    if column.type not in types:
        wanted = " or ".join(types)
        raise BadInput(
            f"column '{column.name}' is declared {column.type}, but the family {family} needs a "
            f"{wanted} outcome: declare it so or choose another family."
        )


def scaled(values: np.ndarray, column: Column) -> jax.Array:
    """Return the outcome as u, from 0 at the lower bound to 1 at the upper."""
    return jnp.asarray((values - column.lower) / column.width)


def unscaled(u: jax.Array | np.ndarray, column: Column) -> np.ndarray:
    """Return outcomes from u, within the bounds whatever rounding does."""
    values = column.lower + column.width * np.asarray(u)
    return np.clip(values, column.lower, column.upper)
