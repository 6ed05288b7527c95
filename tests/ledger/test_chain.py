"""Whatever is edited in a ledger is found."""

import itertools
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgers import REFUSALS, charge, create, disarm, execute, filled
from understudy.errors import BadInput, Refused
from understudy.ledger.chain import (
    Chain,
    Contents,
    EntryKind,
    _digest,
    canonical_details,
    verified,
)
from understudy.ledger.ledger import Ledger
from understudy.privacy.accounting import Cost

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


def test_details_without_end_are_refused():
    endless = {}
    endless["self"] = endless
    with pytest.raises(BadInput, match="at most 20 deep"):
        canonical_details(endless)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.randoms(use_true_random=False))
def test_details_have_one_text_whatever_their_order_and_survive_it(details, random_):
    text = canonical_details(details)
    keys = random_.sample(list(details), len(details))
    assert canonical_details({key: details[key] for key in keys}) == text
    assert json.loads(text) == details
    assert text.isascii()


def attempts(ledger):
    """Everything that must not work on an edited ledger."""
    return [
        ledger.verify,
        ledger.entries,
        ledger.spent,
        ledger.left,
        ledger.show,
        lambda: charge(ledger, 0.01),
    ]


EDITS = {
    "epsilon": "UPDATE understudy_entries SET epsilon = '0.05' WHERE number = 3",
    "budget": "UPDATE understudy_settings SET budget = '500.0'",
    "delta": "UPDATE understudy_settings SET delta = NULL",
    "last row": "DELETE FROM understudy_entries WHERE number = 5",
    "middle row": "DELETE FROM understudy_entries WHERE number = 3",
    "all rows": "DELETE FROM understudy_entries",
    "head": "UPDATE understudy_head SET count = 4",
    "swapped": "UPDATE understudy_entries SET number = 6 WHERE number = 2",
    "added": "INSERT INTO understudy_entries SELECT 6, kind, time, label, epsilon, rho, details, "
    "refers_to, previous, hash FROM understudy_entries WHERE number = 5",
}


