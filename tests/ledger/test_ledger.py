import itertools
import math
import random
import subprocess
import sys

import pytest

from ledgers import ROWS, charge, create, filled
from understudy.errors import BadInput, Refused
from understudy.ledger.ledger import Ledger
from understudy.privacy.accounting import Cost, epsilon_at, exact, rho_within
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.privacy.rounding import at_least, at_most

# What a ledger records ---------------------------------------------------------------------------


def test_a_ledger_keeps_its_settings(place):
    create(place, 2.5, "replace-one", population="earners of 2025", delta=1e-6)
    settings = Ledger.open(place).settings
    assert (settings.budget, settings.delta) == (2.5, 1e-6)
    assert settings.adjacency is Adjacency.REPLACE_ONE
    assert settings.population == "earners of 2025"


def test_charges_and_publications_are_rows_that_stay(place):
    ledger = filled(place)
    entries = Ledger.open(place).entries()
    assert [(entry.number, str(entry.kind), entry.refers_to) for entry in entries] == [
        (1, "charge", None),
        (2, "published", 1),
        (3, "charge", None),
        (4, "published", 3),
        (5, "charge", None),
    ]
    stated = {"kind": "strict", "unit": "row", "membership_protected": True}
    assert entries[0].details == {"period": "2025-01", "theta": {"phi": 0.25}} | stated
    assert entries[0].cost == Cost.of_draw(0.5)
    assert entries[4].label == "2025-03 — März"
    assert all(entry.time.endswith("+00:00") for entry in entries)
    assert [entry.previous for entry in entries[1:]] == [entry.hash for entry in entries[:-1]]
    assert ledger.spent() == Cost(0.875, (0.5**2 + 0.25**2 + 0.125**2) / 8)
    assert ledger.left() == 5 - 0.875
    ledger.verify()


def test_what_charge_and_publish_return_is_what_is_stored(place):
    ledger = create(place)
    entry = charge(ledger, 0.1, numbers=[1, 0.1, -0.0, 1e-300, 2**53], text="ü\u0000\ud800")
    published = ledger.publish(entry)
    assert Ledger.open(place).entries() == (entry, published)
    assert published.refers_to == entry.number
    assert entry.reference == f"entry 1, sha256 {entry.hash}"


def test_a_charge_can_be_published_once_and_only_in_its_own_ledger(place, tmp_path):
    ledger = create(place)
    entry = charge(ledger)
    published = ledger.publish(entry)
    with pytest.raises(BadInput, match=r"entry 1 of .* is published already"):
        ledger.publish(entry)
    with pytest.raises(BadInput, match=r"entry 2 of .* is not a charge"):
        ledger.publish(published)
    with pytest.raises(BadInput, match=r"entry 1 of the ledger '.*other.* is not a charge"):
        create(tmp_path / "other.db").publish(entry)
    assert len(ledger.entries()) == 2


def test_a_charge_can_be_abandoned_once_and_never_published_after(place):
    ledger = create(place)
    entry = charge(ledger)
    ledger.abandon(entry.number)
    with pytest.raises(BadInput, match=r"entry 1 of .* is abandoned already"):
        ledger.abandon(entry.number)
    with pytest.raises(BadInput, match=r"entry 1 of .* was abandoned, so what it paid for cannot"):
        ledger.publish(entry)
    ledger.publish(charge(ledger))
    with pytest.raises(BadInput, match=r"entry 3 of .* is published already"):
        ledger.abandon(3)


def test_the_table_shows_every_charge_its_state_and_what_is_left(tmp_path):
    text = filled(tmp_path / "ledger.db").show()
    lines = text.splitlines()
    heading = ["number", "time", "period", "kind", "ε", "spent", "left", "state"]
    assert lines[0].split() == heading
    assert lines[1].split()[2:] == ["2025-01", "strict", "0.5", "0.5", "4.5", "published"]
    assert lines[2].split()[3:] == ["strict", "0.25", "0.75", "4.25", "published"]
    assert lines[3].endswith("0.125  0.875  4.125  under way, or never finished")
    assert "population: earners" in text
    assert "adjacency:  add-remove" in text
    assert "protects:   each row, membership protected" in text
    assert "provided" not in text
    assert "budget:     ε = 5 at δ = 1e-06" in text
    assert "spent:      ε = 0.875\n" in text
    assert "left:       ε = 4.125\n" in text
    assert len({line.index("0.") for line in lines[1:4]}) == 1


