"""Calibration tries settings on a reference, chooses by stated rules, and writes a page."""

import hashlib
import html
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from settling import settled
from understudy.cli import run
from understudy.errors import BadInput, Refused
from understudy.ledger.statement import plain
from understudy.periods.calibration.choice import (
    WantedAccuracy,
    best_by_epsilon,
    choose,
    smallest_epsilon,
)
from understudy.periods.calibration.run import _budget
from understudy.periods.calibration.settings import EPSILONS, Setting, settings
from understudy.periods.calibration.sweep import Closeness, Outcome
from understudy.periods.calibration.words import cost
from understudy.periods.policy import Policy
from understudy.privacy.accounting import exact
from understudy.utility import max_ecdf

PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 100]}
SCHEMA = us.Schema.from_dict({"table": {"size": 400}, "columns": {"pay": PAY}})
MODEL = us.beta(SCHEMA)


def outcome(epsilon, distance, mechanism="anchored", **rest):
    measures = {"max_ecdf": distance, "total_variation": None, "mean": 0.01, "median": 0.02} | rest
    return Outcome(Setting(mechanism=mechanism, epsilon=epsilon), (Closeness(**measures),))


GRID = [
    outcome(0.1, 0.20),
    outcome(0.1, 0.15, "ph"),
    outcome(1.0, 0.05),
    outcome(1.0, 0.06, "ph"),
    outcome(5.0, 0.04),
    Outcome(Setting(mechanism="censor-uw", epsilon=5.0), ()),
]
BASELINE = Outcome(None, outcome(1.0, 0.045).draws)


class TestSettings:
    def test_a_public_reference_allows_sixty(self):
        tried = settings(SCHEMA, MODEL, public=True)
        assert len(tried) == len(set(tried)) == 60
        assert [s.epsilon for s in tried] == sorted(s.epsilon for s in tried)

    def test_a_confidential_reference_gives_no_weights(self):
        tried = settings(SCHEMA, MODEL, public=False)
        assert "censor-w" not in {setting.mechanism for setting in tried}
        with pytest.raises(BadInput, match="has to be public"):
            settings(SCHEMA, MODEL, public=False, mechanisms=["censor-w"])

    def test_a_histogram_is_tried_only_where_it_can_serve(self):
        two = us.Schema.from_dict({"table": {"size": 9}, "columns": {"pay": PAY, "tax": PAY}})
        assert settings(SCHEMA, None, public=False)[0].mechanism == "ph"
        with pytest.raises(BadInput, match="ph synthesises exactly one"):
            settings(two, None, public=True, mechanisms=["ph"])
        with pytest.raises(BadInput, match="nothing to try"):
            settings(two, None, public=True)

    @pytest.mark.parametrize("name", ["weighted", "unweighted", "anchord"])
    def test_what_cannot_be_released_is_refused(self, name):
        with pytest.raises(BadInput, match="cannot be calibrated"):
            settings(SCHEMA, MODEL, public=True, mechanisms=[name])


class TestChoice:
    def test_each_epsilon_has_its_best_setting(self):
        best = best_by_epsilon(GRID)
        assert [(e, o.distance) for e, o in best.items()] == [(0.1, 0.15), (1.0, 0.05), (5.0, 0.04)]

    def test_a_stated_epsilon_takes_the_closest_there(self):
        assert choose(GRID, BASELINE, epsilon=0.1).setting.mechanism == "ph"

    def test_a_target_takes_the_smallest_epsilon_that_reaches_it(self):
        assert smallest_epsilon(GRID, WantedAccuracy("max_ecdf", 0.16)).setting.epsilon == 0.1
        wanted = WantedAccuracy("max_ecdf", 0.055)
        assert choose(GRID, BASELINE, target=wanted).setting.epsilon == 1.0
        with pytest.raises(Refused, match=r"max_ecdf = 0.03 is not reached.* the best is 0.04"):
            choose(GRID, BASELINE, target=WantedAccuracy("max_ecdf", 0.03))
        with pytest.raises(Refused, match="total_variation cannot be measured"):
            choose(GRID, BASELINE, target=WantedAccuracy("total_variation", 0.03))

    def test_without_either_it_takes_the_smallest_epsilon_that_loses_little(self):
        assert choose(GRID, BASELINE).setting.epsilon == 1.0
        close = Outcome(None, outcome(1.0, 0.02).draws)
        assert choose(GRID, close).setting.epsilon == 1.0, "0.05 is within a quarter of 0.04"
        assert choose(GRID, None).setting.epsilon == 1.0
        assert choose([*GRID, outcome(5.0, 0.039)], None).setting.epsilon == 5.0

    def test_a_refused_target_tells_nothing_of_a_confidential_reference(self):
        with pytest.raises(Refused, match=r"max_ecdf = 0.03 is not reached at any ε.*Ask") as told:
            choose(GRID, BASELINE, target=WantedAccuracy("max_ecdf", 0.03), public=False)
        assert "0.04" not in str(told.value)

    def test_nothing_that_converged_is_nothing_to_choose(self):
        with pytest.raises(Refused, match="the chains of none converged"):
            choose(GRID[-1:], BASELINE)

    @pytest.mark.parametrize("text", ["max_ecdf", "max_edcf=0.1", "median=a", "mean=0", "mean=nan"])
    def test_a_target_is_a_metric_and_a_number(self, text):
        with pytest.raises(BadInput, match=r"METRIC=VALUE|between 0 and 1"):
            WantedAccuracy.parse(text)


