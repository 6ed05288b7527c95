"""Columns as codes: what is written is read back, and every value within a code is as likely."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from table_models import GENDER, schema
from understudy.domain.schema import Column, Role, Type
from understudy.models.table.variables import (
    INTERVALS,
    contrasts,
    draw_codes,
    polynomials,
    variable,
    waves,
)


def continuous(lower=0.0, upper=100.0):
    return Column("pay", Role.CONFIDENTIAL, Type.CONTINUOUS, bounds=(lower, upper))


def whole(lower, upper):
    return Column("age", Role.CONFIDENTIAL, Type.INTEGER, bounds=(lower, upper))


def levels(count):
    names = tuple(map(str, range(count)))
    return Column("region", Role.CONFIDENTIAL, Type.CATEGORICAL, levels=names)


def may_be_missing(column):
    object.__setattr__(column, "missing", "model")
    return column


FIELDS = ("name", "role", "type", "bounds", "levels")
COLUMNS = [continuous(), whole(25, 34), whole(0, 1000), levels(2), levels(5)]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{c.type} {c.bounds or c.levels}")
def test_what_is_written_is_read_back_and_lies_in_the_domain(column):
    each = variable(column)
    codes = np.repeat(np.arange(each.count), 50)
    values = each.write(np.random.default_rng(0), codes)
    assert np.array_equal(each.read({column.name: values}), codes)
    if column.numeric:
        assert values.min() >= column.lower
        assert values.max() <= column.upper
    if column.whole:
        assert np.array_equal(values, np.rint(values))


@pytest.mark.parametrize("column", COLUMNS[:3], ids=lambda c: f"{c.type} {c.bounds}")
def test_values_within_a_code_are_equally_likely_and_their_bounds_are_read(column):
    each = variable(column)
    ends = np.array([column.lower, column.upper])
    assert each.read({column.name: ends}).tolist() == [0, each.count - 1]
    if column.whole:
        every = np.arange(column.lower, column.upper + 1)
        held = np.bincount(each.read({column.name: every}), minlength=each.count)
        assert np.allclose(held * np.exp(each.unit), 1)
    else:
        assert each.count == INTERVALS
        assert np.allclose(np.diff(each.edges) / column.width * np.exp(each.unit), 1)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{c.type} {c.bounds or c.levels}")
def test_a_missing_value_has_a_code_of_its_own(column):
    plain = variable(column)
    each = variable(may_be_missing(Column(**{k: getattr(column, k) for k in FIELDS})))
    assert each.count == plain.count + 1
    absent = np.nan if column.numeric else -1
    written = each.write(np.random.default_rng(0), np.array([0, each.count - 1]))
    assert np.array_equal(written[1:], [absent], equal_nan=True)
    assert each.read({column.name: written}).tolist() == [0, each.count - 1]
    assert len(each.directions) == len(each.features) == len(each.unit) == each.count


def test_codes_are_drawn_as_often_as_their_log_probabilities_say():
    shares = np.array([[0.5, 0.3, 0.2], [0.0, 0.1, 0.9]])
    rows = np.repeat([1, 0], 50_000)
    with np.errstate(divide="ignore"):
        # Up to a constant, which each row may have of its own.
        logs = np.log(shares) + np.array([[3.0], [-7.0]])
    codes = draw_codes(np.random.default_rng(0), logs, rows)
    for row in range(2):
        observed = np.bincount(codes[rows == row], minlength=3) / 50_000
        assert np.abs(observed - shares[row]).max() < 5 * np.sqrt(0.25 / 50_000)


@given(st.integers(2, 30))
def test_contrasts_are_orthogonal_and_treat_all_levels_alike(count):
    found = contrasts(count)
    product = found.T @ found
    assert np.allclose(product, product[0, 0] * np.eye(count - 1))
    assert np.allclose(found.sum(axis=0), 0)
    assert np.allclose((found**2).sum(axis=1), 1)


@given(st.integers(5, 60))
def test_polynomials_are_orthogonal_with_mean_square_one(count):
    found = polynomials(np.linspace(-3, 5, count) ** 3, 4)
    assert np.allclose(found.T @ found / count, np.eye(4), atol=1e-8)
    assert np.allclose(found.mean(axis=0), 0, atol=1e-8)


def test_waves_are_what_line_and_parabola_leave_of_a_smooth_function():
    points = np.linspace(-4, 4, 50)
    shapes, sizes = waves(points, 0.8, 20)
    plain = np.column_stack([np.ones(50), points, points**2])
    assert np.allclose(plain.T @ shapes, 0, atol=1e-6)
    assert (shapes[-1, :10] > 0.5).all()
    nearness = np.exp(-((points[:, None] - points) ** 2) / (2 * 0.8**2))
    left = np.eye(50) - plain @ np.linalg.pinv(plain)
    assert np.allclose((shapes * sizes**2) @ shapes.T, left @ nearness @ left, atol=1e-6)


def test_too_many_parameters_are_refused():
    many = GENDER | {"levels": list(range(40))}
    with pytest.raises(us.BadInput, match=r"parameters, more than 1,000: declare fewer levels"):
        us.joint(schema(one=many, other=many))


def test_names_that_make_two_parameters_one_are_refused():
    with pytest.raises(us.BadInput, match="two parameters of the joint model 'a by b'"):
        us.joint(schema(**{"b": GENDER, "a": GENDER, "a by b": GENDER}))


@pytest.mark.parametrize("build", [us.joint, us.mixture], ids=["joint", "mixture"])
def test_columns_and_levels_are_counted_before_anything_is_built(build):
    deep = GENDER | {"levels": [f"level {k}" for k in range(20_000)]}
    wide = {f"column {k}": GENDER for k in range(1001)}
    begun = time.monotonic()
    with pytest.raises(us.BadInput, match=r"too many levels .* 'deep' alone 20,000"):
        build(schema(deep=deep))
    with pytest.raises(us.BadInput, match=r"has at least .* parameters, more than 1,000"):
        build(schema(**wide))
    # The contrasts among 20,000 levels alone would be 3 GB.
    assert time.monotonic() - begun < 5
