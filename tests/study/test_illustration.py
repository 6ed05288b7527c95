"""The illustration's densities against brute force."""

import numpy as np
import pytest
from scipy import stats

from understudy.study import illustration, paper


def test_densities_of_the_illustration_integrate_to_one(curves):
    for curve in curves:
        assert np.trapezoid(curve.density, curve.at) == pytest.approx(1, abs=5e-3)


def test_the_posterior_given_one_record_agrees_with_brute_force(curves):
    records = np.random.default_rng(illustration.SEED).beta(*paper.ILLUSTRATION_SHAPES, paper.N)
    phi = (np.arange(400) + 0.5) / 400
    # λ = 0.1 e^t under its prior has t exponential with rate 1.5.
    t = (np.arange(2000) + 0.5) / 100
    precision = 0.1 * np.exp(t)
    loglik = stats.beta.logpdf(
        records.max(), precision[:, None] * phi, precision[:, None] * (1 - phi)
    )
    bound = paper.ILLUSTRATION_EPSILON / 2
    for name, scores in (
        (illustration.POSTERIOR, loglik),
        (illustration.CENSORED, np.clip(loglik, -bound, bound)),
    ):
        mass = (np.exp(scores) * np.exp(-1.5 * t)[:, None]).sum(axis=0)
        mass /= mass.sum()
        mean = (mass * phi).sum()
        curve = next(c for c in curves if (c.given, c.name) == ("record", name))
        assert curve.mean == pytest.approx(mean, abs=2e-3)
        assert curve.sd == pytest.approx(np.sqrt((mass * (phi - mean) ** 2).sum()), abs=2e-3)
        inside = (phi > 0.1) & (phi < 0.9)
        np.testing.assert_allclose(
            np.interp(phi[inside], curve.at, curve.density), (400 * mass)[inside], rtol=0.02
        )


def test_the_summary_has_the_mean_and_the_spread_of_every_density(curves):
    summary = illustration.summary(curves)
    assert list(summary["given"]) == ["table"] * 3 + ["record"] * 3
    prior = summary[summary.density == illustration.PRIOR]
    assert prior["sd"].unique() == pytest.approx([stats.uniform.std()])
