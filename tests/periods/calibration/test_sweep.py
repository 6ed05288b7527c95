"""Which settings are tried, draws at each, and how close they come to the reference."""

from types import SimpleNamespace

import pandas as pd
import pytest

import understudy as us
from offices import calibrated
from outcomes import MODEL, PAY, SCHEMA
from understudy.errors import BadInput
from understudy.mechanisms import BY_NAME
from understudy.periods.calibration import sweep
from understudy.periods.calibration.sweep import (
    Closeness,
    Outcome,
    Setting,
    Sweep,
    calibrated_names,
    settings,
)
from understudy.utility import max_ecdf


def test_the_measures_are_those_of_the_synthetic_tables(workplace, found):
    """Drawn again by hand: from nothing, then a draw that starts from it."""
    table = pd.read_csv(workplace / "reference.csv")
    model = us.beta(us.Schema.load(workplace / "pay.toml"))
    asked = us.Anchored(epsilon=1.0, threshold=2.0)
    first = us.synthesize(model, table, asked, seed=0)
    anchored = us.Anchored(epsilon=1.0, threshold=2.0, anchor=first.parameters[0]["parameters"])
    second = us.synthesize(model, table, anchored, seed=1).synthetic
    setting = Setting(mechanism="anchored", epsilon=1.0, threshold=2.0)
    (ours,) = [o for o in found.outcomes if o.setting == setting]
    real, made = table["pay"], second["pay"]
    assert ours.draws[0].max_ecdf == max_ecdf(real, made)
    assert ours.draws[0].median == pytest.approx(abs(made.median() / real.median() - 1))


def test_draws_follow_each_other_as_periods_do(workplace, monkeypatch):
    """One from nothing that does not count, and then each from the one before."""
    given, answers = [], iter(range(10))

    def fake(model, table, mechanism, *, seed, **rest):
        given.append((mechanism.anchor, seed))
        theta = {"phi": 0.2 + next(answers) / 100, "lambda": 7.0}
        return SimpleNamespace(parameters=[{"parameters": theta}], synthetic=table, model=model)

    monkeypatch.setattr(sweep, "synthesize", fake)
    model, table = us.beta(us.Schema.load(workplace / "pay.toml")), workplace / "reference.csv"
    frame = pd.read_csv(table)
    tried = Sweep(
        model=model, schema=model.schema, table=frame, measured=frame, theta=None,
        adjacency=us.Adjacency.ADD_REMOVE, rows=None, balanced=False,
        draws=3, seed=2,
    )  # fmt: skip
    outcome = tried._outcome(Setting(mechanism="summary", epsilon=1.0))
    assert len(outcome.draws) == 3
    assert [seed for _, seed in given] == [8, 9, 10, 11]
    assert [anchor and round(anchor["phi"], 2) for anchor, _ in given] == [None, 0.2, 0.21, 0.22]


@pytest.mark.slow
def test_weights_come_from_the_theta_of_the_reference_as_in_a_release(workplace):
    """And not from the table itself, which a synthesis refuses as its own reference."""
    found = calibrated(workplace, mechanisms=["censor-w"], epsilon=5.0)
    assert len(found.outcomes) == 4
    assert all(len(outcome.draws) == 2 for outcome in found.outcomes)
    assert found.policy.mechanism == "censor-w"
    assert found.policy.anchor is not None


def test_the_distance_is_the_worse_of_two_measures_and_infinite_without_a_draw():
    one = Closeness(max_ecdf=0.1, total_variation=0.3, mean=0.5, median=None)
    two = Closeness(max_ecdf=0.2, total_variation=0.1, mean=0.1, median=None)
    outcome = Outcome(Setting(mechanism="ph", epsilon=1.0), (one, two))
    assert [draw.distance for draw in outcome.draws] == [0.3, 0.2]
    assert outcome.distance == pytest.approx(0.25)
    assert outcome.spread == pytest.approx(0.1 / 2**0.5)
    assert outcome.average("mean") == pytest.approx(0.3)
    assert outcome.average("median") is None
    nothing = Outcome(Setting(mechanism="ph", epsilon=1.0), ())
    assert nothing.distance == float("inf")
    assert nothing.spread == 0.0


def test_what_is_strict_for_every_model_is_tried_unasked():
    tried = settings(SCHEMA, MODEL, public=True)
    assert {setting.mechanism for setting in tried} == {"summary", "ph"}
    assert len(tried) == len(set(tried)) == 12


def test_where_none_of_these_serves_all_are_tried_that_do(monkeypatch):
    for name in ("summary", "ph"):
        monkeypatch.setattr(BY_NAME[name], "check_serves", refuse)
    tried = settings(SCHEMA, MODEL, public=True)
    assert {setting.mechanism for setting in tried} == {"anchored", "censor-uw", "censor-w"}


def refuse(*arguments, **options):
    raise BadInput("it cannot serve.")


def test_a_public_reference_allows_all_settings():
    tried = settings(SCHEMA, MODEL, public=True, mechanisms=calibrated_names())
    assert len(tried) == len(set(tried)) == 66
    assert [s.epsilon for s in tried] == sorted(s.epsilon for s in tried)


def test_a_confidential_reference_gives_no_weights():
    with pytest.raises(BadInput, match="has to be public"):
        settings(SCHEMA, MODEL, public=False, mechanisms=["censor-w"])


def test_a_histogram_is_tried_only_where_it_can_serve():
    two = us.Schema.from_dict({"table": {"size": 9}, "columns": {"pay": PAY, "tax": PAY}})
    assert settings(SCHEMA, None, public=False)[0].mechanism == "ph"
    with pytest.raises(BadInput, match="ph synthesises exactly one"):
        settings(two, None, public=True, mechanisms=["ph"])
    with pytest.raises(BadInput, match="nothing to try"):
        settings(two, None, public=True)


@pytest.mark.parametrize("name", ["weighted", "unweighted", "anchord"])
def test_what_cannot_be_released_is_refused(name):
    with pytest.raises(BadInput, match="cannot be calibrated"):
        settings(SCHEMA, MODEL, public=True, mechanisms=[name])


def test_with_a_delta_only_what_takes_one_is_tried():
    tried = settings(SCHEMA, MODEL, public=True, epsilons=[1.0], delta=1e-6)
    assert [(each.mechanism, each.delta) for each in tried] == [("summary", 1e-6)]
    with pytest.raises(BadInput, match="anchored does not take `delta`: leave it out"):
        settings(SCHEMA, MODEL, public=True, delta=1e-6, mechanisms=["anchored"])