def test_the_table_of_a_new_ledger_has_only_its_heading(tmp_path):
    text = create(tmp_path / "ledger.db", 0.3).show()
    assert "spent:      ε = 0\nzCDP:       ρ = 0\nleft:       ε = 0.3\n" in text
    assert "(not named)" in text


def test_the_table_shows_the_converted_spending_where_it_is_smaller(tmp_path):
    ledger = create(tmp_path / "ledger.db", delta=1e-6)
    ledger.charge(Cost(4.0, 1e-3), label="many small draws", details={}, **ROWS)
    converted = epsilon_at(Cost(4.0, 1e-3), delta=1e-6)
    assert f"spent:      ε = 4, or {at_most(converted)} at δ = 1e-06" in ledger.show()
    assert f"left:       ε = {at_least(5 - converted)}" in ledger.show()


# The budget --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "times", "budget"), [(0.1, 10, 1.0), (0.1, 3, 0.3)])
def test_a_budget_can_be_spent_to_the_last_tenth_and_no_further(place, epsilon, times, budget):
    ledger = create(place, budget)
    for _ in range(times):
        charge(ledger, epsilon)
    assert ledger.left() == 0
    with pytest.raises(Refused, match="0 left; nothing was charged"):
        charge(ledger, 1e-6)
    assert len(ledger.entries()) == times
    assert ledger.spent().epsilon == budget


def test_a_refusal_says_what_was_asked_what_is_spent_and_what_is_left(place):
    ledger = create(place, 1.0)
    charge(ledger, 0.7)
    with pytest.raises(Refused) as caught:
        charge(ledger, 0.4)
    assert str(caught.value) == (
        "this release costs ε = 0.4, which is more than the ledger allows: of its budget of ε = 1 "
        "it has spent 0.7 and has 0.3 left; nothing was charged."
    )
    charge(ledger, 0.3)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_can_be_spent(tmp_path, seed):
    numbers = random.Random(seed)
    ledger = create(tmp_path / "ledger.db", numbers.uniform(1, 2))
    for _ in range(5):
        charge(ledger, numbers.uniform(0, 0.2))
    rest = ledger.left()
    charge(ledger, rest)
    assert 0 <= ledger.left() < 1e-15
    costs = [exact(entry.cost.epsilon) for entry in ledger.entries()]
    assert sum(costs) <= exact(ledger.settings.budget)


def test_a_budget_with_delta_allows_what_composes_within_it(tmp_path):
    cost, delta = Cost.of_draw(0.5), 1e-6
    strict, _ = exhausted(create(tmp_path / "strict.db", 4.0), cost)
    assert strict == 8
    ledger = create(tmp_path / "relaxed.db", 4.0, delta=delta)
    relaxed, sentence = exhausted(ledger, cost)
    assert relaxed > 8
    assert epsilon_at(Cost(1e3, relaxed * cost.rho), delta=delta) <= 4
    assert epsilon_at(Cost(1e3, (relaxed + 1) * cost.rho), delta=delta) > 4
    assert "budget of ε = 4 at δ = 1e-06 it has spent 3." in sentence
    assert 0 < ledger.left() < 0.5


