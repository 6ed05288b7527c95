"""PyTensor graphs as JAX functions and as NumPy functions.

Both take what they compute on as arguments: no value of a column ever becomes a constant of a
compiled program. `pymc.sampling.jax` has the same for JAX, but importing it changes how many
devices JAX sees.

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

import pymc.logprob.utils
import pytensor.tensor as pt
from pymc.pytensorf import compile as compile_pymc
from pymc.pytensorf import constant_fold, find_rng_nodes, replace_rng_nodes, reseed_rngs
from pytensor.compile.mode import JAX, Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import in2out
from pytensor.graph.traversal import graph_inputs
from pytensor.link.jax.dispatch import jax_funcify
from pytensor.scalar.basic import Composite
from pytensor.scalar.math import Erfcx
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.rewriting.elemwise import FusionOptimizer
from pytensor.tensor.variable import TensorConstant

from understudy._jax import jax, jnp

_REWRITES = (
    JAX.including("local_check_parameter_to_ninf_switch")
    # A rewrite of sparse products would look for a BLAS library, and warn of finding none.
    .excluding("local_usmm")
    .optimizer
)
_UNCHECKED = in2out(pymc.logprob.utils.local_remove_check_parameter)
_PLAIN = Mode(linker="py", optimizer="fast_compile")
"""NumPy, operation by operation: nothing is compiled, and nothing needs a compiler."""
_VECTORISED = _PLAIN.excluding("canonicalize")
"""The same without joining operations, because a joined one runs in a loop over records."""
_INTEGERS = ("int8", "int16", "int32")
_FLOATS = ("float16", "float32")
_FAR = 10.0
"""From here on the asymptotic series has all digits."""
_ENDLESS = -26.6
"""Below about this, the function is larger than any number."""
_SERIES = tuple((-1.0) ** k * math.prod(range(1, 2 * k, 2)) for k in reversed(range(13)))
"""Coefficients of √π x erfcx(x) in powers of 1 / (2x²), down to the zeroth."""


def named(name: str, dtype: str, shape: tuple[int | None, ...]) -> Any:
    """Return a fresh variable; `pt.tensor` would take some names for a type."""
    return pt.TensorType(dtype, shape=shape)(name)


def to_jax(inputs: list[Any], outputs: list[Any]) -> Callable[..., tuple[Any, ...]]:
    """Return a JAX function of the inputs; invalid arguments of a density give −∞, as in PyMC."""
    constant = widened(constants_for_shared(outputs))
    graph = FunctionGraph(inputs=inputs, outputs=constant, clone=True)
    _REWRITES.rewrite(graph)
    _UNCHECKED.rewrite(graph)
    # The rewrites bring short constants of their own, and JAX would follow them.
    wide = FunctionGraph(inputs=graph.inputs, outputs=widened(graph.outputs), clone=True)
    # Operations on single numbers are joined where they are to be differentiated forwards.
    operations = [getattr(node.op, "scalar_op", None) for node in wide.apply_nodes]
    if any(isinstance(operation, Erfcx) for operation in operations):
        FusionOptimizer().rewrite(wide)
    return jax_funcify(wide)


def to_numpy(inputs: list[Any], outputs: list[Any]) -> Callable[..., list[Any]]:
    """Return a NumPy function of the inputs."""
    return compile_pymc(inputs, widened(outputs), mode=_PLAIN, on_unused_input="ignore")


def to_draws(inputs: list[Any], outputs: list[Any]) -> Callable[..., list[Any]]:
    """Return a function that draws the outputs given the inputs; its first argument is the seed."""
    fresh = replace_rng_nodes(outputs)
    generators = find_rng_nodes(fresh)
    function = compile_pymc(inputs, fresh, mode=_VECTORISED, on_unused_input="ignore")

    def draw(seed: list[int], *values: Any) -> list[Any]:
        reseed_rngs(generators, seed)
        return function(*values)

    return draw


def widened(outputs: list[Any]) -> list[Any]:
    """Return the graphs with all numbers in double length.

    PyTensor keeps a constant such as 3 in eight bits, and its logarithm in single precision.
    """
    short = {
        source: pt.constant(source.data, dtype="int64" if source.dtype in _INTEGERS else "float64")
        for source in graph_inputs(outputs)
        if isinstance(source, TensorConstant) and source.dtype in (*_INTEGERS, *_FLOATS)
    }
    return clone_replace(outputs, replace=short, rebuild_strict=False)


def constants_for_shared(outputs: list[Any]) -> list[Any]:
    """Replace what is left of shared variables, such as lengths of dimensions, by its value."""
    shared = {
        source: pt.constant(source.get_value(), dtype=source.type.dtype)
        for source in graph_inputs(outputs)
        if isinstance(source, SharedVariable) and not isinstance(source.type, RandomType)
    }
    return clone_replace(outputs, replace=shared) if shared else list(outputs)


def constant_shape(variable: Any) -> tuple[int, ...]:
    """Return the shape of a graph that depends on no input; raise if it does depend on one."""
    if variable.ndim == 0:
        return ()
    (shape,) = constant_fold(constants_for_shared([variable.shape]))
    return tuple(int(length) for length in shape)


def erfcx(x: jax.Array) -> jax.Array:
    """Return exp(x²) erfc(x), the scaled complementary error function.

    Each branch is given arguments of its own only, so that no gradient is 0 · ∞; where the value is
    infinite the gradient is zero. That of JAX has the same values, but its gradient loses its
    digits far to the right and is infinite far to the left.
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


def forwards(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of single numbers that is differentiated forwards in any case."""
    wrapped = jax.custom_jvp(function)

    @wrapped.defjvp
    def _(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        out = wrapped(*values)
        total = [jax.custom_derivatives.zero_from_primal(each) for each in out]
        for place, value in enumerate(values):
            if _varies(value):
                still = [jax.custom_derivatives.zero_from_primal(each) for each in values]
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
