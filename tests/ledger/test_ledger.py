import itertools
import json
import math
import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import postgresql_server
from ledgers import ROWS
from understudy.errors import BadInput, Refused
from understudy.ledger import store as ledger_store
from understudy.ledger.chain import Contents, EntryKind, _digest, canonical_details, verified
from understudy.ledger.ledger import Ledger
from understudy.ledger.tables import METADATA
from understudy.privacy.accounting import Cost, epsilon_at, exact
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.privacy.rounding import at_least, at_most

WORKER = Path(__file__).parents[1] / "ledger_worker.py"
REFUSALS = (BadInput, Refused)


@pytest.fixture(scope="session")
def server():
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if postgresql_server.why_not():
        pytest.skip(postgresql_server.why_not())
    with postgresql_server.running() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a ledger can be created: each test runs in a file and on a server."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return new_database(request.getfixturevalue("server"))


_numbers = itertools.count()


def new_database(url):
    """Return the URL of a schema of its own, which can hold a ledger beside others."""
    name = f"test_{next(_numbers)}"
    execute(url, f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


def execute(place, *statements):
    """Run statements behind the ledger's back."""
    import sqlalchemy

    url = place if "://" in place else f"sqlite:///{place}"
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def disarm(place):
    """Drop what keeps rows from being changed, as somebody who edits them on purpose would."""
    for table, verb in itertools.product(METADATA.tables, ("UPDATE", "DELETE")):
        on = f" ON {table}" if "://" in place else ""
        execute(place, f"DROP TRIGGER {table}_{verb}{on}")


def create(place, budget=5.0, adjacency="add-remove", **options):
    return Ledger.create(place, budget=budget, adjacency=adjacency, **options)


def charge(ledger, epsilon=1.0, label="a release", **details):
    return ledger.charge(Cost.of_draw(epsilon), label=label, details=details, **ROWS)


def filled(place):
    """Return a ledger with three charges, of which two are published."""
    ledger = create(place, population="earners", delta=1e-6)
    first = charge(ledger, 0.5, "2025-01", period="2025-01", theta={"phi": 0.25})
    ledger.publish(first)
    ledger.publish(charge(ledger, 0.25, "2025-02"))
    charge(ledger, 0.125, "2025-03 — März")
    return ledger


def work(action, place, directory, count):
    directory.mkdir()
    done = subprocess.run(
        [sys.executable, WORKER, action, place, directory, str(count)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


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


def test_two_processes_never_overspend_together(place, tmp_path):
    """Fifty processes charge and publish at once against a budget for five."""
    ledger = create(place, 5.0)
    outcomes = Counter(work("race", place, tmp_path / "out", 50))
    assert outcomes.pop("done") == 5
    [(sentence, count)] = outcomes.items()
    assert count == 45
    assert "of its budget of ε = 5 it has spent 5 and has 0 left; nothing was charged." in sentence
    ledger.verify()
    assert ledger.left() == 0
    labels = Counter(entry.label for entry in ledger.entries())
    visible = {path.parent.name for path in (tmp_path / "out").glob("*/public")}
    assert len(visible) == 5
    assert labels == dict.fromkeys(visible, 2)


@pytest.mark.parametrize(
    ("place", "times"), [("sqlite", 100), ("postgresql", 25)], indirect=["place"]
)
def test_killing_at_any_moment_never_leaves_an_uncharged_release(place, tmp_path, times):
    ledger = create(place, 1000.0)
    ended = work("kill", place, tmp_path / "out", times)
    assert len(ended) == times
    ledger.verify()
    entries = ledger.entries()
    charged = {entry.label: entry.number for entry in entries if entry.kind is EntryKind.CHARGE}
    published = {entry.label for entry in entries if entry.kind is EntryKind.PUBLISHED}
    moments = Counter()
    for number in range(times):
        name = f"out-{number}"
        visible = (tmp_path / "out" / name / "public").exists()
        assert name in charged or not visible, "visible, but not charged"
        assert visible or name not in published, "published, but not visible"
        if name not in charged:
            moments["before"] += 1
        elif name not in published:
            moments["inside, visible" if visible else "inside"] += 1
        else:
            moments["after"] += 1
        assert not ended[number] or name in published
    assert min(moments[moment] for moment in ("before", "inside", "after")) > 0, moments
    assert ledger.spent().epsilon == len(charged)
    assert ledger.show().count("under way, or never finished") == len(set(charged) - published)


def test_an_interrupted_charge_is_not_charged(place, monkeypatch):
    ledger = create(place)
    append = ledger_store.LedgerStore.append

    def interrupted(connection, row):
        append(connection, row)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ledger_store.LedgerStore, "append", staticmethod(interrupted))
        with pytest.raises(KeyboardInterrupt):
            charge(ledger)
    assert ledger.entries() == ()
    charge(ledger)
    ledger.verify()


def test_a_ledger_that_is_kept_busy_is_refused_after_a_while(place, monkeypatch):
    ledger = create(place)
    monkeypatch.setattr(ledger_store, "WAIT_SECONDS", 0.2)
    with ledger._store.writing(), pytest.raises(Refused, match=r"busy .* 0\.2 seconds; nothing"):
        charge(ledger)
    charge(ledger)
    assert len(ledger.entries()) == 1


def test_a_ledger_can_be_read_while_another_process_writes(place):
    ledger = create(place)
    charge(ledger)
    with ledger._store.writing():
        assert len(Ledger.open(place).entries()) == 1


def test_a_commit_waits_for_the_disk(place):
    with create(place)._store.writing() as connection:
        if "://" in place:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        else:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"budget": 0}, "budget must be a positive finite number"),
        ({"budget": math.nan}, "budget must be a positive finite number"),
        ({"budget": "5"}, "budget must be a positive number"),
        ({"budget": True}, "budget must be a positive number"),
        ({"adjacency": "hamming"}, "'add-remove' or 'replace-one'"),
        ({"delta": 0}, "delta must be a number between 0 and 1"),
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