FOUND = {
    "epsilon": "row 3 of the ledger .* was edited",
    "budget": "the settings of the ledger .* were edited",
    "delta": "the settings of the ledger .* were edited",
    "last row": "ends with row 4",
    "middle row": "row 3 of the ledger .* is missing",
    "all rows": "ends with row 0",
    "head": "ends with row 5",
    "swapped": "row 2 of the ledger .* is missing or was renumbered",
    "added": "row 6 of the ledger .* was edited",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_found_by_everything_that_uses_the_ledger(place, edit):
    ledger = filled(place)
    disarm(place)
    execute(place, EDITS[edit])
    for attempt in attempts(ledger):
        with pytest.raises(Refused, match=FOUND[edit]):
            attempt()
    with pytest.raises(Refused, match=FOUND[edit]):
        Ledger.open(place).verify()


def test_an_edit_is_found_even_if_the_hash_of_its_row_is_computed_anew(tmp_path):
    place = str(tmp_path / "ledger.db")
    ledger = filled(place)
    disarm(place)
    intact = Path(place).read_bytes()
    for number, found in ((3, "row 4 of .* does not follow"), (5, "ends with row 5, which is not")):
        Path(place).write_bytes(intact)
        with closing(sqlite3.connect(place)) as connection:
            connection.row_factory = sqlite3.Row
            chosen = "FROM understudy_entries WHERE number = ?"
            row = dict(connection.execute(f"SELECT * {chosen}", (number,)).fetchone())
            del row["hash"]
            forged = _digest(row | {"epsilon": "0.01"})
            connection.execute(
                "UPDATE understudy_entries SET epsilon = '0.01', hash = ? WHERE number = ?",
                (forged, number),
            )
            connection.commit()
        with pytest.raises(Refused, match=found):
            ledger.verify()


def sealed(row, **changes):
    """Return a row with some of its values changed, and the hash that then fits."""
    row = {key: value for key, value in (row | changes).items() if key != "hash"}
    return row | {"hash": _digest(row)}


def forged(ledger, *, settings=None, rows=()):
    """Return the contents of a ledger, rows (by number) changed or added, with every hash anew."""
    contents = ledger._store.read()
    head = sealed(contents.settings, **(settings or {}))
    changed = {row["number"]: row for row in contents.rows}
    for row in rows:
        changed[row["number"]] = changed.get(row["number"], changed[1]) | row
    chained, last = [], head["hash"]
    for row in changed.values():
        chained.append(sealed(row, previous=last))
        last = chained[-1]["hash"]
    return Contents(settings=head, rows=chained, head={"count": len(chained), "hash": last})


def test_a_forgery_that_changes_nothing_passes(tmp_path):
    ledger = filled(tmp_path / "ledger.db")
    assert verified(forged(ledger), name="the ledger") == ledger.chain()


@pytest.mark.parametrize(
    "forgery",
    [
        {"number": 5, "epsilon": "-1.0"},
        {"number": 5, "epsilon": "x"},
        {"number": 5, "epsilon": "None"},
        {"number": 5, "epsilon": "inf"},
        {"number": 5, "epsilon": "none", "rho": "0.0"},
        {"number": 5, "epsilon": "none", "rho": "inf"},
        {"number": 5, "epsilon": "none", "rho": "none"},
        {"number": 5, "kind": "gift"},
        {"number": 5, "details": "{"},
        {"number": 5, "details": '{"kind":"strict","unit":"","membership_protected":true}'},
        {"number": 5, "refers_to": 1},
        {"number": 5, "refers_to": 5},
        {"number": 2, "refers_to": None},
        {"number": 2, "refers_to": 99},
        {"number": 2, "refers_to": 2},
        {"number": 2, "refers_to": 3},
        {"number": 4, "refers_to": 1},
        {"number": 6, "kind": "abandoned", "details": "{}", "refers_to": 1},
    ],
    ids=str,
)
def test_a_forged_row_that_makes_no_sense_is_refused_though_every_hash_fits(tmp_path, forgery):
    ledger = filled(tmp_path / "ledger.db")
    with pytest.raises(Refused, match="holds rows that understudy did not write"):
        verified(forged(ledger, rows=[forgery]), name="the ledger")


def test_a_forged_row_without_a_pure_epsilon_is_refused_in_a_ledger_without_a_delta(tmp_path):
    ledger = filled(tmp_path / "ledger.db")
    row = {"number": 5, "epsilon": "none", "rho": "0.5"}
    chain = verified(forged(ledger, rows=[row]), name="the ledger")
    assert chain.entries[-1].cost == Cost(None, 0.5)
    pure = create(tmp_path / "pure.db")
    charge(pure)
    with pytest.raises(Refused, match="holds rows that understudy did not write"):
        verified(forged(pure, rows=[row | {"number": 2}]), name="the ledger")


@pytest.mark.parametrize(
    "forgery",
    [
        {"budget": "inf"},
        {"budget": "-1.0"},
        {"budget": "nan"},
        {"delta": "2.0"},
        {"adjacency": "hamming"},
        {"population": "a\nb"},
        {"unit": ""},
    ],
    ids=str,
)
def test_forged_settings_that_nobody_could_create_are_refused_though_every_hash_fits(
    tmp_path, forgery
):
    """A budget of inf once passed, and `ledger show` then broke."""
    ledger = filled(tmp_path / "ledger.db")
    with pytest.raises(Refused, match="the settings of the ledger were edited"):
        verified(forged(ledger, settings=forgery), name="the ledger")


def test_only_what_settles_a_charge_says_what_became_of_it(tmp_path):
    """And what was published stays so: a chain that was not verified can say both."""
    whole = filled(tmp_path / "ledger.db").chain()
    charge, published, *_ = whole.entries
    abandoned = replace(published, kind=EntryKind.ABANDONED)
    for entries, state in (
        ([published, abandoned], EntryKind.PUBLISHED),
        ([abandoned], EntryKind.ABANDONED),
        ([replace(charge, refers_to=1)], None),
    ):
        chain = Chain(settings=whole.settings, entries=(charge, *entries), hash=whole.hash)
        assert chain.settled.get(1) is state


CHANGES = ["CAST({column} AS TEXT) || '0'", "'x'", "x'00ff'", "77", "1.5", "'1.0'", "''", "NULL"]


@pytest.mark.parametrize("every_change", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_cell_of_every_row_is_covered_by_the_chain(tmp_path, every_change):
    path = tmp_path / "ledger.db"
    ledger = filled(path)
    disarm(str(path))
    intact = path.read_bytes()
    changed = set()
    for cell, change in itertools.product(cells(path), CHANGES):
        if cell in changed and not every_change:
            continue
        table, column, row = cell
        path.write_bytes(intact)
        with closing(sqlite3.connect(path)) as connection:
            set_ = f"SET {column} = {change.format(column=column)} WHERE rowid = {row}"
            different = f"AND {column} IS NOT {change.format(column=column)}"
            try:
                done = connection.execute(f"UPDATE {table} {set_} {different}").rowcount
            except sqlite3.IntegrityError:  # The type of a key, or a missing value.
                continue
            connection.commit()
        if done:
            changed.add(cell)
            with pytest.raises(REFUSALS, match=str(path)):
                ledger.verify()
    assert changed == set(cells(path))
    assert len(changed) == 5 * 10 + 9 + 2


def cells(path):
    """Return every cell as its table, column and row."""
    with closing(sqlite3.connect(path)) as connection:
        return [
            (table, column, row)
            for table in ("understudy_entries", "understudy_settings", "understudy_head")
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall()
            for (row,) in connection.execute(f"SELECT rowid FROM {table}").fetchall()
            if column != "one"
        ]
