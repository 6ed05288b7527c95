"""Special functions of PyTensor that come without a JAX form.

The densities of censored and truncated normal variables, and of PyMC's exponentially modified
normal, need `erfcx`, for which PyTensor would turn to TensorFlow Probability. They choose between
formulas that are only good on one side each, and the gradient of what is not chosen would be
0 · ∞. So operations on single numbers are joined, and differentiated forwards, where what is not
chosen falls away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jax.custom_derivatives import zero_from_primal
from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax.dispatch import jax_funcify
from pytensor.scalar.basic import Composite
from pytensor.scalar.math import Erfcx
from pytensor.tensor.rewriting.elemwise import FusionOptimizer

from understudy._jax import jax, jnp

_FAR = 10.0
"""From here on the asymptotic series has all digits."""
_ENDLESS = -26.6
"""Below about this, the function is larger than any number."""
_SERIES = tuple((-1.0) ** k * math.prod(range(1, 2 * k, 2)) for k in reversed(range(13)))
"""Coefficients of √π x erfcx(x) in powers of 1 / (2x²), down to the zeroth."""


def erfcx(x: jax.Array) -> jax.Array:
    """Return exp(x²) erfc(x), the scaled complementary error function.

    Each branch is given arguments of its own only, so that no gradient is 0 · ∞; where the value is
    infinite the gradient is zero.
    """
    near, far = jnp.clip(x, _ENDLESS, _FAR), jnp.maximum(x, _FAR)
    inverse = 0.5 / far / far
    series = jnp.polyval(jnp.array(_SERIES), inverse)
    value = jnp.where(
        x < _FAR,
        jnp.exp(near**2) * jax.scipy.special.erfc(near),
        series / (far * math.sqrt(math.pi)),
    )
    return jnp.where(x < _ENDLESS, jnp.inf, value)


def join(graph: FunctionGraph) -> None:
    """Join operations on single numbers in a graph that needs them differentiated forwards."""
    nodes = [getattr(node.op, "scalar_op", None) for node in graph.apply_nodes]
    if any(isinstance(op, Erfcx) for op in nodes):
        FusionOptimizer().rewrite(graph)


def forwards(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of single numbers that is differentiated forwards in any case."""
    wrapped = jax.custom_jvp(function)

    @wrapped.defjvp
    def _(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        out = wrapped(*values)
        total = [zero_from_primal(each) for each in out]
        for place, value in enumerate(values):
            if _varies(value):
                still = [zero_from_primal(each) for each in values]
                along = (*still[:place], jnp.ones_like(value), *still[place + 1 :])
                slopes = jax.jvp(function, values, along)[1]
                total = [
                    t + slope * tangents[place] if _varies(slope) else t
                    for t, slope in zip(total, slopes, strict=True)
                ]
        return out, tuple(total)

    return wrapped


def _varies(value: Any) -> bool:
    """Whether a value is a number with a slope, rather than whole or a truth value."""
    return bool(jnp.issubdtype(jnp.result_type(value), jnp.floating))


@jax_funcify.register(Composite)  # type: ignore[untyped-decorator]
def _joined(op: Any, node: Any, **kwargs: Any) -> Callable[..., Any]:
    joined = jnp.vectorize(forwards(jax_funcify(op.fgraph)))
    return joined if len(node.outputs) > 1 else lambda *values: joined(*values)[0]


@jax_funcify.register(Erfcx)  # type: ignore[untyped-decorator]
def _erfcx(op: Any, **kwargs: Any) -> Callable[..., jax.Array]:
    return erfcx