@pytest.mark.parametrize("changes", [{"membership": 1}, {"membership": None}, {"unit": ""}])
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


def test_details_without_end_are_refused():
    endless = {}
    endless["self"] = endless
    with pytest.raises(BadInput, match="at most 20 deep"):
        canonical_details(endless)


def test_a_charge_of_nothing_is_refused(tmp_path):
    with pytest.raises(BadInput, match="costs nothing"):
        create(tmp_path / "ledger.db").charge(Cost(0, 0), label="free", details={}, **ROWS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(), JSON, max_size=4), st.randoms(use_true_random=False))
def test_details_have_one_text_whatever_their_order_and_survive_it(details, random_):
    text = canonical_details(details)
    keys = random_.sample(list(details), len(details))
    assert canonical_details({key: details[key] for key in keys}) == text
    assert json.loads(text) == details
    assert text.isascii()


def test_a_ledger_is_never_replaced(place):
    ledger = create(place)
    charge(ledger)
    with pytest.raises(BadInput, match=r"a ledger is never replaced"):
        create(place)
    assert len(ledger.entries()) == 1


def test_of_many_who_create_a_ledger_at_once_one_succeeds(place):
    def attempt(budget):
        try:
            return create(place, budget).settings.budget
        except BadInput:
            return None

    with ThreadPoolExecutor(8) as pool:
        created = [budget for budget in pool.map(attempt, range(1, 9)) if budget is not None]
    assert created == [Ledger.open(place).settings.budget]


def test_only_the_owner_can_read_a_ledger_file(tmp_path):
    create(tmp_path / "ledger.db")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]
    assert stat.S_IMODE((tmp_path / "ledger.db").stat().st_mode) == 0o600


def test_a_path_may_hold_anything_that_a_name_may(tmp_path):
    path = tmp_path / "a?mode=memory#50% ünï \\ 'x'.db"
    charge(create(path))
    assert len(Ledger.open(path).entries()) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_ledger_is_refused_and_not_created(tmp_path):
    with pytest.raises(BadInput, match="there is no ledger"):
        Ledger.open(tmp_path / "ledger.db")
    with pytest.raises(BadInput, match="cannot be created: No such file or directory"):
        create(tmp_path / "missing" / "ledger.db")
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_vanishes_is_refused_and_not_created_anew(tmp_path):
    ledger = create(tmp_path / "ledger.db")
    (tmp_path / "ledger.db").unlink()
    with pytest.raises(BadInput, match="unable to open database file"):
        charge(ledger)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_is_exchanged_for_another_is_refused(tmp_path):
    ledger = create(tmp_path / "ledger.db", 1.0)
    create(tmp_path / "other.db", 9.0)
    (tmp_path / "other.db").replace(tmp_path / "ledger.db")
    with pytest.raises(Refused, match="replaced by another one"):
        charge(ledger, 5.0)


