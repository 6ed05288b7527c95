"""Where a ledger is kept: tables only grow, writers take turns, commits last, damage is refused."""

import json
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

from ledgers import REFUSALS, charge, create, disarm, execute, filled, new_database
from understudy.errors import BadInput, Refused
from understudy.ledger import store as ledger_store
from understudy.ledger.chain import EntryKind
from understudy.ledger.ledger import Ledger

WORKER = Path(__file__).parents[1] / "ledger_worker.py"


def work(action, place, directory, count):
    directory.mkdir()
    done = subprocess.run(
        [sys.executable, WORKER, action, place, directory, str(count)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


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
    ("place", "times"),
    [
        ("sqlite", 30),
        pytest.param("sqlite", 100, marks=pytest.mark.slow),
        pytest.param("postgresql", 25, marks=pytest.mark.slow),
    ],
    indirect=["place"],
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


@pytest.mark.parametrize("attempts", [160, pytest.param(800, marks=pytest.mark.slow)])
def test_flipped_bytes_are_refused_or_change_nothing(tmp_path, intact, attempts):
    contents, settings, entries = intact
    numbers = random.Random(11)
    used = [place for place, byte in enumerate(contents) if byte]
    outcomes = Counter()
    for attempt in range(attempts):
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
    assert outcomes[True] > attempts // 2, "damage was refused"
    assert outcomes[False] > attempts // 8, "damage lay in unused space"


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
