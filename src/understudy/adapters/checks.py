"""What must hold for a user's model, whatever language it is written in.

The guarantee needs a prior that ignores the table and a record log-likelihood that ignores the
other records. Every adapter makes both true by construction: the prior is evaluated on a fixed
public table, and each record alone. A model that relied on anything else would silently mean
something different. So its own evaluation on public tables, drawn at random from the declared
domain, is compared with that construction, and the model is refused where the two differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns, decode
from understudy.errors import BadInput
from understudy.models.base import Data, Model, Theta

SIZES = (101, 103)
"""Sizes of the public example tables: whatever has these sizes in turn runs over the records."""
_THETAS = 8
_CLOSE = 1e-6
"""Special functions of two libraries differ by less; a dependence on other records by more."""
_SOME = np.array([50, 3, 77, 20, 99, 8])
"""A few records in another order, so that no running sum goes unseen."""
_SIMULATED = 200
_COARSE = frozenset({"float32", "float16", "bfloat16", "complex64"})

INDEPENDENT = (
    "the guarantee bounds what one record adds to the log-likelihood, so records must be "
    "exchangeable, that is conditionally independent given the parameters, which a Gaussian "
    "process or another joint distribution over records is not"
)


class Evaluation(NamedTuple):
    """What a model itself computes on a table, for several values of θ."""

    priors: dict[str, np.ndarray]
    """Log prior density of each parameter, shape (values of θ,)."""
    loglik: np.ndarray
    """Record log-likelihoods, shape (values of θ, records)."""


def example_table(schema: Schema, rows: int) -> Columns:
    """Return records drawn at random from the declared domain: public by construction."""
    generator = np.random.default_rng(rows)
    points = schema.public_points(97)
    return {name: generator.choice(values, rows) for name, values in points.items()}


def scored_alone(
    loglik: Callable[[Theta, Data], jax.Array], theta: Theta, data: Data, spare: Columns
) -> jax.Array:
    """Return the log-likelihood of each record, given to `loglik` as a table of its own.

    The gradient is zero instead of undefined for records where it is not finite. Those records are
    swapped for a public one, `spare`, before differentiation: masking afterwards would come too
    late, because the chain rule would still meet 0 · ∞ inside the user's function.
    """

    def alone(theta: Theta, data: Data) -> jax.Array:
        return jax.vmap(
            lambda record: loglik(theta, {name: x[None] for name, x in record.items()})[0]
        )(data)

    value = alone(jax.tree.map(jax.lax.stop_gradient, theta), data)
    finite = jnp.isfinite(value)
    safe = {
        name: jnp.where(jnp.reshape(finite, (-1,) + (1,) * (array.ndim - 1)), array, spare[name][0])
        for name, array in data.items()
    }
    return jnp.where(finite, alone(theta, safe), value)


def check(model: Model, evaluate: Callable[[Theta, Columns], Evaluation]) -> None:
    """Refuse a model that cannot be trusted, with a sentence that says what to change.

    `evaluate` runs the user's model afresh on a table, at values of θ along the first axis.
    """
    tables = [example_table(model.schema, rows) for rows in SIZES]
    thetas = jax.vmap(model.constrain)(model.starting_points(jax.random.key(0), _THETAS))
    _check_operations(model, tables[0])
    evaluations = [evaluate(thetas, table) for table in tables]
    for name, density in evaluations[0].priors.items():
        if not np.isfinite(density).all():
            raise BadInput(
                f"in the model '{model.title}' the prior of '{name}' is not a finite number "
                f"within its range: check the arguments of its distribution."
            )
    loglik = np.concatenate([each.loglik for each in evaluations], axis=1)
    if np.isnan(loglik).all(axis=0).any() or not np.isfinite(loglik).any():
        raise BadInput(
            f"in the model '{model.title}' records within the declared bounds have a likelihood "
            f"that is no number, whatever the parameters: check the arguments of its distributions "
            f"and that they reach as far as the bounds."
        )
    fault = _dependence(model, thetas, tables, evaluations)
    if fault is not None:
        again = evaluate(thetas, tables[0])
        if not _same(evaluations[0], again):
            raise BadInput(
                f"the model '{model.title}' gives two answers to the same table, so it keeps or "
                f"changes something between calls (a counter, random numbers, a list it adds to): "
                f"let it depend on its arguments alone."
            )
        raise BadInput(fault)
    _check_simulation(model, thetas)


def check_names(title: str, names: list[str], schema: Schema) -> None:
    """Refuse an unobserved variable that bears the name of a column or of the number of records.

    A column with the role 'ignore' is nowhere to be found after the table is read.
    """
    taken = {column.name for column in schema.columns if column.role is not Role.IGNORE}
    for name in names:
        if name == "n" or name in taken:
            raise BadInput(
                f"in the model '{title}' the parameter '{name}' has the name of "
                f"{'the number of records' if name == 'n' else 'a column'}: rename it."
            )


def _dependence(
    model: Model, thetas: Theta, tables: list[Columns], evaluations: list[Evaluation]
) -> str | None:
    """Return what is wrong if the prior depends on the table, or a record on other records."""
    first, second = (evaluation.priors for evaluation in evaluations)
    alone_prior = jax.jit(lambda: jax.lax.map(model.log_prior, thetas))()
    if any(not np.array_equal(first[name], second[name]) for name in first) or not np.allclose(
        sum(first.values()), alone_prior, rtol=_CLOSE, atol=_CLOSE
    ):
        return (
            f"the prior of the model '{model.title}' depends on the table; it must be fixed "
            f"before the table is seen: write its numbers down."
        )
    fault = (
        f"in the model '{model.title}' the likelihood of a record depends on other records (a "
        f"mean or a scale taken over the table, for example), but {INDEPENDENT}."
    )
    prepared = [model.prepare(table) for table in tables]
    few = {name: values[_SOME] for name, values in tables[0].items()}
    for name, values in model.prepare(few).items():
        if not np.allclose(values, prepared[0][name][_SOME], rtol=1e-12, atol=1e-12):
            return fault
    together = {name: jnp.concatenate([data[name] for data in prepared]) for name in prepared[0]}
    alone = jax.jit(lambda data: jax.lax.map(lambda t: model.record_loglik(t, data), thetas))
    in_tables = np.concatenate([evaluation.loglik for evaluation in evaluations], axis=1)
    if not np.allclose(in_tables, alone(together), rtol=_CLOSE, atol=_CLOSE, equal_nan=True):
        return fault
    return None


def _same(one: Evaluation, other: Evaluation) -> bool:
    return np.array_equal(one.loglik, other.loglik, equal_nan=True) and all(
        np.array_equal(one.priors[name], other.priors[name]) for name in one.priors
    )


def _check_operations(model: Model, table: Columns) -> None:
    """Refuse single precision, and calls of Python, anywhere on the way from θ to a log density."""

    def densities(z: jax.Array, data: Any) -> Any:
        theta = model.constrain(z)
        return model.log_prior(theta), model.record_loglik(theta, data)

    data = model.prepare(table)
    compiled = jax.make_jaxpr(densities)(jnp.zeros(model.dimension), data).jaxpr
    if _calls_python(compiled):
        raise BadInput(
            f"the model '{model.title}' calls Python while it runs (jax.debug.print or a "
            f"callback), which would be shown the confidential records: leave that out."
        )
    coarse = any(str(array.dtype) in _COARSE for array in data.values())
    if coarse or _loses_digits(compiled, set(compiled.invars)):
        raise BadInput(
            f"the model '{model.title}' computes in single precision, whose error grows with the "
            f"table: leave out float32, or write float64."
        )


def _calls_python(jaxpr: Any) -> bool:
    return bool(jaxpr.effects) or any(
        "callback" in equation.primitive.name or any(map(_calls_python, _inner(equation)))
        for equation in jaxpr.eqns
    )


def _loses_digits(jaxpr: Any, tainted: set[Any]) -> bool:
    """Whether anything that depends on θ or on the records is turned into a shorter number.

    A constant may be short: it was rounded before, and what it is combined with stays long.
    """
    for equation in jaxpr.eqns:
        variables = [None if hasattr(each, "val") else each for each in equation.invars]
        if not tainted.intersection(variables):
            continue
        tainted.update(equation.outvars)
        shortened = any(str(each.aval.dtype) in _COARSE for each in equation.outvars)
        if equation.primitive.name == "convert_element_type" and shortened:
            return True
        for inner in _inner(equation):
            pairs = zip(inner.invars, variables, strict=False)
            same = len(inner.invars) == len(variables)
            inside = {own for own, outer in pairs if outer in tainted} if same else {*inner.invars}
            if _loses_digits(inner, inside):
                return True
    return False


def _inner(equation: Any) -> list[Any]:
    """Return the programs inside an equation: bodies of loops, branches, called functions."""
    inside: list[Any] = []
    for value in equation.params.values():
        inside.extend(value if isinstance(value, list | tuple) else [value])
    return [getattr(each, "jaxpr", each) for each in inside if hasattr(each, "eqns")]


def _check_simulation(model: Model, thetas: Theta) -> None:
    """Simulate records from public predictors, and refuse what could not be written as a table.

    Far out a model may overflow, so that most values of θ must fail before it is refused.
    """
    table = example_table(model.schema, _SIMULATED)
    public = {column.name: table[column.name] for column in model.schema.public}
    faults = []
    for k in range(_THETAS):
        theta = {name: values[k] for name, values in thetas.items()}
        try:
            _check_simulated(model, model.simulate(jax.random.key(k), theta, public, _SIMULATED))
        except BadInput as fault:
            faults.append(fault)
    if len(faults) > _THETAS / 2:
        raise faults[0]


def _check_simulated(model: Model, simulated: Columns) -> None:
    """Refuse simulated columns of another length, or with values that are none of the column."""
    for column in model.schema.confidential:
        values = np.asarray(simulated[column.name])
        if values.shape != (_SIMULATED,):
            raise BadInput(
                f"the model '{model.title}' simulated '{column.name}' with the shape "
                f"{values.shape} for {_SIMULATED} records: let its size be that of the arguments."
            )
        try:
            # A model by itself leaves no value missing.
            legible = not decode({column.name: values}, model.schema).isna().to_numpy().any()
        except BadInput:
            legible = False
        if not legible:
            wrong = (
                "something that is not a number" if column.numeric else "codes beyond its levels"
            )
            raise BadInput(
                f"the model '{model.title}' simulated {wrong} for '{column.name}', which could "
                f"not be released: give the column a distribution over its declared values."
            )
