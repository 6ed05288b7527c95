"""Effects against the formula of the joint model, written out record by record."""

import itertools

import numpy as np
import pytest
import scipy.special
import scipy.stats

from table_models import AGE, GENDER, WEEKS, schema
from understudy._jax import jax, jnp
from understudy.models.base import Parameter
from understudy.models.table.effects import Effects, log_standard_normals
from understudy.models.table.variables import variable

COLUMNS = schema(gender=GENDER, age=AGE, weeks=WEEKS).columns
GENDERS, AGES, NUMBERS = (variable(column) for column in COLUMNS)


def test_a_code_s_log_probability_is_the_sum_of_constant_main_effects_and_pairs():
    effects = Effects(NUMBERS, (GENDERS, AGES))
    generator = np.random.default_rng(0)
    theta = {p.name: jnp.asarray(generator.normal(size=p.shape)) for p in effects.parameters}
    assert list(theta) == ["weeks", "weeks by gender", "weeks by age", "weeks by gender:age"]
    constant, main, pair = NUMBERS.widths
    for gender, age, week in itertools.product(range(2), range(4), (0, 7, NUMBERS.count - 1)):
        own = GENDERS.features[gender], AGES.features[age]
        logits = NUMBERS.base + NUMBERS.directions @ (constant * np.asarray(theta["weeks"]))
        for name, features in zip(("gender", "age"), own, strict=True):
            slopes = features @ np.asarray(theta[f"weeks by {name}"]) * main
            logits = logits + NUMBERS.directions[:, : len(main)] @ slopes
        products = np.array([one * other for one in own[0] for other in own[1]])
        slopes = products @ np.asarray(theta["weeks by gender:age"]) * pair
        logits = logits + NUMBERS.directions[:, : len(pair)] @ slopes
        codes = {"gender": np.array([gender]), "age": np.array([age]), "weeks": np.array([week])}
        ours = effects.loglik(theta, effects.prepare(codes))[0]
        np.testing.assert_allclose(ours, scipy.special.log_softmax(logits)[week], rtol=1e-10)


@pytest.mark.parametrize("largest_grid", [1024, 0], ids=["by combination", "by record"])
def test_slopes_are_those_of_automatic_differentiation(largest_grid, monkeypatch):
    monkeypatch.setattr("understudy.models.table.effects.LARGEST_GRID", largest_grid)
    effects = Effects(NUMBERS, (GENDERS, AGES))
    generator = np.random.default_rng(1)
    theta = {p.name: jnp.asarray(generator.normal(size=p.shape)) for p in effects.parameters}
    counts = {"gender": 2, "age": AGES.count, "weeks": NUMBERS.count}
    data = effects.prepare({name: generator.integers(0, c, 20) for name, c in counts.items()})
    automatic = jax.jacfwd(lambda values: effects.loglik(values, data))(theta)
    expected = [np.reshape(automatic[p.name], (20, -1)) for p in effects.parameters]
    ours = effects.slope(theta, data)
    np.testing.assert_allclose(ours, np.concatenate(expected, axis=1), atol=1e-12)


def test_pairs_are_left_out_where_they_would_make_the_matrix_too_wide():
    many = [variable(schema(**{name: GENDER | {"levels": list("abcdefgh")}}).columns[0])
            for name in ("one", "other")]  # fmt: skip
    few, wide = Effects(NUMBERS, (GENDERS, AGES)), Effects(NUMBERS, (many[0], many[1]))
    assert [block.order for block in few.blocks] == [0, 1, 1, 2]
    assert [block.order for block in wide.blocks] == [0, 1, 1, 2]
    third = variable(schema(third=GENDER | {"levels": list("abcdefgh")}).columns[0])
    assert [block.order for block in Effects(NUMBERS, (*many, third)).blocks] == [0, 1, 1, 1]


def test_standard_normals_are_scipy_s():
    theta = {"a": jnp.asarray([0.3, -2.0]), "b": jnp.asarray(1.5), "not named": jnp.asarray(9.0)}
    named = [Parameter("a", None, (2,)), Parameter("b", None)]
    expected = scipy.stats.norm.logpdf([0.3, -2.0, 1.5]).sum()
    np.testing.assert_allclose(log_standard_normals(theta, named), expected, rtol=1e-12)