def test_the_cost_is_told_in_words():
    assert cost(outcome(1.0, 0.024, median=0.012, total_variation=0.1)) == (
        "the median is off by 1.2% on average, the mean by 1%, the share of records up to some "
        "value by 2.4 percentage points where it is worst, the share of some levels by 10 "
        "percentage points where it is worst"
    )


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    place = tmp_path_factory.mktemp("work")
    generator = np.random.default_rng(0)
    for name in ("reference", "january"):
        pay = 100 * generator.beta(2, 5, 400)
        pd.DataFrame({"pay": pay}).to_csv(place / f"{name}.csv", index=False)
    (place / "pay.toml").write_text(
        '[table]\nsize = 400\n[columns.pay]\nrole = "confidential"\ntype = "continuous"\n'
        "bounds = [0, 100]\n"
    )
    return place


def calibrated(place, **changes):
    given = {
        "reference_is": "public",
        "schema": place / "pay.toml",
        "model": "beta",
        "mechanisms": ["anchored"],
        "draws": 2,
        "population": "<b>staff</b>",
    }
    return settled(place / "reference.csv", **(given | changes))


@pytest.fixture(scope="module")
def found(workplace):
    return calibrated(workplace)


def test_the_best_setting_becomes_the_policy(found):
    assert found.chosen.distance == min(
        o.distance for o in found.outcomes if o.setting.epsilon == found.policy.epsilon
    )
    assert found.policy.budget == 12 * found.policy.epsilon
    assert set(found.policy.anchor) == {"phi", "lambda"}
    assert len(found.outcomes) == 24


def test_the_measures_are_those_of_the_synthetic_tables(workplace, found):
    """Drawn again by hand: a ladder, then a draw that is anchored at it."""
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


def test_weights_come_from_the_theta_of_the_reference_as_in_a_release(workplace):
    """And not from the table itself, which a synthesis refuses as its own reference."""
    found = calibrated(workplace, mechanisms=["censor-w"], epsilon=5.0)
    assert len(found.outcomes) == 4
    assert all(len(outcome.draws) == 2 for outcome in found.outcomes)
    assert found.policy.mechanism == "censor-w"
    assert found.policy.anchor is not None


def test_a_calibration_can_be_had_again(workplace, found):
    again = calibrated(workplace, epsilon=1.0)
    (same,) = [o for o in found.outcomes if o.setting == again.chosen.setting]
    assert same == again.chosen


def test_a_budget_pays_for_its_periods_exactly():
    """As decimal numbers: in floating point 0.1 * 12 is more than 1.2, 0.3 * 3 less than 0.9."""
    for epsilon in (*EPSILONS, 0.3, 0.7):
        for periods in range(1, 61):
            budget = _budget(None, epsilon, periods)
            assert exact(budget) == periods * exact(epsilon)
    assert plain(_budget(None, 0.1, 12)) == "1.2"


def test_the_page_says_how_many_periods_the_budget_pays_for(workplace, tmp_path):
    found = calibrated(workplace, epsilon=0.3, budget=1.0, draws=1)
    assert found.periods == 3
    text = found.write(tmp_path / "POLICY.toml").read_text()
    assert "A budget of ε = 1 pays for 3 periods" in text
    assert "1 draw each" in text
    assert "± 0" not in text
    command = html.unescape(text)
    assert "--budget 1 --adjacency add-remove --population '<b>staff</b>'" in command


def test_policy_and_page_are_written(found, tmp_path):
    page = found.write(tmp_path / "POLICY.toml")
    read = Policy.load(tmp_path / "POLICY.toml")
    assert read == replace(found.policy, schema="POLICY.schema.toml")
    assert read.load_schema(tmp_path / "POLICY.toml") == found.schema
    text = page.read_text()
    assert "What this assumes" in text
    assert "the median is off by" in text
    assert "<b>staff" not in text, "names are escaped"
    assert "http" not in text.replace("http://www.w3.org", ""), "nothing is loaded from elsewhere"
    assert "do not publish" not in text


