"""Whole-number scores against SciPy's densities, and picks in proportion to them."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from small_models import BETA, normal_mean
from understudy._jax import jax, jnp
from understudy.errors import BadInput
from understudy.samplers.exact import (
    UNIT,
    Selection,
    chunked_loglik,
    exact_draw,
    summed_scores,
)
from understudy.samplers.proposals import Proposal
from understudy.score import Row
from understudy.support.randomness import Source

Z = np.random.default_rng(1).normal(size=(70, 2))


def table(rows=2500):
    return np.random.default_rng(0).beta(0.5, 3, rows)


def row(rows, bound=0.7, alpha=0.3):
    return Row(jnp.full(rows, alpha), jnp.full(rows, 0.1), jnp.asarray(bound))


def test_sums_are_those_of_scipy_s_densities_clipped_and_weighted():
    """Over more than one chunk of records, and more than one block of candidates."""
    values = table()
    theta = jax.vmap(BETA.constrain)(jnp.asarray(Z))
    phi, precision = (np.asarray(theta[name])[:, None] for name in ("phi", "lambda"))
    loglik = scipy.stats.beta.logpdf(values, precision * phi, precision * (1 - phi))
    expected = np.clip(0.3 * (loglik - 0.1), -0.7, 0.7).sum(axis=1)
    sums = summed_scores(BETA, Z, BETA.prepare({"x": values}), row(2500))
    assert sums.dtype == np.int64
    # Each record is rounded to the nearest of the whole multiples.
    assert np.abs(sums / UNIT - expected).max() < 2500 / UNIT


def test_a_record_adds_the_same_whole_number_to_every_table():
    values = table()
    with_it, without_it = (
        summed_scores(BETA, Z, BETA.prepare({"x": part}), row(len(part)))
        for part in (values, np.delete(values, 1234))
    )
    alone = summed_scores(BETA, Z, BETA.prepare({"x": values[1234:1235]}), row(1))
    assert np.array_equal(with_it - without_it, alone)
    assert np.abs(alone).max() <= np.floor(0.7 * UNIT)


def test_log_likelihoods_in_chunks_are_those_of_the_table():
    data = BETA.prepare({"x": table()})
    together = BETA.record_loglik(BETA.constrain(jnp.asarray(Z[0])), data)
    np.testing.assert_allclose(chunked_loglik(BETA, Z[0], data), together, rtol=1e-12, atol=1e-12)


def test_probabilities_are_in_proportion_to_the_exponential_of_the_score():
    scores = np.array([3, 0, -2, 3]) * UNIT
    selection = Selection(np.zeros((4, 1)), scores, 0)
    assert repr(selection) == "<Selection: confidential, stays inside>"
    expected = scipy.special.softmax([3.0, 0.0, -2.0, 3.0])
    np.testing.assert_allclose(selection.probabilities, expected, rtol=1e-12)
    assert selection.effective_candidates == pytest.approx(1 / np.sum(expected**2))
    drawn = selection.resampled(np.random.default_rng(0), 10)
    assert drawn.shape == (10, 1)


def test_candidates_carry_the_posterior_that_is_known():
    """A normal mean: what is picked among many candidates has its mean and its width."""
    model = normal_mean(2.0)
    values = np.random.default_rng(0).normal(3, 1, 30)
    nothing = Row(jnp.ones(30), jnp.zeros(30), jnp.asarray(1e6))
    proposal = Proposal(np.array([2.0]), np.array([[1.0]]))
    data = model.prepare({"y": values})
    selection = exact_draw(model, data, nothing, proposal, Source(0), candidates=20_000)
    precision = 30 + 1 / 4
    mean = selection.probabilities @ selection.candidates[:, 0]
    spread = selection.probabilities @ (selection.candidates[:, 0] - mean) ** 2
    assert mean == pytest.approx(values.sum() / precision, abs=0.02)
    assert spread == pytest.approx(1 / precision, rel=0.1)
    assert 0 <= selection.picked < 20_000


def test_candidates_without_any_prior_are_refused():
    nowhere = Proposal(np.array([np.nan]), np.eye(1))
    data = normal_mean().prepare({"y": np.zeros(2)})
    with pytest.raises(BadInput, match="use more candidates"):
        exact_draw(normal_mean(), data, row(2), nowhere, Source(0), candidates=8)
