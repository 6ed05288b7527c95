"""The tables of a ledger, and the triggers that let them grow and never change.

Numbers that matter are text, so that nothing is rounded. The triggers stop mistakes; whoever drops
them to edit a row is found out by the chain.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, Column, Integer, Table, Text

METADATA = sa.MetaData()


def _only_row() -> Column[int]:
    """Return the key of a table that holds a single row."""
    return Column("one", Integer, CheckConstraint("one = 1"), primary_key=True, autoincrement=False)


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


SETTINGS = Table(
    "understudy_settings",
    METADATA,
    _only_row(),
    Column("schema_version", Integer, nullable=False),
    *_texts("budget", "adjacency", "population"),
    Column("delta", Text),
    Column("unit", Text),
    Column("membership", Integer),
    *_texts("created", "hash"),
)
ENTRIES = Table(
    "understudy_entries",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_texts("kind", "time", "label", "epsilon", "rho", "details"),
    Column("refers_to", Integer),
    *_texts("previous", "hash"),
)
HEAD = Table(
    "understudy_head",
    METADATA,
    _only_row(),
    Column("count", Integer, nullable=False),
    *_texts("hash"),
)

# The head is the one row that changes, and it only ever counts on.
_COUNTS_ON = "WHEN (NEW.count <> OLD.count + 1)"
_REFUSAL = "the ledger is append-only"
_FUNCTION = "understudy_append_only"


def _guard(table: Table, verb: str, when: str = "") -> None:
    """Let a new table refuse an operation, as each database has it said."""
    trigger = f"CREATE TRIGGER {table.name}_{verb} BEFORE {verb} ON {table.name}"
    each = "STATEMENT" if verb == "TRUNCATE" else "ROW"
    _after(table, "postgresql", f"{trigger} FOR EACH {each} {when} EXECUTE FUNCTION {_FUNCTION}()")
    if verb != "TRUNCATE":  # SQLite has no such verb.
        _after(table, "sqlite", f"{trigger} {when} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END")


def _after(table: Table, dialect: str, statement: str) -> None:
    sa.event.listen(table, "after_create", sa.DDL(statement).execute_if(dialect=dialect))


_function = sa.DDL(
    f"CREATE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
)
sa.event.listen(METADATA, "before_create", _function.execute_if(dialect="postgresql"))
for _table in (SETTINGS, ENTRIES, HEAD):
    _guard(_table, "UPDATE", _COUNTS_ON if _table is HEAD else "")
    _guard(_table, "DELETE")
    _guard(_table, "TRUNCATE")
