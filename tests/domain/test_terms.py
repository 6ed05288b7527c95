"""Plain terms are what formulaic makes of them, or nothing."""

import numpy as np
import pytest

from understudy.domain.column import Column
from understudy.domain.formulas import formula_frame, sides
from understudy.domain.schema import Schema
from understudy.domain.terms import PlainTerms

_SCHEMA = Schema.from_dict(
    {
        "columns": {
            "a": {"role": "public", "type": "continuous", "bounds": [-1, 3]},
            "n": {"role": "public", "type": "integer", "bounds": [2, 52]},
            "c": {"role": "public", "type": "categorical", "levels": ["x", "y", "T.y"]},
            "g": {"role": "public", "type": "binary", "levels": ["no", "yes"]},
        }
    }
)
_DECLARED: tuple[Column, ...] = _SCHEMA.columns


def _rows(count, seed):
    random = np.random.default_rng(seed)
    return {
        "a": random.uniform(-1, 3, count),
        "n": random.integers(2, 53, count).astype(float),
        "c": random.integers(3, size=count),
        "g": random.integers(2, size=count),
    }


def _terms(right):
    """Return the plain terms of a formula, and what formulaic makes of other rows."""
    first, second = _rows(200, 1), _rows(50, 2)
    _, side = sides(f"a ~ {right}")
    made = side.get_model_matrix(formula_frame(first, _DECLARED, 200), context=None)
    same = np.asarray(made, dtype=float)
    other = made.model_spec.get_model_matrix(formula_frame(second, _DECLARED, 50))
    terms = PlainTerms.of(list(made.columns), _DECLARED, first, same)
    return terms, second, np.asarray(other, dtype=float)


@pytest.mark.parametrize("right", ["1", "a + n", "g", "a * g", "0 + g", "a:n + g:n", "0 + g + a:g"])
def test_products_of_columns_are_those_of_formulaic_to_the_last_bit(right):
    terms, rows, expected = _terms(right)
    assert terms is not None
    np.testing.assert_array_equal(terms.matrix(rows, 50), expected)


@pytest.mark.parametrize("right", ["np.log(n)", "poly(a, 2)", "I(a * n)", "scale(a)"])
def test_terms_that_are_more_than_columns_are_left_to_formulaic(right):
    assert _terms(right)[0] is None


def test_a_level_that_is_named_like_another_column_of_the_design_is_not_mistaken():
    # 'c[T.y]' is the indicator of 'y' beside an intercept, and of 'T.y' where there is none.
    assert _terms("c")[0] is None


@pytest.mark.parametrize("right", ["1", "a + n", "g", "a * g", "0 + g", "a:n + g:n", "0 + g + a:g"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_terms_times_coefficients_are_those_of_the_matrix(right, shape):
    terms, rows, _ = _terms(right)
    # A level that is missing has no effect, whatever the kind.
    rows["g"][:5] = [-1, -2, -1, -3, -1]
    coefficients = np.random.default_rng(3).normal(size=(len(terms.factors), *shape))
    expected = np.tensordot(terms.matrix(rows, 50), coefficients, axes=1)
    np.testing.assert_allclose(terms.linear(rows, 50, coefficients), expected, rtol=1e-12)
