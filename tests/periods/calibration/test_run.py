"""From a reference to a policy and its files."""

import hashlib
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from ledgers import ROWS, create
from offices import calibrated
from understudy.errors import BadInput
from understudy.ledger.statement import plain
from understudy.periods.calibration.run import _budget, _fitting
from understudy.periods.calibration.sweep import EPSILONS
from understudy.periods.policy import Policy
from understudy.privacy.accounting import HAIR, Cost, exact, rho_within


def test_the_best_setting_becomes_the_policy(found):
    assert found.chosen.distance == min(
        o.distance for o in found.outcomes if o.setting.epsilon == found.policy.epsilon
    )
    assert found.policy.budget == pytest.approx(12 * found.policy.epsilon)
    assert set(found.policy.anchor) == {"phi", "lambda"}
    assert len(found.outcomes) == 24


def test_a_calibration_can_be_had_again(workplace, found):
    again = calibrated(workplace, epsilon=1.0, draws=1)
    (same,) = [o for o in found.outcomes if o.setting == again.chosen.setting]
    assert same == again.chosen


def test_a_budget_pays_for_its_periods_exactly():
    """As decimal numbers: in floating point 0.1 * 12 is more than 1.2, 0.3 * 3 less than 0.9."""
    for epsilon in (*EPSILONS, 0.3, 0.7):
        for periods in range(1, 61):
            budget = _budget(None, epsilon, None, periods)
            assert exact(budget) == periods * exact(epsilon)
    assert plain(_budget(None, 0.1, None, 12)) == "1.2"


@pytest.mark.parametrize("periods", [1, 2, 12])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (5.0, 1e-9)])
def test_with_a_delta_a_budget_pays_for_so_many_periods_by_their_rho(
    tmp_path, epsilon, delta, periods
):
    budget = _budget(None, epsilon, delta, periods)
    assert budget <= periods * epsilon
    assert _fitting(budget, epsilon, delta) == periods
    ledger = create(tmp_path / "ledger.db", budget, delta=delta)
    cost = Cost(None, rho_within(epsilon, delta=delta) * HAIR)
    for _ in range(periods):
        ledger.charge(cost, label="a period", **ROWS)
    assert not ledger.fits(cost)


def test_a_calibration_with_a_delta_becomes_a_policy_with_one(workplace, tmp_path):
    found = calibrated(
        workplace, reference_is="confidential", epsilon=1.0, delta=1e-6, mechanisms=None, draws=1,
        periods=3,
    )  # fmt: skip
    assert {outcome.setting.mechanism for outcome in found.outcomes} == {"summary"}
    assert (found.policy.delta, found.periods) == (1e-6, 3)
    assert 1.7 < found.policy.budget < 2
    page = found.write(tmp_path / "POLICY.toml").read_text()
    assert f"--budget {found.policy.budget} --delta 1e-06" in page
    assert "summary, δ = 1e-06" in page
    assert Policy.load(tmp_path / "POLICY.toml").build(None, None) == us.Summary(
        epsilon=1.0, delta=1e-6
    )


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


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reference_is": "secret"}, "`reference_is` must be public or confidential"),
        ({"draws": 0}, "`draws` must be a number"),
        ({"periods": 0.5}, "`periods` must be a number"),
        ({"target": "ecdf=1"}, "METRIC=VALUE"),
        ({"epsilon": -1.0}, "`epsilon` must be"),
        ({"budget": float("nan")}, "positive finite number"),
        ({"budget": 0.0}, "positive finite number"),
        (
            {"budget": 0.5, "epsilon": 1.0, "model": None, "mechanisms": ["ph"]},
            "does not pay for one period",
        ),
        ({"population": ""}, "say who is protected"),
        ({"population": "two\nlines"}, "one line of text"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_tried(workplace, changes, reason):
    with pytest.raises(BadInput, match=reason):
        calibrated(workplace, **changes)


TOML = """\
[table]
size = 100
[columns.salary]
role = "confidential"
type = "continuous"
bounds = [0, 1000000]
"""

VALUES = 1e6 * np.random.default_rng(11).beta(2, 5, 97)

TABLE = pd.DataFrame({"salary": VALUES})


def test_what_a_calibration_tried_on_a_confidential_table_is_not_shown(tmp_path):
    (tmp_path / "s.toml").write_text(TOML)
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    made = us.calibrate(
        us.Schema.load(tmp_path / "s.toml"),
        tmp_path / "t.csv",
        reference_is="confidential",
        population="us",
        epsilon=1.0,
        draws=1,
    )
    for inside in (made, made.chosen, made.reference, *made.chosen.draws):
        assert repr(inside) == f"<{type(inside).__name__}: confidential, stays inside>"
        with pytest.raises(TypeError, match="confidential"):
            pickle.dumps(inside)
    assert f"{made.chosen.distance:.4g}" not in repr(made.policy)


STAFF = """\
import numpyro
import numpyro.distributions as dist


def staff(pay, n):
    mean = numpyro.sample("mean", dist.Normal(3, 1))
    with numpyro.plate("records", n):
        numpyro.sample("pay", dist.LogNormal(mean, 0.5), obs=pay)
"""


@pytest.mark.slow
def test_a_policy_keeps_no_directory_of_the_model_s_file(workplace, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(STAFF)
    given = {"model": f"{file}:staff", "epsilon": 0.5, "draws": 1, "budget": 2.0}
    found = calibrated(workplace, reference_is="confidential", population="staff", **given)
    assert found.policy.model == "mine.py:staff"
    assert found.policy.model_digest == hashlib.sha256(file.read_bytes()).hexdigest()
    page = found.write(tmp_path / "NEW.toml", schema=workplace / "pay.toml").read_text()
    assert "--out 2026-01 --model path/to/mine.py:staff" in page


def test_balanced_rows_are_tried_and_become_part_of_the_policy(workplace, found):
    balanced = calibrated(workplace, epsilon=1.0, draws=1, balanced=True)
    assert balanced.policy.balanced
    assert not found.policy.balanced
    (before,) = [o for o in found.outcomes if o.setting == balanced.chosen.setting]
    assert before.draws != balanced.chosen.draws
