"""Chains for a row of the equation: converged, or refused."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import understudy as us
from skewed import MODEL
from synthesised import BETA, TABLE, VALUES
from understudy._jax import jnp
from understudy.mechanisms import fitting
from understudy.mechanisms.fitting import (
    _of_candidates,
    choose_draws,
    first_row,
    plain,
    risk_of,
)
from understudy.privacy.guarantee import Kind
from understudy.samplers.exact import UNIT, Selection
from understudy.samplers.nuts import nuts


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        us.Unweighted(),
        us.Weighted(),
        us.CensorUw(epsilon=2.0),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_exact_zeros_and_ones_do_not_disturb_any_mechanism(mechanism):
    table = pd.DataFrame({"x": np.r_[VALUES[:-3], 0.0, 1.0, 1e-300]})
    release = us.synthesize(BETA, table, mechanism, seed=1)
    assert release.guarantee.kind is mechanism.kind_with("nuts")
    dropped = release.internal.diagnostics["dropped_records"]
    assert (dropped == 0) if mechanism.kind is Kind.STRICT else (dropped >= 2)


def test_chains_that_do_not_converge_are_refused_unless_accepted_in_writing(monkeypatch):
    monkeypatch.setattr(fitting, "SMALLEST_ESS", 10**9)
    monkeypatch.setattr(fitting, "nuts", partial(nuts, largest_blocks=1))
    with pytest.raises(us.Refused, match="have not converged"):
        us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0), seed=1)
    release = us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0), seed=1, accept_poor_mixing=True)
    assert any("was accepted in advance" in s for s in release.guarantee.assumptions)
    assert release.guarantee.delta is None
    assert "WHICH WAS NOT REQUIRED OF THEM" in release.guarantee.headline


def test_draws_for_several_tables_are_far_apart_and_begin_anywhere():
    fit = SimpleNamespace(z=np.arange(24.0).reshape(2, 12, 1))
    firsts = set()
    for seed in range(40):
        chosen = choose_draws(fit, 3, np.random.default_rng(seed)).ravel()
        assert sorted((chosen - chosen[0]) % 24) == [0.0, 8.0, 16.0]
        firsts.add(chosen[0])
    assert len(firsts) > 15


def test_a_record_without_a_posterior_has_no_weight_unless_its_score_is_bounded():
    """An exact 0 or 1 has an infinite Beta density at some θ, and no finite one."""
    data = BETA.prepare({"x": np.array([0.0, 0.25, 0.5, 1.0])})
    assert np.asarray(first_row(BETA, data, us.Unweighted()).alpha).tolist() == [0, 1, 1, 0]
    assert np.asarray(first_row(BETA, data, us.CensorUw(epsilon=1.0)).alpha).tolist() == [1] * 4


def test_the_risk_of_a_record_is_its_largest_log_likelihood_over_the_draws():
    draws = jnp.asarray([[-1.0, 1.0], [0.5, 2.0]])
    values = np.array([0.05, 0.3, 0.9])
    theta = [BETA.constrain(z) for z in draws]
    logs = [
        scipy.stats.beta.logpdf(values, t["lambda"] * t["phi"], t["lambda"] * (1 - t["phi"]))
        for t in theta
    ]
    risk = risk_of(BETA, draws, BETA.prepare({"x": values}))
    np.testing.assert_allclose(risk, np.abs(logs).max(axis=0), rtol=1e-9)


def test_theta_is_published_as_plain_numbers_and_lists():
    theta = plain({"phi": jnp.asarray(0.25), "b": jnp.asarray([[1.0, 2.0]])})
    assert theta == {"phi": 0.25, "b": [[1.0, 2.0]]}
    assert type(theta["phi"]) is float


def test_candidates_are_summed_up_by_the_shares_with_which_they_are_picked():
    """Three candidates with the scores 0, log 2 and 0: shares of 1/4, 1/2 and 1/4."""
    z = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 2.0]])
    scores = np.array([0, round(np.log(2) * UNIT), 0])
    summary = _of_candidates(MODEL, Selection(z, scores, 1))
    phi = np.array([float(MODEL.constrain(jnp.asarray(each))["phi"]) for each in z])
    shares = np.array([0.25, 0.5, 0.25])
    mean = shares @ phi
    assert summary["parameters"]["phi"]["mean"] == pytest.approx(mean)
    assert summary["parameters"]["phi"]["sd"] == pytest.approx(np.sqrt(shares @ (phi - mean) ** 2))
    assert summary["parameters"]["phi"]["ess_bulk"] == pytest.approx(1 / np.sum(shares**2))
    assert summary["candidates"] == 3
