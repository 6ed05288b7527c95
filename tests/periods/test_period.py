"""Periods come in one form, in order, once each, and under one policy."""

from functools import partial

import pytest

import understudy as us
from ledgers import ROWS
from understudy.errors import BadInput, Refused
from understudy.periods.period import Latest, Period, check_next, latest_release
from understudy.privacy.accounting import Cost

SPEC = {"name": "beta"}


def terms(period, **changes):
    return {"period": period, "policy_digest": "p", "schema_digest": "s"} | changes


@pytest.fixture
def ledger(tmp_path):
    return us.Ledger.create(tmp_path / "ledger.db", budget=10.0, adjacency="add-remove")


def charge(ledger, asked):
    return ledger.charge(
        Cost.of_draw(1.0),
        label=asked["period"],
        details=asked,
        check=partial(check_next, asked),
        **ROWS,
    )


def release(ledger, asked, theta=None):
    entry = charge(ledger, asked)
    ledger.publish(entry, details={"theta": theta or {"phi": 0.5}, "model": SPEC})


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026", "year"),
        ("2026-02", "month"),
        ("2026-Q4", "quarter"),
        ("2026-W53", "week"),
        ("2026-12-31", "day"),
    ],
)
def test_a_period_is_one_of_five_forms(text, form):
    assert Period(text).form == form


@pytest.mark.parametrize(
    "text",
    [
        *("", "Feb 2026", "2026-2", "2026-13", "2026-Q5", "2026-W54", "2026-02\n"),
        *("2025-W53", "2026-02-30", "٢٠٢٦-02", "2026-0٣"),
    ],
)
def test_anything_else_is_not_understood(text):
    with pytest.raises(BadInput, match="is not understood: write a year"):
        Period(text)


def test_periods_in_order_are_charged_and_the_latest_theta_is_the_anchor(ledger):
    assert latest_release(ledger.chain()) is None
    release(ledger, terms("2026-01"), {"phi": 0.25})
    release(ledger, terms("2026-03"), {"phi": 0.75})
    assert latest_release(ledger.chain()) == Latest(Period("2026-03"), {"phi": 0.75}, SPEC)
    assert ledger.left() == 8.0


@pytest.mark.parametrize(
    ("next_", "reason"),
    [
        (terms("2026-02"), r"period 2026-02 \(released as entry 1 .* cannot be released twice"),
        (terms("2026-01"), "out of order"),
        (terms("2026-Q2"), "is a month, and 2026-Q2 is a quarter"),
        (terms("2026-03", policy_digest="q"), "had another policy"),
        (terms("2026-03", schema_digest="t"), "had another schema"),
    ],
)
def test_what_must_not_come_next_is_refused_and_costs_nothing(ledger, next_, reason):
    release(ledger, terms("2026-02"))
    with pytest.raises(Refused, match=reason):
        charge(ledger, next_)
    assert ledger.spent().epsilon == 1.0


def test_a_charge_without_publication_blocks_until_it_is_called_abandoned(ledger):
    charge(ledger, terms("2026-01"))
    for period in ("2026-01", "2026-02"):
        with pytest.raises(Refused, match=r"under way, or never finished.*`Ledger\.abandon\(1\)"):
            charge(ledger, terms(period))
    ledger.abandon(1)
    release(ledger, terms("2026-01"), {"phi": 0.1})
    assert ledger.spent().epsilon == 2.0, "what was charged stays charged"
    assert latest_release(ledger.chain()) == Latest(Period("2026-01"), {"phi": 0.1}, SPEC)
    release(ledger, terms("2026-02"), {"phi": 0.2})
    assert latest_release(ledger.chain()) == Latest(Period("2026-02"), {"phi": 0.2}, SPEC), (
        "told once"
    )


def test_what_was_abandoned_cannot_be_published_any_more(ledger):
    entry = charge(ledger, terms("2026-04"))
    ledger.abandon(entry.number)
    release(ledger, terms("2026-02"), {"phi": 0.3})
    shown = []
    with pytest.raises(BadInput, match=r"entry 1 of .* was abandoned"):
        ledger.publish(entry, details={"theta": {}}, appear=lambda: shown.append("visible"))
    assert shown == []
    assert latest_release(ledger.chain()) == Latest(Period("2026-02"), {"phi": 0.3}, SPEC)


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "published already"), (2, "not a charge"), (9, "not a charge")]
)
def test_only_a_charge_without_publication_can_be_abandoned(ledger, number, reason):
    release(ledger, terms("2026-01"))
    before = ledger.entries()
    with pytest.raises(BadInput, match=reason):
        ledger.abandon(number)
    assert ledger.entries() == before


def test_a_release_that_cannot_appear_is_not_published(ledger):
    entry = charge(ledger, terms("2026-01"))

    def fail():
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        ledger.publish(entry, appear=fail)
    assert len(ledger.entries()) == 1
    ledger.publish(entry)


def test_releases_without_a_period_are_nobody_s_anchor(ledger):
    ledger.publish(
        ledger.charge(Cost.of_draw(1.0), label="one of a kind", details={}, **ROWS),
        details={"theta": {"phi": 0.9}},
    )
    assert latest_release(ledger.chain()) is None
    release(ledger, terms("2026-01"))
