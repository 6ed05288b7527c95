"""The tables of a ledger, and the triggers that let them grow and never change.

Numbers that matter are text, so that nothing is rounded. The triggers stop mistakes; whoever drops
them to edit a row is found out by the chain.
"""

from __future__ import annotations

from collections.abc import Iterator

SETTINGS = (
    "schema_version", "budget", "adjacency", "population", "delta", "unit", "membership", "created",
    "hash",
)  # fmt: skip
ENTRY = (
    "number", "kind", "time", "label", "epsilon", "rho", "details", "refers_to", "previous", "hash",
)  # fmt: skip
HEAD = ("count", "hash")

_TABLES = (
    "CREATE TABLE understudy_settings ("
    " one INTEGER PRIMARY KEY CHECK (one = 1), schema_version INTEGER NOT NULL,"
    " budget TEXT NOT NULL, adjacency TEXT NOT NULL, population TEXT NOT NULL, delta TEXT,"
    " unit TEXT, membership INTEGER, created TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE understudy_entries ("
    " number INTEGER PRIMARY KEY, kind TEXT NOT NULL, time TEXT NOT NULL, label TEXT NOT NULL,"
    " epsilon TEXT NOT NULL, rho TEXT NOT NULL, details TEXT NOT NULL, refers_to INTEGER,"
    " previous TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE understudy_head ("
    " one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, hash TEXT NOT NULL)",
)

# The head is the one row that changes, and it only ever counts on.
FROZEN = (
    ("understudy_settings", "UPDATE", ""),
    ("understudy_settings", "DELETE", ""),
    ("understudy_entries", "UPDATE", ""),
    ("understudy_entries", "DELETE", ""),
    ("understudy_head", "UPDATE", "WHEN (NEW.count <> OLD.count + 1)"),
    ("understudy_head", "DELETE", ""),
)

_POSTGRESQL_FUNCTION = (
    "CREATE FUNCTION understudy_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
)


def statements(*, sqlite: bool) -> Iterator[str]:
    """Yield what creates an empty ledger, in SQLite's or in PostgreSQL's dialect."""
    yield from _TABLES
    if sqlite:
        for table, verb, when in FROZEN:
            yield (
                f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} {when} "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
        return
    yield _POSTGRESQL_FUNCTION
    for table, verb, when in FROZEN:
        yield (
            f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} FOR EACH ROW {when} "
            "EXECUTE FUNCTION understudy_append_only()"
        )
    for table in ("understudy_settings", "understudy_entries", "understudy_head"):
        yield (
            f"CREATE TRIGGER {table}_TRUNCATE BEFORE TRUNCATE ON {table} "
            "EXECUTE FUNCTION understudy_append_only()"
        )
