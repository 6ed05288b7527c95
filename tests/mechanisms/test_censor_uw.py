"""Censor_uw: the bound of each score, and exact draws."""

import numpy as np

import understudy as us
from skewed import DATA, MODEL, TABLE, N
from understudy._jax import jax, jnp
from understudy.samplers.quadrature import quadrature
from understudy.score import Row


def test_censor_uw_can_be_drawn_exactly():
    release = us.synthesize(MODEL, TABLE, us.CensorUw(epsilon=5.0), sampler="exact", seed=1)
    assert release.guarantee.sampler == "exact"
    target = quadrature(MODEL, DATA, Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(2.5)))
    theta = jax.vmap(MODEL.constrain)(jnp.asarray(target.nodes))
    summary = release.internal.diagnostics["parameters"]["phi"]
    values = np.asarray(theta["phi"])
    assert abs(summary["mean"] - target.mean(values)) < target.sd(values)


def test_every_record_counts_in_full_and_up_to_half_of_epsilon():
    mechanism = us.CensorUw(epsilon=1.0)
    assert np.asarray(mechanism.alpha(jnp.asarray([0.5, 6.0, jnp.inf]))).tolist() == [1.0] * 3
    assert mechanism.bound == 0.5
    assert us.CensorUw(epsilon=1.0, adjacency="replace-one").bound == 0.25