def test_a_confidential_reference_leaves_no_theta_and_a_private_page(workplace, tmp_path):
    found = calibrated(workplace, reference_is="confidential", epsilon=1.0, mechanisms=["anchored"])
    assert found.policy.anchor is None
    page = found.write(tmp_path / "POLICY.toml")
    assert page.stat().st_mode & 0o077 == 0
    assert "do not publish" in page.read_text()


@pytest.mark.parametrize("kind", ["public", "confidential"])
def test_the_fingerprint_stays_in_a_file_of_its_own(workplace, tmp_path, kind):
    """The policy holds a digest of that file, and nothing that could be computed from a table."""
    given = {"reference_is": kind, "model": None, "mechanisms": ["ph"], "epsilon": 1.0, "draws": 1}
    found = [calibrated(workplace, **given) for _ in range(2)]
    found[0].write(tmp_path / "POLICY.toml")
    file = tmp_path / "POLICY.reference.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert hashlib.sha256(file.read_bytes()).hexdigest() == found[0].policy.reference_digest
    assert found[0].policy.reference_digest != found[1].policy.reference_digest
    text = (tmp_path / "POLICY.toml").read_text()
    assert not any(str(kept) in text for kept in json.loads(file.read_text()).values())


def test_a_histogram_s_policy_has_neither_model_nor_anchor(workplace, tmp_path):
    found = calibrated(workplace, mechanisms=["ph"], epsilon=1.0)
    assert (found.policy.model, found.policy.anchor) == (None, None)
    found.write(tmp_path / "POLICY.toml")
    assert Policy.load(tmp_path / "POLICY.toml") == replace(
        found.policy, schema="POLICY.schema.toml"
    )


@pytest.mark.parametrize(("kind", "told"), [("public", False), ("confidential", True)])
def test_figures_from_a_confidential_reference_are_called_so(
    workplace, tmp_path, capsys, kind, told
):
    assert run(command(workplace, tmp_path, kind)) == 0
    assert capsys.readouterr().out.startswith("CONFIDENTIAL") is told


def command(workplace, place, kind, *more):
    return [
        "calibrate", str(workplace / "reference.csv"), "--schema", str(workplace / "pay.toml"),
        "--mechanism", "ph", "--epsilon", "1", "--draws", "1",
        "--population", "staff", "-o", str(place / "P.toml"), "--reference-is", kind, *more,
    ]  # fmt: skip


def test_the_files_that_stay_inside_are_named(workplace, tmp_path, capsys):
    policy, page, kept = (str(tmp_path / f"P.{end}") for end in ("toml", "html", "reference.json"))
    assert run(command(workplace, tmp_path, "confidential")) == 0
    told = capsys.readouterr().out
    assert f"May be shared: {policy}\n" in told
    assert f"Stays inside: {kept}, {page}\n" in told
    assert run(command(workplace, tmp_path, "public", "--force")) == 0
    told = capsys.readouterr().out
    assert f"May be shared: {policy}, {page}\n" in told
    assert f"Stays inside: {kept}\n" in told


def test_both_files_are_replaced_together_or_not_at_all(workplace, tmp_path, capsys):
    assert run(command(workplace, tmp_path, "public", "--quiet")) == 0
    files = [tmp_path / "P.toml", tmp_path / "P.reference.json"]
    first = [file.read_bytes() for file in files]
    (tmp_path / "P.html").unlink()
    files[0].rename(tmp_path / "kept")
    assert run(command(workplace, tmp_path, "public", "--quiet")) == 2
    assert "P.reference.json' exists already" in capsys.readouterr().err
    assert not files[0].exists()
    assert run(command(workplace, tmp_path, "public", "--quiet", "--force")) == 0
    assert all(file.read_bytes() != old for file, old in zip(files, first, strict=True))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reference_is": "secret"}, "must be public or confidential"),
        ({"draws": 0}, "draws must be a number"),
        ({"periods": 0.5}, "periods must be a number"),
        ({"target": "ecdf=1"}, "METRIC=VALUE"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"budget": float("nan")}, "positive finite number"),
        ({"budget": 0.0}, "positive finite number"),
        ({"budget": 0.5, "epsilon": 1.0}, "does not pay for one period"),
        ({"population": ""}, "say who is protected"),
        ({"population": "two\nlines"}, "one line of text"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_tried(workplace, changes, reason):
    with pytest.raises(BadInput, match=reason):
        calibrated(workplace, **changes)
