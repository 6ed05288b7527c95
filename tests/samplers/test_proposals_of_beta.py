"""Proposals are as wide as what they are made for."""

import math

import numpy as np
import pytest

from skewed import DATA, MODEL, NEAR, N
from understudy._jax import jax, jnp
from understudy.samplers.proposals import (
    posterior_proposal,
    prior_proposal,
)
from understudy.samplers.quadrature import quadrature
from understudy.score import Row
from understudy.support.randomness import Source


def test_the_prior_is_covered():
    proposal = prior_proposal(MODEL)
    z = proposal.draw(np.random.default_rng(0), 50_000)
    log_prior = np.asarray(jax.vmap(MODEL.log_prior_unconstrained)(jnp.asarray(z)))
    weights = np.exp(log_prior - proposal.log_density(z))
    weights /= weights.sum()
    assert 1 / np.sum(weights**2) > 5000
    phi = np.asarray(jax.vmap(MODEL.constrain)(jnp.asarray(z))["phi"])
    assert weights @ phi == pytest.approx(0.5, abs=0.02)


def test_a_proposal_is_as_wide_as_the_posterior_of_that_size():
    proposal = posterior_proposal(MODEL, NEAR, N, {}, Source(1))
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(math.inf))
    exact = quadrature(MODEL, DATA, row)
    widths = np.sqrt(np.diag(proposal.root @ proposal.root.T))
    np.testing.assert_allclose(widths, 1.3 * exact.sd(exact.nodes), rtol=0.2)