def exhausted(ledger, cost):
    """Charge until it is refused; return how often that went well, and the refusal."""
    for times in itertools.count():
        try:
            ledger.charge(cost, label="monthly", details={}, **ROWS)
        except Refused as error:
            return times, str(error)


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"budget": 0}, "budget must be a positive finite number"),
        ({"budget": math.nan}, "budget must be a positive finite number"),
        ({"budget": "5"}, "budget must be a positive number"),
        ({"budget": True}, "budget must be a positive number"),
        ({"adjacency": "hamming"}, "'add-remove' or 'replace-one'"),
        ({"delta": 0}, "`delta` must be a number between 0 and 1"),
        ({"population": "a\nb"}, "population must be one line"),
        ({"population": None}, "population must be one line"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_created(
    tmp_path, options, match
):
    with pytest.raises(BadInput, match=match):
        create(tmp_path / "ledger.db", **options)
    assert list(tmp_path.iterdir()) == []


PERSONS = ROWS | {"unit": "pid"}
VALUES = ROWS | {"membership": False}


@pytest.mark.parametrize(
    ("first", "second"), list(itertools.permutations([ROWS, PERSONS, VALUES], 2))
)
def test_a_ledger_is_about_what_its_first_charge_is_about(tmp_path, first, second):
    """Charges for rows and for persons were once added up, and so were two kinds of membership."""
    ledger = create(tmp_path / "ledger.db")
    ledger.charge(Cost.of_draw(1.0), label="first", **first)
    with pytest.raises(Refused, match=r"the ledger counts ε for .* but this release protects"):
        ledger.charge(Cost.of_draw(1.0), label="second", **second)
    assert ledger.spent().epsilon == 1.0
    ledger.charge(Cost.of_draw(1.0), label="third", **first)
    assert ledger.spent().epsilon == 2.0


def test_a_ledger_that_was_told_what_it_is_about_refuses_anything_else_from_the_start(tmp_path):
    ledger = create(tmp_path / "ledger.db", unit="pid", membership=True)
    assert "protects:   each 'pid' with all its rows, membership protected" in ledger.show()
    for other in (ROWS, VALUES, PERSONS | {"membership": False}, PERSONS | {"unit": "household"}):
        with pytest.raises(Refused, match="cannot be added"):
            ledger.charge(Cost.of_draw(1.0), label="other", **other)
    ledger.charge(Cost.of_draw(1.0), label="this", **PERSONS)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"membership": "yes"}, "true or false"),
        ({"unit": "", "membership": True}, "must be 'row' or the name of a column"),
        ({"unit": "row", "membership": "yes"}, "true or false"),
        ({"unit": "a\nb", "membership": True}, "one line of text"),
    ],
)
def test_what_a_ledger_is_about_is_said_so_that_it_can_be_read_back(tmp_path, options, match):
    with pytest.raises(BadInput, match=match):
        create(tmp_path / "ledger.db", **options)


def test_what_was_left_open_is_settled_by_the_first_charge(tmp_path):
    ledger = create(tmp_path / "ledger.db", unit="pid")
    assert "protects:   each 'pid' with all its rows, membership open" in ledger.show()
    with pytest.raises(Refused, match="cannot be added"):
        ledger.charge(Cost.of_draw(1.0), label="rows", **ROWS)
    ledger.charge(Cost.of_draw(1.0), label="persons", **PERSONS)
    with pytest.raises(Refused, match="cannot be added"):
        ledger.charge(Cost.of_draw(1.0), label="values", **(PERSONS | {"membership": False}))
    other = create(tmp_path / "other.db", membership=False)
    assert "protects:   a unit still open, membership public" in other.show()
    with pytest.raises(Refused, match="cannot be added"):
        other.charge(Cost.of_draw(1.0), label="rows", **ROWS)
    other.charge(Cost.of_draw(1.0), label="values", **VALUES)


@pytest.mark.parametrize(
    "changes", [{"membership": 1}, {"membership": None}, {"unit": ""}, {"unit": None}]
)
def test_a_charge_that_could_not_be_read_back_is_refused_and_spoils_nothing(tmp_path, changes):
    ledger = create(tmp_path / "ledger.db")
    with pytest.raises(BadInput, match="must be"):
        ledger.charge(Cost.of_draw(1.0), label="odd", **(ROWS | changes))
    charge(ledger)
    ledger.verify()


def test_the_ledger_says_of_which_kind_an_entry_is(tmp_path):
    ledger = create(tmp_path / "ledger.db")
    charge(ledger)
    ledger.charge(Cost.of_draw(1.0), label="chains", **(ROWS | {"kind": Kind.CONDITIONAL}))
    assert [entry.guarantee for entry in ledger.entries()] == [Kind.STRICT, Kind.CONDITIONAL]
    assert "provided:   the Markov chains of entry 2 have converged" in ledger.show()
    with pytest.raises(BadInput, match="asymptotic has no ε to charge"):
        ledger.charge(Cost.of_draw(1.0), label="none", **(ROWS | {"kind": Kind.ASYMPTOTIC}))


