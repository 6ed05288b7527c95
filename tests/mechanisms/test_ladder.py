"""Climbing: what a stage scores, what a climb reports, and how close it comes."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import understudy as us
from skewed import DATA, MODEL, NEAR, TABLE, VALUES, N
from understudy._jax import jnp
from understudy.mechanisms.anchored import Stage
from understudy.mechanisms.ladder import Rung, anchored_row, first_proposal
from understudy.score import Row
from understudy.utility import max_ecdf


def mean_max_ecdf(replicates, **settings):
    """Mean utility over replicates, as the benchmark computes it."""
    distances = []
    for r in range(replicates):
        table = pd.DataFrame({"x": np.random.default_rng(500 + r).beta(0.5, 3, N)})
        release = us.synthesize(MODEL, table, us.Anchored(**settings), seed=r)
        distances.append(max_ecdf(table["x"].to_numpy(), release.synthetic["x"].to_numpy()))
    return np.mean(distances), np.std(distances) / math.sqrt(replicates)


def test_the_ladder_from_nothing_is_close_to_the_confidential_posterior():
    """Required: at most 0.035 at ε = 1 (0.026 without privacy), up to three standard errors."""
    mean, error = mean_max_ecdf(20, epsilon=1.0)
    assert mean < 0.035 + 3 * error
    assert error < 0.004


@pytest.mark.slow
def test_a_drifted_history_serves_as_an_anchor():
    """Required: at most 0.033 at ε = 1 with a history from Beta(0.55, 2.7)."""
    history = {"phi": 0.55 / 3.25, "lambda": 3.25}
    mean, error = mean_max_ecdf(20, epsilon=1.0, anchor=history)
    assert mean < 0.033 + 3 * error
    assert error < 0.004


def test_an_exact_release_assumes_no_convergence_and_reports_its_stages():
    release = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0), seed=1)
    guarantee = release.guarantee.to_dict()
    assert (guarantee["sampler"], guarantee["stages"], guarantee["kind"]) == ("exact", 4, "strict")
    assert guarantee["epsilon"] == {"add-remove": 1.0, "replace-one": 2.0}
    assert not any("converged" in sentence for sentence in guarantee["assumptions"])
    stages = release.internal.diagnostics["stages"]
    assert len(stages) == 4
    assert all(stage["effective_candidates"] > 1 for stage in stages)
    assert release.internal.diagnostics["lipschitz_bound"] <= stages[-1]["bound"]
    assert "Stages" in release.internal.report()


@pytest.mark.parametrize("tables", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_chains_climb_too_and_say_so(tables):
    release = us.synthesize(
        MODEL, TABLE, us.Anchored(epsilon=1.0), sampler="nuts", tables=tables, seed=1
    )
    assert release.guarantee.sampler == "nuts"
    assert any("converged" in sentence for sentence in release.guarantee.assumptions)
    for synthetic in release.tables:
        assert max_ecdf(VALUES, synthetic["x"].to_numpy()) < 0.12
    gate = {"rhat": 1.01, "ess_bulk": 400}
    assert release.internal.diagnostics["limits"].items() >= gate.items()


def test_a_stage_scores_a_record_by_how_much_better_it_is_explained_than_by_the_anchor():
    """The offset is SciPy's density at the anchor; α and B = αT are those of the stage."""
    row = anchored_row(MODEL, NEAR, DATA, Stage(0.3, 1.5))
    phi, precision = (float(MODEL.constrain(jnp.asarray(NEAR))[name]) for name in ("phi", "lambda"))
    density = scipy.stats.beta.logpdf(VALUES, precision * phi, precision * (1 - phi))
    np.testing.assert_allclose(row.offset, density, rtol=1e-9, atol=1e-9)
    assert set(np.asarray(row.alpha).tolist()) == {0.3}
    assert float(row.bound) == pytest.approx(0.45)


def test_a_climb_starts_at_the_anchor_that_it_is_given():
    anchor = {"phi": 0.25, "lambda": 2.0}
    proposal = first_proposal(MODEL, us.Anchored(epsilon=1.0, anchor=anchor))
    theta = MODEL.constrain(jnp.asarray(proposal.centre))
    assert {name: float(value) for name, value in theta.items()} == pytest.approx(anchor, abs=0.01)


def test_a_rung_does_not_show_the_weights_of_the_records():
    rung = Rung(np.zeros(2), Row(jnp.ones(3), jnp.zeros(3), jnp.asarray(1.0)), None)
    assert repr(rung) == "<Rung: confidential, stays inside>"
