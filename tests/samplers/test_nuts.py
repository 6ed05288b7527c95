"""NUTS against quadrature, and behind its gate."""

import math

import numpy as np
import pytest
import scipy.stats

from small_models import BETA as MODEL
from small_models import two_components
from understudy._jax import jax, jnp
from understudy.mechanisms import CensorUw, CensorW, Unweighted, Weighted, WeightedE
from understudy.mechanisms.fitting import DRAWS, choose_draws, first_row
from understudy.samplers import nuts as nuts_module
from understudy.samplers.diagnostics import Convergence, rhat_and_ess
from understudy.samplers.lipschitz import reach
from understudy.samplers.nuts import Fit, nuts
from understudy.samplers.quadrature import quadrature
from understudy.score import Row
from understudy.support.randomness import Source

N = 2000
VALUES = np.random.default_rng(11).beta(0.5, 3, N)
DATA = MODEL.prepare({"x": VALUES})
SMALLEST_ESS = 4000

FAST = [Unweighted(), CensorW(epsilon=1.0)]
"""The plain posterior, and the target with the most kinks and weights."""
SLOW = [
    Weighted(),
    *(
        mechanism(epsilon=epsilon)
        for mechanism in (WeightedE, CensorUw, CensorW)
        for epsilon in (5.0, 3.0, 1.0)
        if (mechanism, epsilon) != (CensorW, 1.0)
    ),
]


@pytest.fixture(scope="module")
def risk():
    row = first_row(MODEL, DATA, Unweighted())
    return reach(MODEL, nuts(MODEL, DATA, row, Source(1)).thinned(DRAWS), DATA, row).risk


def label(mechanism):
    return f"{mechanism.name}-{getattr(mechanism, 'epsilon', '')}"


@pytest.mark.parametrize(
    "mechanism",
    [
        *(pytest.param(each, id=label(each)) for each in FAST),
        *(pytest.param(each, id=label(each), marks=pytest.mark.slow) for each in SLOW),
    ],
)
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


def test_weights_and_bound_do_not_compile_the_kernel_again():
    row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(2.5))
    nuts(MODEL, DATA, row, Source(3))
    compiled = nuts_module._warm_up._cache_size(), nuts_module._sample._cache_size()
    nuts(MODEL, DATA, Row(0.5 * row.alpha, row.offset, jnp.asarray(1.0)), Source(4))
    assert (nuts_module._warm_up._cache_size(), nuts_module._sample._cache_size()) == compiled


@pytest.fixture(scope="module")
def bimodal():
    model = two_components()
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.normal(-4, 1, 60), generator.normal(4, 1, 60)])
    data = model.prepare({"y": values})
    return model, data, Row(jnp.ones(120), jnp.zeros(120), jnp.asarray(math.inf))


@pytest.mark.slow
def test_relabelled_mixture_components_pass_the_gate(bimodal):
    model, data, row = bimodal
    fit = nuts(model, data, row, Source(0), largest_blocks=2)
    orders = np.sign(fit.theta["centres"][:, -1, 0])
    assert set(orders) == {-1.0, 1.0}, "the chains must disagree about the labels for this test"
    assert np.all(rhat_and_ess(fit.theta["centres"])[0] > 1.01)
    assert fit.convergence.failing() == ()


@pytest.mark.slow
def test_chains_in_different_modes_do_not_pass_the_gate(bimodal, monkeypatch):
    """Unequal weights tell the components apart, and a chain in the wrong one is caught."""
    _, data, row = bimodal
    model = two_components((0.35, 0.65))
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
    convergence = Convergence((), np.empty(0), np.empty(0), 0, 4000)
    fit = Fit(z, {}, convergence)
    assert repr(fit) == "<Fit: confidential, stays inside>"
    generator = np.random.default_rng(0)
    chosen = np.array([choose_draws(fit, 4, generator).ravel() for _ in range(2000)])
    gaps = np.diff(np.sort(chosen, axis=1), axis=1)
    assert gaps.min() == gaps.max() == 1000
    assert scipy.stats.kstest(chosen[:, 0] / 4000, "uniform").pvalue > 0.001
