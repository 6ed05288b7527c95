"""Densities that PyTensor has no JAX form for, against PyMC, SciPy and differences."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

pm = pytest.importorskip("pymc")

import pytensor.tensor as pt  # noqa: E402
from pytensor.printing import Print  # noqa: E402

from pymc_functions import REAL, built  # noqa: E402
from understudy import (  # noqa: E402
    from_pymc,
)
from understudy._jax import jax, jnp  # noqa: E402
from understudy.adapters.pymc_jax import erfcx, to_numpy  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402

NONNEGATIVE = Schema.from_dict(
    {"columns": {"y": {"role": "confidential", "type": "continuous", "bounds": [0, 100]}}}
)
ONE_SIDED = {
    "censored normal": lambda y, centre, spread: pm.Censored(
        "y", pm.Normal.dist(centre, spread), lower=0, upper=100, observed=y
    ),
    "censored lognormal": lambda y, centre, spread: pm.Censored(
        "y", pm.LogNormal.dist(centre / 20, spread / 20), lower=None, upper=100, observed=y
    ),
    "truncated": lambda y, centre, spread: pm.Truncated(
        "y", pm.Normal.dist(centre, spread), lower=0, upper=100, observed=y
    ),
    "truncated normal": lambda y, centre, spread: pm.TruncatedNormal(
        "y", centre, spread, lower=0, upper=100, observed=y
    ),
    "modified normal": lambda y, centre, spread: pm.ExGaussian(
        "y", mu=centre, sigma=spread, nu=5.0, observed=y
    ),
}


@pytest.mark.parametrize("likelihood", ONE_SIDED.values(), ids=ONE_SIDED.keys())
def test_a_density_that_changes_its_formula_is_pymcs_and_has_gradients(likelihood):
    """Far from the data, too: there the formula that is not chosen is infinite."""

    def function(y):
        with pm.Model() as model:
            centre, spread = pm.Normal("centre", 50, 20), pm.HalfNormal("spread", 20)
            likelihood(y, centre, spread)
        return model

    model = from_pymc(function, schema=NONNEGATIVE)
    values = np.array([0.0, 1e-9, 1.0, 20.0, 50.0, 90.0, 100.0])
    data, theirs = model.prepare({"y": values}), function(values)
    # PyMC keeps the root of two in single precision; `to_numpy` has its graph in double.
    graph = theirs.logp(vars=theirs.observed_RVs, sum=False, jacobian=False)
    density = to_numpy([theirs.rvs_to_values[variable] for variable in theirs.free_RVs], graph)

    @jax.jit
    def ours(theta):
        loglik = model.record_loglik(theta, data)
        return loglik, jax.grad(lambda t: jnp.sum(model.record_loglik(t, data)))(theta)

    for centre in (-200.0, -50.0, 0.0, 30.0, 50.0, 150.0, 400.0):
        for spread in (0.5, 2.0, 10.0, 50.0):
            loglik, slope = ours({"centre": jnp.asarray(centre), "spread": jnp.asarray(spread)})
            (expected,) = density(centre, np.log(spread))
            np.testing.assert_allclose(loglik, expected, rtol=1e-8, atol=1e-8)
            assert np.isfinite([slope["centre"], slope["spread"]]).all()


@pytest.mark.slow
def test_a_gradient_across_formulas_is_that_of_differences():
    def function(y):
        with pm.Model() as model:
            ONE_SIDED["truncated"](y, pm.Normal("centre", 50, 20), pm.HalfNormal("spread", 20))
        return model

    model = from_pymc(function, schema=NONNEGATIVE)
    data = model.prepare({"y": np.array([3.0, 40.0])})

    def total(centre):
        theta = {"centre": centre, "spread": jnp.asarray(10.0)}
        return jnp.sum(model.record_loglik(theta, data))

    for centre in (-60.0, 20.0, 170.0):
        step = 1e-4
        expected = (total(centre + step) - total(centre - step)) / (2 * step)
        assert float(jax.grad(total)(centre)) == pytest.approx(float(expected), rel=1e-6)


def test_the_scaled_error_function_has_all_digits_and_slopes():
    x = np.concatenate([np.linspace(-26.5, 40, 20_001), np.logspace(1, 300, 1000)])
    np.testing.assert_allclose(erfcx(jnp.asarray(x)), scipy.special.erfcx(x), rtol=1e-12)
    assert np.isinf(erfcx(jnp.array([-27.0, -1e300]))).all()
    slopes = jax.jit(jax.vmap(jax.grad(erfcx)))
    x = np.linspace(-26.5, 30, 5001)
    expected = 2 * x * scipy.special.erfcx(x) - 2 / np.sqrt(np.pi)
    np.testing.assert_allclose(slopes(jnp.asarray(x)), expected, rtol=1e-10)
    far = np.logspace(4, 100, 97)
    np.testing.assert_allclose(slopes(far), -1 / np.sqrt(np.pi) / far**2, rtol=1e-7)
    assert np.array_equal(slopes(jnp.array([-27.0, -1e300])), [0.0, 0.0])


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c + Print("w")(w), 1, observed=y)),
            "No JAX conversion .*: leave that operation out",
        ),
        (
            built(likelihood=lambda y, w, c: pm.Normal("y", c + pt.kve(1.0, w + 1), 1, observed=y)),
            "No JAX implementation .*: leave that operation out",
        ),
    ],
)
def test_a_pymc_model_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_pymc(function, schema=REAL)
    assert "\n" not in str(fault.value)
