"""Directions: orthogonal, fair to all levels, and smooth where numbers are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.models.table.shapes import contrasts, polynomials, waves


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


@given(st.integers(3, 40))
def test_a_polynomial_of_a_degree_is_one(count):
    points = np.linspace(-1, 1, count)
    for degree, values in enumerate(polynomials(points, 2).T, start=1):
        assert np.allclose(np.polyval(np.polyfit(points, values, degree), points), values)


def test_waves_are_what_line_and_parabola_leave_of_a_smooth_function():
    points = np.linspace(-4, 4, 50)
    shapes, sizes = waves(points, 0.8, 20)
    plain = np.column_stack([np.ones(50), points, points**2])
    assert np.allclose(plain.T @ shapes, 0, atol=1e-6)
    assert (shapes[-1, :10] > 0.5).all()
    nearness = np.exp(-((points[:, None] - points) ** 2) / (2 * 0.8**2))
    left = np.eye(50) - plain @ np.linalg.pinv(plain)
    assert np.allclose((shapes * sizes**2) @ shapes.T, left @ nearness @ left, atol=1e-6)
