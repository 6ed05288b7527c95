"""Quadrature against SciPy, and against posteriors that are known."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

from small_models import BETA as MODEL
from small_models import normal_mean, two_components, uniform_width
from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.formula import formula
from understudy.samplers.quadrature import quadrature, quadratures
from understudy.score import Row

N = 2000
VALUES = np.random.default_rng(11).beta(0.5, 3, N)
DATA = MODEL.prepare({"x": VALUES})


def test_without_weights_and_bound_the_target_is_the_ordinary_posterior():
    """The Beta posterior on a grid of (φ, λ), by SciPy alone."""
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(math.inf))
    exact = quadrature(MODEL, DATA, row)
    theta = jax.vmap(MODEL.constrain)(jnp.asarray(exact.nodes))
    phi, precision = np.meshgrid(
        np.linspace(0.1, 0.18, 200), np.linspace(2.8, 4.6, 200), indexing="ij"
    )
    a, b = precision * phi, precision * (1 - phi)
    log_posterior = (
        (a - 1) * np.log(VALUES).sum()
        + (b - 1) * np.log1p(-VALUES).sum()
        - N * scipy.special.betaln(a, b)
        + scipy.stats.pareto.logpdf(precision, 1.5, scale=0.1)
    )
    mass = np.exp(log_posterior - log_posterior.max())
    mass /= mass.sum()
    for name, grid in (("phi", phi), ("lambda", precision)):
        values = np.asarray(theta[name])
        mean = (mass * grid).sum()
        sd = np.sqrt((mass * (grid - mean) ** 2).sum())
        assert exact.mean(values) == pytest.approx(mean, abs=1e-4 * sd)
        assert exact.sd(values) == pytest.approx(sd, rel=1e-4)


def test_quadrature_leaves_no_mass_at_its_edge_and_draws_from_its_density():
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(0.5))
    exact = quadrature(MODEL, DATA, row)
    assert exact.edge_mass < 1e-10
    assert exact.mass.sum() == pytest.approx(1.0)
    draws = exact.draws(np.random.default_rng(0), 20_000)
    for k in range(2):
        mean, sd = exact.mean(exact.nodes[:, k]), exact.sd(exact.nodes[:, k])
        assert abs(draws[:, k].mean() - mean) < 5 * sd / math.sqrt(20_000)
        assert abs(draws[:, k].std() / sd - 1) < 0.03


def test_quadrature_with_few_records_recovers_a_wide_posterior():
    """With no information the posterior is the prior, in which log(λ / 0.1) has the mean 2/3."""
    data = MODEL.prepare({"x": np.array([0.5])})
    row = Row(jnp.zeros(1), jnp.zeros(1), jnp.asarray(1.0))
    exact = quadrature(MODEL, data, row)
    theta = jax.vmap(MODEL.constrain)(jnp.asarray(exact.nodes))
    assert exact.mean(np.asarray(theta["phi"])) == pytest.approx(0.5, abs=1e-6)
    excess = np.log(np.asarray(theta["lambda"]) / 0.1)
    assert exact.mean(excess) == pytest.approx(2 / 3, abs=1e-3)


def test_records_that_rule_a_region_out_are_not_dropped():
    """A density of zero is information: θ lies elsewhere."""
    model = uniform_width()
    row = Row(jnp.ones(3), jnp.zeros(3), jnp.asarray(math.inf))
    exact = quadrature(model, model.prepare({"y": np.array([9.0, 15.0, 19.5])}), row)
    widths = np.exp(exact.nodes[:, 0])
    assert exact.mean((widths < 19.5).astype(float)) == 0.0


def test_a_single_parameter_has_the_posterior_that_is_known():
    model = normal_mean(2.0)
    values = np.random.default_rng(0).normal(3, 1, 30)
    row = Row(jnp.ones(30), jnp.zeros(30), jnp.asarray(math.inf))
    exact = quadrature(model, model.prepare({"y": values}), row)
    precision = 30 + 1 / 4
    assert exact.mean(exact.nodes[:, 0]) == pytest.approx(values.sum() / precision, abs=1e-9)
    assert exact.sd(exact.nodes[:, 0]) == pytest.approx(precision**-0.5, rel=1e-9)


def test_two_peaks_are_both_kept():
    """Components that can trade places have two peaks of the same height."""
    model = two_components()
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.normal(-4, 1, 60), generator.normal(4, 1, 60)])
    row = Row(jnp.ones(120), jnp.zeros(120), jnp.asarray(math.inf))
    exact = quadrature(model, model.prepare({"y": values}), row)
    assert exact.mean((exact.nodes[:, 0] > 0).astype(float)) == pytest.approx(0.5, abs=1e-9)
    assert exact.mean(np.abs(exact.nodes[:, 0])) == pytest.approx(4.0, abs=0.3)


def test_many_targets_of_one_table_are_those_one_by_one():
    """Of ever heavier prior, whose posteriors are known."""
    model = normal_mean(2.0)
    values = np.random.default_rng(0).normal(3, 1, 30)
    weights = np.array([1.0, 0.5, 0.1])
    rows = Row(jnp.ones((3, 30)) * weights[:, None], jnp.zeros((3, 30)), jnp.full(3, math.inf))
    for weight, exact in zip(
        weights, quadratures(model, model.prepare({"y": values}), rows, points=129), strict=True
    ):
        precision = 30 * weight + 1 / 4
        mean = exact.mean(exact.nodes[:, 0])
        assert mean == pytest.approx(weight * values.sum() / precision, abs=1e-9)


def test_quadrature_refuses_more_than_two_parameters():
    schema = Schema.from_dict(
        {
            "columns": {
                "x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
                "w": {"role": "public", "type": "continuous", "bounds": [0, 1]},
            }
        }
    )
    with pytest.raises(BadInput, match="one or two parameters"):
        quadrature(formula("x ~ w", family="beta", schema=schema), {}, None)
