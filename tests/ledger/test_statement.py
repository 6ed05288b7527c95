"""The statement of a ledger: exact totals, and a warning while there is still time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ledgers import ROWS
from understudy.errors import Refused
from understudy.ledger.ledger import Ledger
from understudy.ledger.statement import FEW_RELEASES, FURTHEST, statement_of
from understudy.privacy.accounting import Cost, epsilon_at


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "l.db", budget=1.2, adjacency="add-remove", population="us")


def released(ledger, epsilon, period=None, label="a release"):
    details = {} if period is None else {"period": period}
    entry = ledger.charge(Cost.of_draw(epsilon), label=label, details=details, **ROWS)
    ledger.publish(entry)
    return entry


def test_twelve_months_at_a_tenth_cost_exactly_twelve_tenths(ledger):
    for month in range(1, 13):
        released(ledger, 0.1, f"2026-{month:02}")
    statement = statement_of(ledger)
    assert [item.name for item in statement.items] == [f"2026-{month:02}" for month in range(1, 13)]
    assert [item.spent for item in statement.items] == [Fraction(k, 10) for k in range(1, 13)]
    assert [item.left for item in statement.items[::5]] == [1.1, 0.6, 0.1]
    assert (statement.spent, statement.left, statement.more) == (Fraction(6, 5), 0.0, 0)
    assert statement.cost.rho == pytest.approx(12 * 0.01 / 8)
    with pytest.raises(Refused):
        released(ledger, 0.1)


def test_a_ledger_without_charges_has_no_outlook(ledger):
    statement = statement_of(ledger)
    assert (statement.items, statement.spent, statement.left, statement.more) == ((), 0, 1.2, None)
    assert statement.outlook is None
    assert statement.warning is None
    assert "left:       ε = 1.2\n" in str(statement)


def test_an_entry_is_called_by_its_period_or_else_by_its_label(ledger):
    released(ledger, 0.1, "2026-01", label="draft")
    released(ledger, 0.1, label="special table")
    # Nothing that a terminal obeys, and nothing that is no name.
    for odd in ("\x1b[2J", "", 7, ["2026"]):
        released(ledger, 0.1, odd, label="odd")
    assert [item.name for item in statement_of(ledger).items] == [
        "2026-01",
        "special table",
        *["odd"] * 4,
    ]


def test_the_statement_warns_while_a_few_releases_still_fit(ledger):
    entry = released(ledger, 0.3)
    statement = statement_of(ledger)
    assert (statement.more, statement.warning) == (FEW_RELEASES, None)
    assert "WARNING" not in str(statement)
    released(ledger, 0.3)
    assert statement_of(ledger).more == 2
    assert "2 more releases fit at the last price, ε = 0.3" in statement_of(ledger).warning
    released(ledger, 0.3)
    assert "1 more release fits" in str(statement_of(ledger))
    released(ledger, 0.3)
    assert "no further release fits" in statement_of(ledger).warning
    assert str(statement_of(ledger)).count("WARNING") == 1
    assert statement_of(ledger, until=entry) == statement_of(ledger, until=entry)


def test_a_statement_ends_with_the_release_that_a_report_is_about(ledger):
    first, second = (released(ledger, 0.2, name) for name in ("a", "b"))
    assert [item.state for item in statement_of(ledger).items] == ["published", "published"]
    until = statement_of(ledger, until=first)
    assert [(item.name, item.state) for item in until.items] == [("a", "this release")]
    assert until.left == 1.0
    assert [item.state for item in statement_of(ledger, until=second).items] == [
        "published",
        "this release",
    ]


def test_what_was_charged_and_never_seen_stays_spent(ledger):
    ledger.charge(Cost.of_draw(0.5), label="lost", details={}, **ROWS)
    (item,) = statement_of(ledger).items
    assert item.state == "under way, or never finished"
    assert statement_of(ledger).left == 0.7


def test_the_concentrated_total_is_told_at_the_ledgers_delta_or_at_a_usual_one(tmp_path, ledger):
    for _ in range(3):
        ledger.charge(Cost(0.3, 1e-5), label="x", details={}, **ROWS)
    statement = statement_of(ledger)
    assert statement.delta == 1e-6
    assert statement.converted == epsilon_at(Cost(0.9, 3e-5), delta=1e-6)
    assert statement.converted < 0.9
    told = dict(statement.facts)["zCDP"]
    epsilon = f"{statement.converted:.6g}"
    assert told == f"ρ = 3e-05, or ε = {epsilon} at δ = 1e-06, which a pure budget does not count"
    other = Ledger.create(tmp_path / "o.db", budget=1.2, adjacency="add-remove", delta=1e-9)
    other.charge(Cost(0.3, 1e-5), label="x", details={}, **ROWS)
    statement = statement_of(other)
    assert statement.delta == 1e-9
    assert "pure" not in dict(statement.facts)["zCDP"]
    assert dict(statement.facts)["spent"].endswith(" at δ = 1e-09")


def test_a_concentrated_total_that_says_no_more_is_not_converted(ledger):
    released(ledger, 0.1)
    assert dict(statement_of(ledger).facts)["zCDP"] == "ρ = 0.00125"


def test_nobody_plans_a_thousand_releases(ledger):
    released(ledger, 0.001)
    assert statement_of(ledger).more == FURTHEST
    assert "1,000 or more" in statement_of(ledger).outlook


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize(
    "price",
    [0.11, 0.31, 1.3, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.05, 0.07, 0.9))],
)
def test_as_many_releases_fit_as_the_ledger_then_accepts(tmp_path, delta, price):
    place = tmp_path / "l.db"
    ledger = Ledger.create(place, budget=1.3, adjacency="replace-one", delta=delta)
    ledger.charge(Cost(price, price**2 / 800), label="first", details={}, **ROWS)
    expected = statement_of(ledger).more
    accepted = 0
    while accepted < 40:
        try:
            ledger.charge(Cost(price, price**2 / 800), label="next", details={}, **ROWS)
        except Refused:
            break
        accepted += 1
    assert accepted == min(expected, 40)
