import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.models.beta import beta
from understudy.score import Row, log_target, score

ANY = st.floats(allow_nan=True, allow_infinity=True)
WEIGHT = st.floats(0, 1, allow_subnormal=False)
FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)  # XLA flushes subnormal numbers to zero
BOUND = st.floats(1e-6, 1e6)

UNIT = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)
MODEL = beta(UNIT)


def row(alpha, bound, offset=0.0):
    alpha = jnp.atleast_1d(jnp.asarray(alpha, dtype=float))
    return Row(alpha, jnp.full(alpha.shape, offset), jnp.asarray(float(bound)))


@given(arrays(float, 8, elements=ANY), arrays(float, 8, elements=WEIGHT), ANY, BOUND)
def test_no_score_ever_exceeds_the_bound(loglik, alpha, offset, bound):
    scores = np.asarray(score(jnp.asarray(loglik), row(alpha, bound, offset)))
    assert np.all(np.abs(scores) <= bound)


@given(FINITE, WEIGHT, FINITE, BOUND)
def test_a_finite_score_is_the_equation(loglik, alpha, offset, bound):
    expected = min(max(alpha * (loglik - offset), -bound), bound)
    assert float(score(jnp.asarray([loglik]), row(alpha, bound, offset))[0]) == expected


@given(FINITE)
def test_without_weight_offset_and_bound_the_score_is_the_log_likelihood(loglik):
    assert float(score(jnp.asarray([loglik]), row(1.0, math.inf))[0]) == loglik


@pytest.mark.parametrize(
    ("loglik", "alpha", "bound", "expected"),
    [
        (math.inf, 1.0, 2.5, 2.5),
        (-math.inf, 1.0, 2.5, -2.5),
        (math.nan, 1.0, 2.5, 0.0),
        (math.inf, 0.0, 2.5, 0.0),
        (-math.inf, 0.0, 2.5, 0.0),
        (math.inf, 1.0, math.inf, 0.0),
        (-math.inf, 1.0, math.inf, -math.inf),
        (-math.inf, 0.0, math.inf, 0.0),
        (math.nan, 1.0, math.inf, 0.0),
    ],
)
def test_the_edge_rules(loglik, alpha, bound, expected):
    assert float(score(jnp.asarray([loglik]), row(alpha, bound))[0]) == expected


@pytest.mark.parametrize("bound", [0.5, 2.5, math.inf])
@pytest.mark.parametrize("loglik", [math.inf, -math.inf, math.nan, 1e300, 0.0])
def test_the_gradient_of_a_score_is_never_a_nan(loglik, bound):
    slope = jax.grad(lambda f: jnp.sum(score(jnp.asarray([f]), row(1.0, bound))))(loglik)
    assert math.isfinite(float(slope))


EDGES = st.sampled_from([0.0, 1.0, 1e-300, 1e-12, 1 - 1e-12, 0.5])
_gradient = jax.jit(
    jax.value_and_grad(lambda z, data, r: log_target(MODEL, z, data, r)),
)
_loglik = jax.jit(lambda z, data: MODEL.record_loglik(MODEL.constrain(z), data))


@given(
    st.lists(EDGES | st.floats(0, 1), min_size=6, max_size=6),
    st.tuples(st.floats(-20, 20), st.floats(-20, 20)),
    st.sampled_from([0.25, 0.5, 2.5]),
)
def test_records_at_the_edge_of_the_domain_stay_bounded_and_smooth(values, z, bound):
    data = MODEL.prepare({"x": np.array(values)})
    z = jnp.asarray(z)
    censored = row(np.ones(6), bound)
    scores = np.asarray(score(_loglik(z, data), censored))
    assert np.all(np.abs(scores) <= bound)
    height, slope = _gradient(z, data, censored)
    assert np.isfinite(height)
    assert np.all(np.isfinite(slope))


@pytest.mark.parametrize(("z0", "expected"), [(-3.0, 2.5), (3.0, -2.5)])
def test_a_record_at_exactly_zero_scores_the_limit(z0, expected):
    """For a shape below one the density rises without limit towards 0, above one it vanishes."""
    z = jnp.asarray([z0, 0.5])
    at_zero = score(_loglik(z, MODEL.prepare({"x": np.array([0.0])})), row(1.0, 2.5))
    nearby = score(_loglik(z, MODEL.prepare({"x": np.array([1e-300])})), row(1.0, 2.5))
    assert float(at_zero[0]) == float(nearby[0]) == expected
