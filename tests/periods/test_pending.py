"""A period's release: from policy and ledger."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from offices import arguments, entries
from settling import settled
from understudy.cli import run
from understudy.domain import reading
from understudy.periods.pending import PendingRelease
from understudy.privacy.assumptions import ORIGINS


@pytest.fixture(scope="module")
def inside(tmp_path_factory, prepared):
    """A policy that was calibrated on a confidential reference, with a column that is ignored."""
    place = tmp_path_factory.mktemp("inside")
    text = (prepared / "pay.toml").read_text() + '[columns.note]\nrole = "ignore"\n'
    (place / "pay.toml").write_text(text)
    for number in range(2):
        table = pd.read_csv(prepared / f"{number}.csv").assign(note=range(120))
        table.to_csv(place / f"{number}.csv", index=False)
    settled(
        place / "0.csv", reference_is="confidential", schema=place / "pay.toml", model="beta",
        epsilon=0.5, mechanisms=["anchored"], draws=1, population="staff",
        budget=2.0,
    ).write(place / "POLICY.toml", schema=place / "pay.toml")  # fmt: skip
    return place


def test_the_first_period_starts_from_a_public_reference_or_from_nothing(office):
    issue = PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db")
    assert issue.mechanism.anchor == issue.policy.anchor
    inside = replace(issue.policy, reference_is="confidential", anchor=None)
    inside.write(office / "INSIDE.toml")
    shutil.copy(office / "POLICY.reference.json", office / "INSIDE.reference.json")
    inside = PendingRelease.of(office / "INSIDE.toml", "2026-01", office / "ledger.db")
    assert inside.mechanism.anchor is None
    assert inside.anchor == "none: it starts from nothing"


def test_a_period_that_came_in_between_is_the_anchor_or_nothing_is(office):
    """February was prepared before January was published, so its anchor would be an older one."""
    february = PendingRelease.of(office / "POLICY.toml", "2026-02", office / "ledger.db")
    assert run(arguments(office, "2026-01")) == 0
    before = entries(office)
    with pytest.raises(us.Refused, match="another period was released since"):
        february.release(office / "2.csv")
    assert entries(office) == before


def test_the_reference_is_known_again_where_it_is_read_part_by_part(office, monkeypatch):
    monkeypatch.setattr(reading, "_LETTER", 2**40)
    pending = PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db")
    summed = replace(pending, mechanism=us.Summary(epsilon=0.5))
    assert summed.quote(office / "1.csv").fits
    (office / "parts").mkdir()
    reference = pd.read_csv(office / "0.csv").sample(frac=1, random_state=0)
    reference[:50].to_csv(office / "parts" / "a.csv", index=False)
    reference[50:].to_csv(office / "parts" / "b.csv", index=False)
    with pytest.raises(us.Refused, match="the table that the policy was calibrated on"):
        summed.quote(office / "parts")


def test_a_quote_is_what_the_release_then_costs(office):
    pending = PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db")
    quote = pending.quote(office / "1.csv")
    assert (quote.cost.epsilon, quote.spent.epsilon, quote.left) == (0.5, 0.0, 2.0)
    assert quote.fits
    assert "ε = 0.5 under add-remove" in str(quote)
    assert not entries(office)
    made = us.release(
        office / "POLICY.toml", office / "1.csv", period="2026-01", ledger=office / "ledger.db"
    )
    (charge,) = entries(office)
    assert charge.cost.epsilon == 0.5
    assert charge.details["anchor"] == "θ of the policy's public reference"
    assert (made.guarantee.period, made.guarantee.population) == ("2026-01", "staff")
    with pytest.raises(us.Refused, match="under way, or never finished"):
        PendingRelease.of(office / "POLICY.toml", "2026-02", office / "ledger.db")
    made.write(office / "out")
    following = PendingRelease.of(office / "POLICY.toml", "2026-02", office / "ledger.db")
    assert following.mechanism.anchor == made.parameters[0]["parameters"]


def test_a_policy_with_a_delta_is_released_from_a_ledger_with_the_same_one(office):
    """Two periods at ε = 1 fit 1.6 at δ = 10⁻⁶, which two pure ones would not."""
    issue = PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db")
    changes = {"mechanism": "summary", "threshold": None, "epsilon": 1.0, "budget": 1.6}
    replace(issue.policy, delta=1e-6, **changes).write(office / "POLICY.toml")
    with pytest.raises(us.Refused, match=r"with ε = 1\.6 and δ = 1e-06: use a ledger"):
        PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db")
    settings = {"budget": 1.6, "adjacency": "add-remove", "population": "staff", "delta": 1e-6}
    ledger = us.Ledger.create(office / "normal.db", **settings)
    for period in ("2026-01", "2026-02"):
        pending = PendingRelease.of(office / "POLICY.toml", period, ledger)
        quote = pending.quote(office / "1.csv")
        assert quote.fits
        assert "would spend:  ε = 1 at δ = 1e-06 under add-remove\n" in str(quote)
        made = pending.release(office / "1.csv")
        assert (made.guarantee.delta, made.guarantee.epsilon["add-remove"]) == (1e-6, 1.0)
        assert made.guarantee.stages == 1, "the anchor is the policy's, or January's"
        assert ORIGINS["release"] in made.guarantee.assumptions
        assert ORIGINS["carried"] not in made.guarantee.assumptions
        made.write(office / period)
    third = PendingRelease.of(office / "POLICY.toml", "2026-03", ledger).quote(office / "1.csv")
    assert not third.fits
    assert "it would be refused" in str(third)


def test_a_policy_s_rows_may_be_balanced(office):
    policy = PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db").policy
    replace(policy, balanced=True).write(office / "POLICY.toml")
    for period, table in (("2026-01", 1), ("2026-02", 2)):
        made = us.release(
            office / "POLICY.toml", office / f"{table}.csv", period=period,
            ledger=office / "ledger.db",
        )  # fmt: skip
        assert made.parameters[0]["balanced"] is True
        assert "The rows are balanced" in str(made.guarantee)
        made.write(office / period)


@pytest.mark.slow
def test_a_whole_table_goes_on_from_the_groups_of_the_period_before(tmp_path):
    """Groups are θ's own, so the ledger keeps the model with it, and the report compares."""
    generator = np.random.default_rng(0)
    declared = {"role": "confidential", "type": "categorical", "levels": ["F", "M"]}
    text = (
        "[table]\nsize = 400\n"
        '[columns.pay]\nrole = "confidential"\ntype = "continuous"\nbounds = [0, 100]\n'
        '[columns.sex]\nrole = "confidential"\ntype = "categorical"\nlevels = ["F", "M"]\n'
    )
    (tmp_path / "pay.toml").write_text(text)
    for number in range(3):
        sex = generator.choice(declared["levels"], 400)
        pay = 100 * generator.beta(2, np.where(sex == "F", 6, 4))
        pd.DataFrame({"pay": pay, "sex": sex}).to_csv(tmp_path / f"{number}.csv", index=False)
    settled(
        tmp_path / "0.csv", reference_is="public", schema=tmp_path / "pay.toml", model="joint",
        epsilon=1.0, mechanisms=["summary"], draws=1, population="staff", budget=2.0,
    ).write(tmp_path / "POLICY.toml", schema=tmp_path / "pay.toml")  # fmt: skip
    ledger = us.Ledger.create(
        tmp_path / "ledger.db", budget=2.0, adjacency="add-remove", population="staff"
    )
    spec = {"name": "joint", "order": ["sex", "pay"]}
    for number in (1, 2):
        pending = PendingRelease.of(tmp_path / "POLICY.toml", f"2026-0{number}", ledger)
        made = pending.release(tmp_path / f"{number}.csv")
        made.write(tmp_path / f"out{number}")
        assert made.guarantee.stages == 1, "the reference is an anchor, too"
        assert pending.mechanism.anchor["model"].items() >= spec.items()
    first, second = (us.read_anchor(tmp_path / f"out{k}/public", pending.model) for k in (1, 2))
    assert pending.mechanism.anchor["parameters"] == first["parameters"] != second["parameters"]
    assert "2026-01" in (tmp_path / "out2/internal/report.html").read_text("utf-8")