def test_what_is_not_a_ledger_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "ledger.db"
    path.touch()
    with pytest.raises(BadInput, match="is not a ledger"):
        Ledger.open(path)
    assert path.read_bytes() == b""
    path.write_text("number,label\n" * 1000)
    with pytest.raises(BadInput, match="file is not a database"):
        Ledger.open(path)
    assert path.read_text() == "number,label\n" * 1000
    path.unlink()
    execute(str(path), "CREATE TABLE t (x INTEGER)")
    with pytest.raises(BadInput, match="is not a ledger"):
        Ledger.open(path)
    path.unlink()
    path.mkdir()
    for call in (Ledger.open, create):
        with pytest.raises(BadInput, match=r"is not a file|exists already"):
            call(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_a_ledger_without_permission_is_refused(tmp_path):
    ledger = create(tmp_path / "ledger.db")
    (tmp_path / "ledger.db").chmod(0)
    with pytest.raises(BadInput, match="cannot be used"):
        charge(ledger)


def test_a_format_of_another_version_is_refused(place):
    filled(place)
    disarm(place)
    execute(place, "UPDATE understudy_settings SET schema_version = 3")
    with pytest.raises(BadInput, match="has format 3, and this understudy knows only format 2"):
        Ledger.open(place)


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("mysql://user:hunter2@host/db", "not at mysql://"),
        ("sqlite:///ledger.db", "given by its path"),
        ("postgresql+asyncpg://host/db", r"not at postgresql\+asyncpg://"),
        ("://", "URL cannot be read"),
        ("postgresql+psycopg://u:hunter2@host:port/db", "URL cannot be read"),
        ("postgresql+psycopg://u:hunter2@/db?host=/nonexistent", "No such file or directory"),
        ("postgresql://u@/db?host=/nonexistent&password=hunter2", "No such file or directory"),
    ],
)
def test_a_url_that_leads_nowhere_gets_a_sentence_without_its_password(url, match):
    if "asyncpg" not in url:
        pytest.importorskip("psycopg", reason="psycopg is not installed")
    for call in (Ledger.open, create):
        with pytest.raises(BadInput, match=match) as caught:
            call(url)
        assert "hunter2" not in str(caught.value)


def test_a_missing_driver_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadInput, match=r"pip install 'understudy\[postgresql\]'"):
        Ledger.open("postgresql+psycopg://host/db")


def test_a_database_without_a_ledger_is_refused(server):
    place = new_database(server)
    with pytest.raises(BadInput, match="is not a ledger"):
        Ledger.open(place)


# Editing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE understudy_entries SET epsilon = '0.1'",
        "DELETE FROM understudy_entries WHERE number = 5",
        "UPDATE understudy_settings SET budget = '100.0'",
        "DELETE FROM understudy_settings",
        "UPDATE understudy_head SET count = 4",
        "UPDATE understudy_head SET count = 7",
        "DELETE FROM understudy_head",
    ],
)
def test_the_database_itself_refuses_to_change_rows(place, statement):
    import sqlalchemy

    ledger = filled(place)
    with pytest.raises(sqlalchemy.exc.DBAPIError, match="the ledger is append-only"):
        execute(place, statement)
    ledger.verify()


def test_a_server_refuses_to_empty_the_tables(server):
    import sqlalchemy

    place = new_database(server)
    ledger = filled(place)
    for table in ("entries", "settings", "head"):
        with pytest.raises(sqlalchemy.exc.DBAPIError, match="the ledger is append-only"):
            execute(place, f"TRUNCATE understudy_{table}")
    ledger.verify()


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


@pytest.mark.parametrize(
    "forgery", [{"epsilon": "-1.0"}, {"epsilon": "x"}, {"kind": "gift"}, {"details": "{"}]
)
def test_a_forged_row_that_makes_no_sense_is_refused_though_every_hash_fits(tmp_path, forgery):
    contents = filled(tmp_path / "ledger.db")._store.read()
    *rows, last = contents.rows
    last = {key: value for key, value in (last | forgery).items() if key != "hash"}
    last["hash"] = _digest(last)
    forged = Contents(
        settings=contents.settings,
        rows=[*rows, last],
        head={"count": contents.head["count"], "hash": last["hash"]},
    )
    with pytest.raises(Refused, match="holds rows that understudy did not write"):
        verified(forged, name="the ledger")


CHANGES = ["CAST({column} AS TEXT) || '0'", "'x'", "x'00ff'", "77", "1.5", "'1.0'", "''", "NULL"]


