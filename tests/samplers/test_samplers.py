"""NUTS against quadrature, and quadrature against a second implementation."""

import math

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
import scipy.special
import scipy.stats

from understudy._jax import jax, jnp
from understudy.adapters.numpyro import from_numpyro
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms import CensorUw, CensorW, Unweighted, Weighted, WeightedE
from understudy.mechanisms.fitting import DRAWS, choose_draws, first_row
from understudy.models.beta import beta
from understudy.models.formula import formula
from understudy.samplers import nuts as nuts_module
from understudy.samplers.diagnostics import (
    DIVERGENT,
    Convergence,
    public_points,
    renumbered_sizes,
    rhat_and_ess,
)
from understudy.samplers.lipschitz import reach
from understudy.samplers.nuts import Fit, nuts
from understudy.samplers.quadrature import quadrature
from understudy.score import Row
from understudy.support.randomness import Source

UNIT = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)
MODEL = beta(UNIT)
N = 2000
VALUES = np.random.default_rng(11).beta(0.5, 3, N)
DATA = MODEL.prepare({"x": VALUES})
SMALLEST_ESS = 4000

CASES = [
    Unweighted(),
    Weighted(),
    *(
        mechanism(epsilon=epsilon)
        for mechanism in (WeightedE, CensorUw, CensorW)
        for epsilon in (5.0, 3.0, 1.0)
    ),
]


@pytest.fixture(scope="module")
def risk():
    row = first_row(MODEL, DATA, Unweighted())
    return reach(MODEL, nuts(MODEL, DATA, row, Source(1)).thinned(DRAWS), DATA, row).risk


def label(mechanism):
    return f"{mechanism.name}-{getattr(mechanism, 'epsilon', '')}"


@pytest.mark.parametrize("mechanism", CASES, ids=label)
def test_nuts_agrees_with_quadrature(mechanism, risk):
    """The same weights on both sides; tolerances of 0.1 sd and 10 % are six sigma or more."""
    row = first_row(MODEL, DATA, mechanism)._replace(alpha=mechanism.alpha(risk))
    fit = nuts(MODEL, DATA, row, Source(2), smallest_ess=SMALLEST_ESS)
    assert fit.convergence.failing(SMALLEST_ESS) == ()
    exact = quadrature(MODEL, DATA, row)
    theta = jax.vmap(MODEL.constrain)(jnp.asarray(exact.nodes))
    for name in ("phi", "lambda"):
        values = np.asarray(theta[name])
        mean, sd = exact.mean(values), exact.sd(values)
        assert abs(fit.theta[name].mean() - mean) < 0.1 * sd
        assert abs(fit.theta[name].std() / sd - 1) < 0.1


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

    def uniform(y, n):
        width = numpyro.sample("width", dist.LogNormal(2.5, 0.5))
        with numpyro.plate("records", n):
            numpyro.sample("y", dist.Uniform(0.0, width), obs=y)

    model = from_numpyro(uniform, schema=REAL)
    values = np.array([9.0, 15.0, 19.5])
    row = first_row(model, model.prepare({"y": values}), Unweighted())
    assert np.asarray(row.alpha).tolist() == [1.0, 1.0, 1.0]
    exact = quadrature(model, model.prepare({"y": values}), row)
    widths = np.exp(exact.nodes[:, 0])
    assert exact.mean((widths < 19.5).astype(float)) == 0.0


def test_quadrature_serves_a_single_parameter():
    """A normal mean with a normal prior, whose posterior is known."""

    def centre_only(y, n):
        centre = numpyro.sample("centre", dist.Normal(0.0, 2.0))
        with numpyro.plate("records", n):
            numpyro.sample("y", dist.Normal(centre, 1.0), obs=y)

    model = from_numpyro(centre_only, schema=REAL)
    values = np.random.default_rng(0).normal(3, 1, 30)
    row = Row(jnp.ones(30), jnp.zeros(30), jnp.asarray(math.inf))
    exact = quadrature(model, model.prepare({"y": values}), row)
    precision = 30 + 1 / 4
    assert exact.mean(exact.nodes[:, 0]) == pytest.approx(values.sum() / precision, abs=1e-9)
    assert exact.sd(exact.nodes[:, 0]) == pytest.approx(precision**-0.5, rel=1e-9)


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


def test_weights_and_bound_do_not_compile_the_kernel_again():
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(2.5))
    nuts(MODEL, DATA, row, Source(3))
    compiled = nuts_module._warm_up._cache_size(), nuts_module._sample._cache_size()
    nuts(MODEL, DATA, Row(0.5 * row.alpha, row.offset, jnp.asarray(1.0)), Source(4))
    assert (nuts_module._warm_up._cache_size(), nuts_module._sample._cache_size()) == compiled


