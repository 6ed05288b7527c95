"""A small schema of mixed columns for models of all columns, and what is asked of each of them."""

import itertools
from functools import partial

import numpy as np
from scipy.optimize import minimize

from understudy import Schema
from understudy._jax import jax, jnp
from understudy.score import Row, log_target

GENDER = {"role": "confidential", "type": "categorical", "levels": ["F", "M"]}
AGE = {"role": "confidential", "type": "integer", "bounds": [25, 28]}
PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 50]}
WEEKS = {"role": "confidential", "type": "integer", "bounds": [0, 52]}

CODES = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
KINDS = {
    "levels": GENDER,
    "levels in an order": GENDER | {"levels": ["low", "middle", "high", "top"], "ordered": True},
    "levels with codes": GENDER | CODES,
    "few whole numbers": AGE,
    "few whole numbers that may be missing": AGE | {"missing": "model"},
    "few whole numbers with codes": AGE | CODES,
    "whole numbers one by one": WEEKS,
    "whole numbers one by one with codes": WEEKS | CODES,
    "whole numbers": WEEKS | {"bounds": [-20, 980]},
    "whole numbers with spikes": WEEKS | {"bounds": [0, 980], "spikes": [0, 5, 6, 490, 980]},
    "whole numbers on a grid": WEEKS | {"bounds": [0, 980], "grid": 10, "spikes": [40, 99]} | CODES,
    "numbers": PAY,
    "numbers that may be missing": PAY | {"missing": "model"},
    "numbers with spikes": PAY | {"spikes": [0, 12.5, 50]} | CODES,
    "numbers on a grid": PAY | {"bounds": [0, 0.9], "grid": 0.1, "spikes": [0.25]},
    "few days": PAY | {"type": "date", "bounds": ["2020-02-01", "2020-02-10"]},
    "days": PAY | {"type": "date", "bounds": ["2020-01-01", "2020-06-30"]} | CODES,
    "many days": PAY | {"type": "date", "bounds": ["1950-01-01", "2020-12-31"]},
}
"""A column of each kind, as a schema declares it."""


def schema(**columns):
    return Schema.from_dict({"table": {"size": 500}, "columns": columns})


def theta_of(model, seed=0, scale=1.0):
    key = jax.random.key(seed)
    return model.constrain(scale * jax.random.normal(key, (model.dimension,)))


def with_wide_pay(model, seed, scale=1.5):
    """Return parameters under which columns hang together, and pay is all over its domain."""
    theta = theta_of(model, seed, scale)
    return theta | {"pay": 0.05 * theta["pay"]}


def within_intervals(variable, places=3):
    """Return points of a column of numbers, and which share of its domain each stands for."""
    shares = np.repeat(np.diff(variable.edges) / variable.column.width, places) / places
    codes = np.repeat(np.arange(variable.inner), places)
    return variable.write(np.random.default_rng(9), codes)[variable.name], shares


def every_record(**values):
    """Return columns that hold every combination of the given values."""
    combined = np.array(list(itertools.product(*values.values())))
    return dict(zip(values, combined.T, strict=True)) | {
        name: combined[:, place].astype(np.int64)
        for place, (name, column) in enumerate(values.items())
        if isinstance(column, range)
    }


def domain_of(variable):
    """Return every value that a column of levels or whole numbers may have, missing ones too."""
    column = variable.column
    if not column.numeric:
        return {column.name: np.arange(-column.kinds, len(column.levels))}
    values = np.append(np.arange(column.lower, column.upper + 1), np.full(column.kinds, np.nan))
    if column.beside is None:
        return {column.name: values}
    kinds = np.append(np.full(len(values) - column.kinds, -1), np.arange(column.kinds))
    return {column.name: values, column.beside: kinds}


def crossed(*tables):
    """Return a table of all combinations of one row of each of the tables."""
    rows = [range(len(next(iter(table.values())))) for table in tables]
    places = np.array(list(itertools.product(*rows))).T
    return {
        name: values[place]
        for table, place in zip(tables, places, strict=True)
        for name, values in table.items()
    }


def loglik(model, theta, columns):
    return np.asarray(jax.jit(model.record_loglik)(theta, model.prepare(columns)))


def gradient(model, theta, columns):
    """Return the gradient of each record's log-likelihood, by unconstrained coordinate."""
    data, z = model.prepare(columns), model.unconstrain(theta)
    slopes = jax.jit(jax.jacfwd(lambda z: model.record_loglik(model.constrain(z), data)))
    return np.asarray(slopes(z))


def fitted(model, columns):
    """Return θ at the peak of the posterior without privacy."""
    data = model.prepare(columns)
    records = len(next(iter(columns.values())))
    row = Row(jnp.ones(records), jnp.zeros(records), jnp.asarray(np.inf))
    return model.constrain(peak(model, data, row, np.zeros(model.dimension)))


def peak(model, data, row, start):
    """Return where a climb of the target from a starting point ends."""
    options = {"maxiter": 2000}
    below = partial(_below, model)
    climb = minimize(below, start, (data, row), jac=True, method="L-BFGS-B", options=options)
    return jnp.asarray(climb.x)


@partial(jax.jit, static_argnames="model")
def _below(model, z, data, row):
    """Return minus the target with its slope, compiled once however often a test climbs."""
    return jax.value_and_grad(lambda z: -log_target(model, z, data, row))(z)


def middles(count, upper):
    """Return the middles of so many equal parts of [0, upper], for quadrature of a density of u."""
    return (np.arange(count) + 0.5) * upper / count


def cells(columns, *names):
    """Return the cell of each row of a table of gender, age and pay, pay in three parts."""
    parts = {
        "gender": (columns["gender"], 2),
        "age": (columns["age"] - 25, 4),
        "pay": (np.searchsorted([5.0, 20.0], columns["pay"]), 3),
    }
    own = [np.asarray(parts[name][0], dtype=np.int64) for name in names]
    return np.ravel_multi_index(own, [parts[name][1] for name in names])


def check_balanced_rows(model, theta, factor, *, tables=60, rows=480):
    """Compare balanced tables of gender, age and pay with many independent rows, and with chance.

    On average over tables the shares of the cells of one, two and three columns must be those of
    the model; in each table they must vary less than the shares of independent rows do, whose
    variance is multiplied by `factor`.
    """
    generator = np.random.default_rng(6)
    many = model.simulate(jax.random.key(8), theta, {}, 400_000)
    balanced = [model.balanced(generator, theta, {}, rows) for _ in range(tables)]
    columns = ("gender", "age", "pay")
    for names in itertools.chain(*(itertools.combinations(columns, k) for k in (1, 2, 3))):
        true = cells(many, *names)
        count = int(true.max()) + 1
        expected = np.bincount(true, minlength=count) / len(true)
        times = [np.bincount(cells(table, *names), minlength=count) for table in balanced]
        shares = np.array(times) / rows
        chance = expected * (1 - expected)
        spread = np.sqrt(shares.var(axis=0, ddof=1) / tables + chance / len(true))
        usual = expected > 0.001
        assert (np.abs(shares.mean(axis=0) - expected) < 4 * spread)[usual].all(), names
        assert np.mean((shares - expected) ** 2) < factor * chance.mean() / rows, names
