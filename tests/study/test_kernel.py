"""The fast kernel computes what the generic code computes."""

import math

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.samplers.lipschitz import reach
from understudy.samplers.quadrature import target_heights
from understudy.score import Row
from understudy.study import kernel
from understudy.study.synthesisers import study_model

MODEL = study_model()
VALUES = np.random.default_rng(0).beta(0.5, 3, 300)
DATA = MODEL.prepare({"x": VALUES})


@pytest.mark.parametrize("bound", [math.inf, 2.5, 0.3])
def test_its_heights_are_those_of_the_equation(bound):
    generator = np.random.default_rng(1)
    nodes = jnp.asarray(generator.normal(size=(37, 2)) * 2)
    row = Row(
        jnp.asarray(generator.uniform(size=300)),
        jnp.asarray(generator.normal(size=300)),
        jnp.asarray(bound),
    )
    fast = kernel.heights(MODEL, nodes, DATA, row)
    generic = target_heights(MODEL, nodes, DATA, row)
    np.testing.assert_allclose(fast, generic, rtol=1e-12, atol=1e-9)


def test_its_risks_are_those_of_the_stream_over_draws():
    draws = jnp.asarray(np.random.default_rng(2).normal(size=(2, 50, 2)))
    plain = Row(jnp.ones(300), jnp.zeros(300), jnp.asarray(math.inf))
    for one, risk in zip(draws, kernel.risks(MODEL, draws, DATA), strict=True):
        np.testing.assert_allclose(risk, reach(MODEL, one, DATA, plain).risk, rtol=1e-12)
