"""Ranges of parameters are PyMC's own, and fixed."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor.tensor as pt  # noqa: E402

from pymc_functions import REAL, built  # noqa: E402
from understudy import from_pymc  # noqa: E402
from understudy._jax import jax  # noqa: E402
from understudy.domain.schema import Schema  # noqa: E402
from understudy.errors import BadInput  # noqa: E402


def every_range(y):
    """A parameter with each of PyMC's transforms that reach all of the real line."""
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        parts = [
            pm.Normal("real", 0, 1),
            pm.HalfNormal("positive", 1),
            pm.Beta("unit", 2, 2),
            pm.Uniform("interval", -1, 3),
            pm.Pareto("above", 1.5, 0.1),
            pm.Dirichlet("simplex", np.ones(3))[0],
            pm.Normal("ordered", 0, 2, shape=3, transform=ordered)[0],
            pm.ZeroSumNormal("zerosum", 1, shape=4)[0],
            pm.StudentT("matrix", nu=3, mu=0, sigma=1, shape=(2, 2)).sum(),
        ]
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
        parts.append(pm.MvNormal("correlated", np.zeros(2), chol=chol)[0])
        pm.Normal("y", sum(parts), 1, observed=y)
    return model


def few_ranges(y):
    """Those of them that most models have."""
    with pm.Model() as model:
        parts = [
            pm.HalfNormal("positive", 1),
            pm.Uniform("interval", -1, 3),
            pm.Dirichlet("simplex", np.ones(3))[0],
        ]
        pm.Normal("y", sum(parts), 1, observed=y)
    return model


@pytest.mark.parametrize("ranges", [few_ranges, pytest.param(every_range, marks=pytest.mark.slow)])
def test_every_transform_is_pymcs_own(ranges):
    schema = Schema.from_dict({"columns": {"y": REAL.column("y").to_dict()}})
    ours, theirs = from_pymc(ranges, schema=schema), ranges(np.zeros(3))
    density = theirs.compile_logp(vars=theirs.free_RVs, mode="FAST_COMPILE")
    names = [theirs.rvs_to_values[variable].name for variable in theirs.free_RVs]
    prior = jax.jit(jax.value_and_grad(ours.log_prior_unconstrained))
    there_and_back = jax.jit(lambda z: ours.unconstrain(ours.constrain(z)))
    for seed in range(3):
        z = ours.starting_points(jax.random.key(seed), 1)[0]
        height, slope = prior(z)
        point = {name: np.asarray(u) for name, (_, u) in zip(names, ours._pieces(z), strict=True)}
        # PyMC keeps the logarithm of a small whole number in single precision.
        assert float(height) == pytest.approx(density(point), abs=1e-6)
        np.testing.assert_allclose(there_and_back(z), z, atol=1e-9)
        assert np.isfinite(slope).all()


circular = pm.distributions.transforms.circular


def interval_up_to(end):
    """Return a transform whose range ends at a graph, which is not among the prior's arguments."""
    return pm.distributions.transforms.Interval(bounds_fn=lambda *_: (pt.constant(0.0), end))


def range_by_container(y, w):
    with pm.Model() as model:
        columns = pm.Data("y", y), pm.Data("w", w)
        centre = pm.Normal("centre", 0, 1, transform=interval_up_to(columns[0].max()))
        pm.Normal("likelihood", centre, 1, observed=columns[0])
    return model


def range_by_size(y, w):
    with pm.Model(coords={"record": np.arange(len(y))}) as model:
        columns = pm.Data("y", y, dims="record"), pm.Data("w", w, dims="record")
        end = 1.0 * model.dim_lengths["record"]
        centre = pm.Normal("centre", 0, 1, transform=interval_up_to(end))
        pm.Normal("likelihood", centre, 1, observed=columns[0], dims="record")
    return model


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (
            built(prior=lambda y, w: pm.Normal("centre", 0, 1, default_transform=circular)),
            "'CircularTransform', which does not reach",
        ),
        (
            built(prior=lambda y, w: pm.Uniform("centre", 0, pm.HalfNormal("top", 1))),
            "range of the parameter 'centre' depends on",
        ),
        (
            built(
                prior=lambda y, w: pm.Normal("centre", 0, 1, transform=interval_up_to(pt.max(y)))
            ),
            "range of the parameter 'centre' depends on",
        ),
        (range_by_container, "range of the parameter 'centre' depends on"),
        (range_by_size, "range of the parameter 'centre' depends on"),
    ],
)
def test_a_pymc_model_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_pymc(function, schema=REAL)
    assert "\n" not in str(fault.value)
