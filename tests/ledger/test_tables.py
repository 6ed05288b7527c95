"""The tables of a ledger refuse to be changed, as those that exist already do."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledgers import charge, create, execute, filled, new_database
from understudy.ledger.ledger import Ledger


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