@pytest.mark.parametrize(
    ("label", "details", "match"),
    [
        ("", {}, "must not be empty"),
        ("a\x1b[2J", {}, "without control characters"),
        ("\ud800", {}, "without control characters"),
        (None, {}, "must be one line of text"),
        ("x", {"a": math.nan}, "plain JSON"),
        ("x", {"a": [math.inf]}, "plain JSON"),
        ("x", {"a": {1: 2}}, "plain JSON"),
        ("x", {"a": b"bytes"}, "plain JSON"),
        ("x", {"a": 10**400}, "plain JSON"),
        ("x", [1], "must be a JSON object"),
    ],
)
def test_an_entry_that_cannot_be_read_back_is_refused(tmp_path, label, details, match):
    ledger = create(tmp_path / "ledger.db")
    with pytest.raises(BadInput, match=match):
        ledger.charge(Cost.of_draw(1.0), label=label, details=details, **ROWS)
    assert ledger.entries() == ()


def test_a_charge_of_nothing_is_refused(tmp_path):
    with pytest.raises(BadInput, match="costs nothing"):
        create(tmp_path / "ledger.db").charge(Cost(0, 0), label="free", details={}, **ROWS)


def test_a_ledger_that_is_exchanged_for_another_is_refused(tmp_path):
    ledger = create(tmp_path / "ledger.db", 1.0)
    create(tmp_path / "other.db", 9.0)
    (tmp_path / "other.db").replace(tmp_path / "ledger.db")
    with pytest.raises(Refused, match="replaced by another one"):
        charge(ledger, 5.0)


# Imports -----------------------------------------------------------------------------------------


def test_the_ledger_imports_nothing_heavy():
    code = (
        "import sys, understudy.ledger.ledger\n"
        "heavy = {'sqlalchemy', 'dp_accounting', 'pandas', 'scipy', 'jax'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Without a pure ε --------------------------------------------------------------------------------

NORMAL = Cost(None, rho_within(1.0, delta=1e-6))


def test_what_has_no_pure_epsilon_is_refused_by_a_ledger_without_a_delta(place):
    ledger = create(place, 100.0)
    with pytest.raises(Refused, match="created with a δ, or leave out `delta`; nothing was"):
        ledger.charge(NORMAL, label="normal", **ROWS)
    with pytest.raises(Refused, match="created with a δ"):
        ledger.fits(NORMAL)
    assert not ledger.entries()
    charge(ledger)


def test_a_ledger_with_a_delta_counts_its_rho_together_with_that_of_others(place):
    ledger = create(place, 3.0, delta=1e-6)
    charge(ledger, 0.5)
    assert ledger.left() == 2.5
    entry = ledger.charge(NORMAL, label="normal", **ROWS)
    assert entry.cost == NORMAL
    assert ledger.entries()[-1].cost == NORMAL
    together = epsilon_at(Cost(None, 0.5**2 / 8 + NORMAL.rho), delta=1e-6)
    assert ledger.left() == pytest.approx(3 - together)
    times, sentence = exhausted(ledger, NORMAL)
    rhos = 0.5**2 / 8 + (1 + times) * NORMAL.rho
    assert epsilon_at(Cost(None, rhos), delta=1e-6) <= 3
    assert epsilon_at(Cost(None, rhos + NORMAL.rho), delta=1e-6) > 3
    assert "this release costs ε = 1 at δ = 1e-06, which is more than the ledger allows" in sentence
    assert not ledger.fits(NORMAL)
    text = ledger.show()
    assert "1 at δ = 1e-06" in text
    assert "no further release fits at the last price, ε = 1 at δ = 1e-06" in text
    ledger.verify()


def test_the_budget_of_a_release_pays_for_it_once(tmp_path):
    ledger = create(tmp_path / "ledger.db", 1.0, delta=1e-6)
    assert ledger.fits(NORMAL)
    assert exhausted(ledger, NORMAL)[0] == 1
    assert (
        f"spent:      ε = {at_most(epsilon_at(NORMAL, delta=1e-6))} at δ = 1e-06" in ledger.show()
    )


def test_at_a_smaller_delta_a_release_costs_more(tmp_path):
    ledger = create(tmp_path / "ledger.db", 1.0, delta=1e-9)
    assert not ledger.fits(NORMAL)
    with pytest.raises(Refused, match=r"costs ε = 1\.2"):
        ledger.charge(NORMAL, label="normal", **ROWS)
