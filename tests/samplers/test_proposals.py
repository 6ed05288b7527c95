"""Proposals against SciPy's multivariate t, and the information of a record that is known."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from small_models import BETA
from table_models import AGE, GENDER, PAY, schema
from understudy._jax import jax, jnp
from understudy.models.table.joint import joint
from understudy.samplers.proposals import (
    Proposal,
    fisher_information,
    posterior_proposal,
    prior_proposal,
)
from understudy.support.randomness import Source

COVARIANCE = np.array([[2.0, 0.6], [0.6, 0.5]])
CENTRE = np.array([1.0, -3.0])
PROPOSAL = Proposal.with_covariance(CENTRE, COVARIANCE)


def test_the_density_is_that_of_a_multivariate_t_up_to_a_constant():
    points = np.random.default_rng(0).normal(size=(50, 2)) * 4
    expected = scipy.stats.multivariate_t(CENTRE, COVARIANCE, df=5).logpdf(points)
    difference = PROPOSAL.log_density(points) - expected
    np.testing.assert_allclose(difference, difference[0], atol=1e-10)


def test_draws_follow_the_density():
    draws = PROPOSAL.draw(np.random.default_rng(0), 20_000)
    for k in range(2):
        marginal = scipy.stats.t(5, CENTRE[k], np.sqrt(COVARIANCE[k, k]))
        assert scipy.stats.kstest(draws[:, k], marginal.cdf).pvalue > 0.001
    along = draws @ np.array([1.0, -2.0])
    scale = np.sqrt(np.array([1.0, -2.0]) @ COVARIANCE @ np.array([1.0, -2.0]))
    assert scipy.stats.kstest(along, scipy.stats.t(5, 7.0, scale).cdf).pvalue > 0.001


def test_the_information_of_a_record_is_that_of_the_beta_distribution():
    """By trigamma functions, carried over to the unconstrained scale."""
    z = np.array([0.3, 1.0])
    theta = BETA.constrain(jnp.asarray(z))
    phi, precision = float(theta["phi"]), float(theta["lambda"])
    a, b = precision * phi, precision * (1 - phi)
    total = scipy.special.polygamma(1, precision)
    of_shapes = np.diag(scipy.special.polygamma(1, [a, b])) - total
    shapes = np.array([[precision, phi], [-precision, 1 - phi]])
    slopes = jax.jacobian(lambda z: jnp.stack([*BETA.constrain(z).values()]))(jnp.asarray(z))
    transform = shapes @ np.asarray(slopes)
    expected = transform.T @ of_shapes @ transform
    ours = fisher_information(BETA, z, {}, Source(0))
    # Of 4096 simulated records; five times the error that is to be expected.
    np.testing.assert_allclose(ours, expected, atol=5 * expected.max() * np.sqrt(2 / 4096))


def test_more_records_make_a_narrower_proposal():
    z = np.array([0.3, 1.0])
    widths = [
        np.sqrt(np.diag(each.root @ each.root.T))
        for size in (100.0, 400.0)
        for each in [posterior_proposal(BETA, z, size, {}, Source(0))]
    ]
    assert widths[0] / widths[1] == pytest.approx([2.0, 2.0], rel=0.05)


def test_few_parameters_have_a_proposal_that_covers_the_prior():
    """Nine in ten of the prior's draws lie within two of the proposal's widths."""
    proposal = prior_proposal(BETA)
    generator = np.random.default_rng(0)
    theta = {
        "phi": jnp.asarray(generator.uniform(size=1000)),
        "lambda": jnp.asarray(0.1 / generator.uniform(size=1000) ** (1 / 1.5)),
    }
    z = np.asarray(jax.vmap(BETA.unconstrain)(theta))
    within = np.linalg.norm(np.linalg.solve(proposal.root, (z - proposal.centre).T), axis=0)
    assert np.mean(within < 2) > 0.9


def test_the_first_anchor_is_the_middle_of_the_prior():
    """Shapes are standard normal; importance sampling among so many ended two units off."""
    model = joint(schema(pay=PAY, gender=GENDER, age=AGE))
    proposal = prior_proposal(model)
    assert model.dimension > 20
    names = [name for each in model.parameters for name in [each.name] * int(np.prod(each.shape))]
    shapes = np.isin(names, ["pay", "gender", "age"])
    np.testing.assert_allclose(proposal.centre[shapes], 0.0, atol=0.2)
    widths = np.sqrt(np.diag(proposal.root @ proposal.root.T))[shapes] / 1.5
    np.testing.assert_allclose(widths, 1.0, atol=0.2)
