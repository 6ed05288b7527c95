"""PyTensor graphs as JAX functions and as NumPy functions.

Both take what they compute on as arguments: no value of a column ever becomes a constant of a
compiled program. `pymc.sampling.jax` has the same for JAX, but importing it changes how many
devices JAX sees.
"""

from __future__ import annotations

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
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.variable import TensorConstant

from understudy.adapters.pymc_special import join

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
    join(wide)
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
