"""The coordinates that chains learn, against targets whose shape is known."""

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.samplers import frames
from understudy.samplers.frames import Frame, learned, plain

DIMENSION = 12


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.fixture
def covariance(generator):
    """Widths from 0.001 to 1000, in directions that are not those of the parameters."""
    directions = np.linalg.qr(generator.normal(size=(DIMENSION, DIMENSION)))[0]
    return (directions * 10.0 ** np.linspace(-6, 6, DIMENSION)) @ directions.T


def learned_from(points, covariance):
    """Return the frame learned from points and the slopes that a normal density has there."""
    return learned(plain(DIMENSION), points, -points @ np.linalg.inv(covariance))


def as_a_normal_looks(frame, covariance):
    """Return the covariance of a normal distribution in the frame's coordinates."""
    inverse = np.linalg.inv(np.asarray(frame.root))
    return inverse @ covariance @ inverse.T


def test_a_frame_takes_points_there_and_back(generator):
    frame = Frame(jnp.arange(3.0), jnp.asarray(generator.normal(size=(3, 3))))
    w = generator.normal(size=(5, 3))
    np.testing.assert_allclose(frame.within(frame.place(jnp.asarray(w))), w, atol=1e-12)


def test_few_draws_tell_the_shape_of_a_normal_target_exactly(generator):
    mixed = generator.normal(size=(DIMENSION, DIMENSION))
    covariance = mixed @ mixed.T
    points = generator.normal(size=(2 * DIMENSION, DIMENSION)) @ mixed.T
    assert np.linalg.cond(np.cov(points, rowvar=False) @ np.linalg.inv(covariance)) > 10
    seen = as_a_normal_looks(learned_from(points, covariance), covariance)
    np.testing.assert_allclose(seen, np.eye(DIMENSION), atol=0.01)


def test_draws_from_somewhere_else_tell_it_too(generator):
    """Slopes make up for it where a chain has not yet seen the whole width."""
    mixed = generator.normal(size=(DIMENSION, DIMENSION))
    points = generator.normal(size=(100, DIMENSION))
    covariance = mixed @ mixed.T
    assert np.linalg.cond(covariance) > 10_000
    widths = np.linalg.eigvalsh(as_a_normal_looks(learned_from(points, covariance), covariance))
    assert widths.max() / widths.min() < 3


def test_rounds_find_very_unequal_widths(generator, covariance):
    frame = plain(DIMENSION)
    for _ in range(3):
        z = generator.multivariate_normal(np.zeros(DIMENSION), covariance, size=40)
        slopes = -z @ np.linalg.inv(covariance) @ np.asarray(frame.root)
        frame = learned(frame, np.asarray(frame.within(jnp.asarray(z))), slopes)
    widths = np.linalg.eigvalsh(as_a_normal_looks(frame, covariance))
    assert widths.max() / widths.min() < 2


def test_what_did_not_move_keeps_its_unit(generator):
    points = generator.normal(size=(50, 3)) * [1.0, 0.0, 2.0]
    frame = learned(plain(3), points, -points / [1.0, 1.0, 4.0])
    root = np.asarray(frame.root)
    assert np.isfinite(root).all()
    np.testing.assert_allclose(root @ root.T, np.diag([1.0, 1.0, 4.0]), atol=0.01)


def test_slopes_that_are_not_finite_are_left_out(generator):
    points = generator.normal(size=(50, 2))
    slopes = -points
    slopes[::5] = np.nan
    assert np.isfinite(np.asarray(learned(plain(2), points, slopes).root)).all()
    for steep in (np.inf, 1e200):
        nothing = learned(plain(2), points, np.full_like(points, steep))
        np.testing.assert_array_equal(nothing.root, np.eye(2))


def test_a_shape_that_cannot_be_computed_leaves_the_frame_as_it_is(generator, monkeypatch):
    points = generator.normal(size=(50, 2))
    monkeypatch.setattr(frames, "_between", lambda draws, slopes: -np.eye(2))
    np.testing.assert_array_equal(learned(plain(2), points, -points).root, np.eye(2))