def test_every_cell_of_every_row_is_covered_by_the_chain(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = filled(path)
    disarm(str(path))
    intact = path.read_bytes()
    changed = set()
    for cell, change in itertools.product(cells(path), CHANGES):
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


# Damage ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    path = tmp_path_factory.mktemp("intact") / "ledger.db"
    ledger = filled(path)
    return path.read_bytes(), ledger.settings, ledger.entries()


def test_a_truncated_ledger_is_refused_and_left_alone(tmp_path, intact):
    contents, _, _ = intact
    path = tmp_path / "ledger.db"
    lengths = {*range(0, len(contents), 509), *range(0, len(contents), 1024), len(contents) - 1}
    for length in sorted(lengths):
        path.write_bytes(contents[:length])
        with pytest.raises(REFUSALS, match="the ledger"):
            Ledger.open(path).verify()
        assert path.read_bytes() == contents[:length]


def test_flipped_bytes_are_refused_or_change_nothing(tmp_path, intact):
    contents, settings, entries = intact
    numbers = random.Random(11)
    used = [place for place, byte in enumerate(contents) if byte]
    outcomes = Counter()
    for attempt in range(800):
        place = numbers.choice(used) if attempt % 4 else numbers.randrange(len(contents))
        damaged = bytearray(contents)
        damaged[place] ^= 1 << numbers.randrange(8) if attempt % 2 else numbers.randrange(1, 256)
        path = tmp_path / f"{attempt}.db"
        path.write_bytes(damaged)
        found, sentence = read_if_intact(path)
        outcomes[found is None] += 1
        if found is None:
            assert str(path) in sentence
            assert path.read_bytes() == damaged
        else:
            assert found == (settings, entries), place
            more = charged_if_possible(path)
            assert Ledger.open(path).entries() == (*entries, *more), place
    assert outcomes[True] > 400, "damage was refused"
    assert outcomes[False] > 100, "damage lay in unused space"


def read_if_intact(path):
    try:
        ledger = Ledger.open(path)
        return (ledger.settings, ledger.entries()), ""
    except REFUSALS as error:
        return None, str(error)


def charged_if_possible(path):
    try:
        return (charge(Ledger.open(path), 0.01),)
    except REFUSALS:
        return ()


# Imports -----------------------------------------------------------------------------------------


def test_the_ledger_imports_nothing_heavy():
    code = (
        "import sys, understudy.ledger.ledger\n"
        "heavy = {'sqlalchemy', 'dp_accounting', 'pandas', 'scipy', 'jax'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Ledgers that exist ------------------------------------------------------------------------------

FORMAT_2 = (Path(__file__).parent / "format-2.sql").read_text(encoding="utf-8")


def kept(place):
    """Put a ledger in place that was made before: its tables and rows, and a file's triggers."""
    if "://" not in place:
        with closing(sqlite3.connect(place)) as connection:
            connection.executescript(FORMAT_2)
        return
    statements = [line for line in FORMAT_2.splitlines() if line.startswith(("CREATE T", "INSERT"))]
    execute(place, *(line for line in statements if "TRIGGER" not in line))


def test_a_ledger_that_was_made_before_opens_unchanged_and_goes_on(place):
    kept(place)
    ledger = Ledger.open(place)
    assert [entry.label for entry in ledger.entries()] == ["2025-01", "2025-01", "2025-02 März"]
    assert (ledger.settings.budget, ledger.settings.delta) == (2.0, 1e-6)
    assert ledger.left() == 1.25
    ledger.publish(ledger.entries()[2])
    charge(ledger, 0.5)
    assert Ledger.open(place).left() == 0.75


def test_a_new_file_is_protected_exactly_as_those_that_were_made_before(tmp_path):
    def declared(path):
        with closing(sqlite3.connect(path)) as connection:
            triggers = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
            tables = ("understudy_settings", "understudy_entries", "understudy_head")
            info = {t: connection.execute(f"PRAGMA table_info({t})").fetchall() for t in tables}
            # The key of a row is never null, whether that is said or not.
            columns = {
                (table, name, type_, bool(required or key), key)
                for table, found in info.items()
                for _, name, type_, required, _, key in found
            }
            return {sql for (sql,) in triggers}, columns

    create(tmp_path / "new.db")
    kept(str(tmp_path / "old.db"))
    assert declared(tmp_path / "new.db") == declared(tmp_path / "old.db")
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        for table, rest in (("head", "1, ''"), ("settings", "2, '', '', '', '', '', 0, '', ''")):
            with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
                connection.execute(f"INSERT INTO understudy_{table} VALUES (2, {rest})")


def test_a_new_server_has_every_trigger(server):
    import sqlalchemy

    place = new_database(server)
    create(place)
    engine = sqlalchemy.create_engine(place, poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        found = connection.exec_driver_sql(
            "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
            "WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal"
        )
        names = {name for (name,) in found}
    assert names == {
        f"understudy_{table}_{verb}"
        for table in ("settings", "entries", "head")
        for verb in ("update", "delete", "truncate")
    }