class TestConvergence:
    def test_rhat_and_ess_of_independent_chains(self):
        values = np.random.default_rng(0).normal(size=(4, 1000, 2))
        rhat, ess = rhat_and_ess(values)
        assert np.all(rhat < 1.01)
        assert np.all(ess > 3000)

    def test_a_chain_that_sits_elsewhere_fails(self):
        values = np.random.default_rng(0).normal(size=(4, 1000, 1))
        values[0] += 3
        rhat, _ = rhat_and_ess(values)
        assert rhat[0] > 1.01

    def test_a_quantity_that_never_changes_passes(self):
        rhat, ess = rhat_and_ess(np.ones((4, 100, 1)))
        assert (rhat[0], ess[0]) == (1.0, 400.0)

    def test_the_gate_names_what_fails(self):
        rhat, ess = np.array([1.0, 1.5, 1.0]), np.array([500.0, 500.0, 10.0])
        seen = Convergence(("a", "b", "c"), rhat, ess, 0, 4000)
        assert seen.failing() == ("b", "c")
        assert seen.failing(smallest_ess=5) == ("b",)

    @pytest.mark.parametrize(("divergences", "failing"), [(40, ()), (41, (DIVERGENT,))])
    def test_more_than_one_divergence_in_a_hundred_draws_fails(self, divergences, failing):
        seen = Convergence(("a",), np.ones(1), np.array([500.0]), divergences, 4000)
        assert seen.failing() == failing

    def test_components_can_be_renumbered_and_groups_cannot(self):
        def groups(y, g, n):
            with numpyro.plate("groups", 9):
                level = numpyro.sample("level", dist.Normal(0.0, 1.0))
            with numpyro.plate("records", n):
                numpyro.sample("y", dist.Normal(level[g], 1.0), obs=y)

        levels = [f"level {k}" for k in range(9)]
        column = {"role": "public", "type": "categorical", "levels": levels}
        schema = Schema.from_dict({"columns": REAL.to_dict()["columns"] | {"g": column}})
        grouped = from_numpyro(groups, schema=schema)
        mixture = from_numpyro(two_components, schema=REAL)
        assert renumbered_sizes(grouped, public_points(grouped)) == frozenset()
        assert renumbered_sizes(mixture, public_points(mixture)) == {2}
        assert set(np.asarray(public_points(grouped)["g"])) == set(range(9))


def two_components(y, n):
    with numpyro.plate("components", 2):
        centres = numpyro.sample("centres", dist.Normal(0.0, 5.0))
    with numpyro.plate("records", n):
        even = dist.Categorical(probs=jnp.array([0.5, 0.5]))
        numpyro.sample("y", dist.MixtureSameFamily(even, dist.Normal(centres, 1.0)), obs=y)


REAL = Schema.from_dict(
    {"columns": {"y": {"role": "confidential", "type": "continuous", "bounds": [-20, 20]}}}
)


@pytest.fixture(scope="module")
def bimodal():
    model = from_numpyro(two_components, schema=REAL)
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.normal(-4, 1, 60), generator.normal(4, 1, 60)])
    data = model.prepare({"y": values})
    return model, data, Row(jnp.ones(120), jnp.zeros(120), jnp.asarray(math.inf))


def test_relabelled_mixture_components_pass_the_gate(bimodal):
    model, data, row = bimodal
    fit = nuts(model, data, row, Source(0), largest_blocks=2)
    orders = np.sign(fit.theta["centres"][:, -1, 0])
    assert set(orders) == {-1.0, 1.0}, "the chains must disagree about the labels for this test"
    assert np.all(rhat_and_ess(fit.theta["centres"])[0] > 1.01)
    assert fit.convergence.failing() == ()


def test_chains_in_different_modes_do_not_pass_the_gate(bimodal, monkeypatch):
    """Unequal weights tell the components apart, and a chain in the wrong one is caught."""
    _, data, row = bimodal

    def uneven(y, n):
        with numpyro.plate("components", 2):
            centres = numpyro.sample("centres", dist.Normal(0.0, 5.0))
        with numpyro.plate("records", n):
            shares = dist.Categorical(probs=jnp.array([0.35, 0.65]))
            numpyro.sample("y", dist.MixtureSameFamily(shares, dist.Normal(centres, 1.0)), obs=y)

    model = from_numpyro(uneven, schema=REAL)
    starts = jnp.asarray([[-4.0, 4.0], [4.0, -4.0], [-4.0, 4.0], [4.0, -4.0]])
    monkeypatch.setattr(nuts_module, "_starts", lambda *arguments: starts)
    fit = nuts(model, data, row, Source(0), largest_blocks=2)
    assert any(name.startswith("log-likelihood") for name in fit.convergence.failing())


def test_chains_go_on_until_the_gate_is_passed_and_stop_at_the_limit():
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(2.5))
    more = nuts(MODEL, DATA, row, Source(5), smallest_ess=2500)
    assert more.convergence.failing(2500) == ()
    assert more.z.shape[1] > nuts_module.BLOCK
    never = nuts(MODEL, DATA, row, Source(5), smallest_ess=1e9, largest_blocks=3)
    assert never.convergence.failing(1e9)
    assert never.z.shape[1] == 2 * nuts_module.BLOCK


def test_released_draws_are_far_apart_and_start_anywhere():
    z = np.arange(4000.0).reshape(4, 1000, 1)
    seen = Convergence((), np.empty(0), np.empty(0), 0, 4000)
    fit = Fit(z, {}, seen)
    generator = np.random.default_rng(0)
    chosen = np.array([choose_draws(fit, 4, generator).ravel() for _ in range(2000)])
    gaps = np.diff(np.sort(chosen, axis=1), axis=1)
    assert gaps.min() == gaps.max() == 1000
    assert scipy.stats.kstest(chosen[:, 0] / 4000, "uniform").pvalue > 0.001
