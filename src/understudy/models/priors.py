"""Prior distributions that a formula's parameters can have: a short list, all of them proper.

A prior is written `normal(0, 2.5)` in a text and `("normal", 0, 2.5)` in Python, and is
stored in a release as `["normal", 0.0, 2.5]`: a name and numbers, so that reading it back executes
nothing. Each distribution belongs to one kind of parameter and says where it lies.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, cast

import numpyro.distributions as dist
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.errors import BadInput, nearest

_SMALLEST = 1e-300
_SMALLEST_SHARE = 1e-15


class ParameterKind(StrEnum):
    """Where a parameter lies."""

    REAL = "real"
    POSITIVE = "positive"
    SHARE = "between 0 and 1"
    SHARES = "shares that add up to 1"


class _Entry(NamedTuple):
    kind: ParameterKind
    arguments: tuple[str, ...]
    build: Callable[..., dist.Distribution]


def _half_student(degrees: float, scale: float) -> dist.Distribution:
    return dist.FoldedDistribution(dist.StudentT(degrees, 0.0, scale))


_KNOWN: dict[str, _Entry] = {
    "normal": _Entry(ParameterKind.REAL, ("mean", "sd"), dist.Normal),
    "student": _Entry(ParameterKind.REAL, ("degrees", "centre", "scale"), dist.StudentT),
    "half-normal": _Entry(ParameterKind.POSITIVE, ("scale",), dist.HalfNormal),
    "half-student": _Entry(ParameterKind.POSITIVE, ("degrees", "scale"), _half_student),
    "exponential": _Entry(ParameterKind.POSITIVE, ("rate",), dist.Exponential),
    "gamma": _Entry(ParameterKind.POSITIVE, ("shape", "rate"), dist.Gamma),
    "lognormal": _Entry(ParameterKind.POSITIVE, ("mean", "sd"), dist.LogNormal),
    "pareto": _Entry(ParameterKind.POSITIVE, ("start", "shape"), dist.Pareto),
    "beta": _Entry(ParameterKind.SHARE, ("a", "b"), dist.Beta),
    "dirichlet": _Entry(ParameterKind.SHARES, ("concentration",), dist.Dirichlet),
}
_SUPPORTS = {
    ParameterKind.REAL: constraints.real,
    ParameterKind.POSITIVE: constraints.positive,
    ParameterKind.SHARE: constraints.unit_interval,
    ParameterKind.SHARES: constraints.simplex,
}
_ANYWHERE = frozenset({"mean", "centre"})
"""Arguments that may be any number; all others must be positive."""


@dataclass(frozen=True)
class Prior:
    """A distribution by name, with its arguments in the order of `signature`."""

    name: str
    arguments: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.name not in _KNOWN:
            raise BadInput(
                f"there is no prior '{self.name}'{nearest(self.name, _KNOWN)}: choose one of "
                f"{', '.join(_KNOWN)}."
            )
        names = _KNOWN[self.name].arguments
        if len(self.arguments) != len(names):
            raise BadInput(
                f"the prior {self.name} takes {len(names)} number{'s' * (len(names) > 1)} "
                f"({', '.join(names)}), not {len(self.arguments)}."
            )
        for name, value in zip(names, self.arguments, strict=True):
            _check_written(f"the prior {self.name}", value)
            if not math.isfinite(value) or (value <= 0 and name not in _ANYWHERE):
                wanted = "a number" if name in _ANYWHERE else "a positive number"
                raise BadInput(f"in the prior {self}, {name} must be {wanted}.")

    @property
    def kind(self) -> ParameterKind:
        """The kind of parameter that it can describe."""
        return _KNOWN[self.name].kind

    @property
    def start(self) -> float:
        """The smallest value that it allows, of a positive parameter."""
        return self.arguments[0] if self.name == "pareto" else 0.0

    @property
    def support(self) -> constraints.Constraint:
        """Where its density is not zero."""
        return constraints.greater_than(self.start) if self.start else _SUPPORTS[self.kind]

    def log_density(self, value: jax.Array) -> jax.Array:
        """Return the log density at a value, or the sum of those of an array's elements."""
        arguments: tuple[Any, ...] = self.arguments
        match self.kind:
            # A value that was rounded to the edge of its support would make the gradient infinite.
            case ParameterKind.POSITIVE:
                value = jnp.maximum(value, _SMALLEST)
            case ParameterKind.SHARE:
                value = jnp.clip(value, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
            case ParameterKind.SHARES:
                value = jnp.clip(value, _SMALLEST_SHARE, 1.0)
                arguments = (jnp.full(value.shape, self.arguments[0]),)
        return jnp.sum(_KNOWN[self.name].build(*arguments).log_prob(value))

    def to_list(self) -> list[Any]:
        """Return the form in which a release stores it."""
        return [self.name, *self.arguments]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{value:g}' for value in self.arguments)})"


def read_prior_options(texts: Iterable[str]) -> dict[str, Prior]:
    """Return priors by parameter from texts such as `Intercept=normal(0, 1)`."""
    priors: dict[str, Prior] = {}
    for text in texts:
        parts = re.fullmatch(r"\s*(.+?)\s*=\s*([^\s=()]+)\s*\(([^()]*)\)\s*", text)
        if parts is None:
            raise BadInput(
                f"'{text}' is not a prior: write NAME=DISTRIBUTION(numbers), for example "
                f"Intercept=normal(0, 1)."
            )
        parameter, name, numbers = parts.groups()
        try:
            arguments = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            raise BadInput(f"'{text}' is not a prior: its arguments must be numbers.") from None
        prior = Prior(name, arguments)
        if parameter in priors:
            raise BadInput(f"two priors were given for '{parameter}': leave out one of them.")
        priors[parameter] = prior
    return priors


def read_priors(given: object) -> dict[str, Prior]:
    """Return priors by parameter from a mapping to `(name, *numbers)`, which may be anything."""
    if not isinstance(given, Mapping):
        raise BadInput("priors must be a table of parameters and their distributions.")
    priors: dict[str, Prior] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise BadInput("priors must be given by the names of parameters.")
        priors[name] = _prior(name, value)
    return priors


def _prior(parameter: str, value: object) -> Prior:
    if isinstance(value, Prior):
        return value
    if isinstance(value, list | tuple):
        for each in value:
            _check_written(f"the prior of '{parameter}'", each)
    match value:
        case [str(name), *arguments] if all(map(_is_number, arguments)):
            return Prior(name, tuple(float(cast("float", number)) for number in arguments))
    raise BadInput(
        f"the prior of '{parameter}' must be a distribution's name and its numbers, such as "
        f"('normal', 0, 1)."
    )


def _check_written(where: str, value: object) -> None:
    """Refuse a number that a library computed, such as the mean of a column; text is none.

    One of NumPy's types is a kind of float, so that only the type itself can tell.
    """
    if hasattr(value, "__array__"):
        raise BadInput(
            f"{where} has a number that was computed, of the type '{type(value).__name__}': a "
            f"prior must not come from the table, so write its numbers down as plain ones."
        )


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold; True and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max
