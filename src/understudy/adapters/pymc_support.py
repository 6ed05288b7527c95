"""The range of a PyMC parameter, as a support from which its transform to the real line follows.

PyMC knows the bijection itself; it is turned into JAX as it stands, so the unconstrained scale on
which the samplers move is PyMC's own. Only transforms onto all of the real space are let through: a
circular one, for example, would leave a posterior without an end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from numpyro.distributions import biject_to, constraints
from numpyro.distributions.transforms import Transform
from pymc.distributions import transforms as known
from pymc.logprob import transforms as basic
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import graph_inputs

from understudy._jax import jax
from understudy.adapters.pymc_jax import constant_shape, constants_for_shared, named, to_jax
from understudy.errors import BadInput

_ONTO_THE_LINE = (
    basic.LogTransform,
    basic.LogOddsTransform,
    basic.IntervalTransform,
    basic.SimplexTransform,
    known.LogExpM1,
    known.Ordered,
    known.CholeskyCovPacked,
    known.ZeroSumTransform,
)


@dataclass(eq=False, repr=False)
class _Range(constraints.Constraint):  # type: ignore[misc]
    """The values of a parameter that has a transform in PyMC."""

    bijection: _Bijection

    def tree_flatten(self) -> tuple[tuple[()], tuple[tuple[()], dict[str, Any]]]:
        return (), ((), {"bijection": self.bijection})


@dataclass(eq=False, repr=False)
class _Bijection(Transform):  # type: ignore[misc]
    """PyMC's transform of one parameter, from the real line to its natural scale."""

    backward: Callable[..., Any]
    forward: Callable[..., Any]
    log_jacobian: Callable[..., Any]
    unconstrained_shape: tuple[int, ...]

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.backward(x)[0]

    def _inverse(self, y: jax.Array) -> jax.Array:
        return self.forward(y)[0]

    def log_abs_det_jacobian(
        self, x: jax.Array, y: jax.Array, intermediates: None = None
    ) -> jax.Array:
        return self.log_jacobian(x)[0]

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.unconstrained_shape

    def tree_flatten(self) -> tuple[tuple[()], tuple[tuple[()], dict[str, Any]]]:
        return (), ((), dict(vars(self)))


biject_to.register(_Range)(lambda support: support.bijection)


def support_of(
    title: str, variable: Any, transform: Any, shape: tuple[int, ...], records: Collection[Any]
) -> constraints.Constraint:
    """Return the support of a free variable of a PyMC model from PyMC's transform of it.

    `records` are the variables that hold what a table holds; the transform may use none of them.
    """
    name = variable.name
    if transform is None:
        return constraints.real
    if not isinstance(transform, _ONTO_THE_LINE):
        raise BadInput(
            f"in the model '{title}' the parameter '{name}' has the transform "
            f"'{type(transform).__name__}', which does not reach the whole real line: leave it out."
        )
    inputs = variable.owner.inputs
    natural = named(name, variable.dtype, shape)
    forward = transform.forward(natural, *inputs)
    unconstrained_shape = constant_shape(forward)
    free = named(name, variable.dtype, unconstrained_shape)
    backward = transform.backward(free, *inputs)
    jacobian = transform.log_jac_det(free, *inputs)
    outputs = [forward, backward, jacobian]
    # A shared variable that holds a column must be seen before its value takes its place.
    used = [source for source in graph_inputs(outputs) if source in records]
    graphs = constants_for_shared(outputs)
    for source in [*used, *graph_inputs(graphs)]:
        if source not in (natural, free) and not isinstance(source, Constant):
            raise BadInput(
                f"in the model '{title}' the range of the parameter '{name}' depends on the table "
                f"or on another parameter: give it a fixed one."
            )
    return _Range(
        _Bijection(
            backward=to_jax([free], graphs[1:2]),
            forward=to_jax([natural], graphs[0:1]),
            log_jacobian=to_jax([free], graphs[2:3]),
            unconstrained_shape=unconstrained_shape,
        )
    )
