"""Where a ledger is kept: one SQLite file, or a PostgreSQL database for several machines.

Both are reached through SQLAlchemy. What differs is written down here: how the one writer is let
in, and how a commit is made to survive a power failure. A SQLite file must lie on a local disk,
because locks do not work reliably across a network. A PostgreSQL schema holds one ledger.

Numbers that matter are text, so that nothing is rounded. Triggers let the tables grow and never
change: they stop mistakes, and whoever drops them to edit a row is found out by the chain.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, Column, Integer, Table, Text
from sqlalchemy.exc import ArgumentError, DBAPIError

from understudy.errors import BadInput, Refused
from understudy.ledger.chain import SCHEMA_VERSION, Contents, StoredRow

WAIT_SECONDS = 60
"""How long to wait for other processes, each of which keeps the ledger for milliseconds."""

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


@dataclass(frozen=True)
class LedgerStore:
    """A place that holds, or will hold, one ledger."""

    engine: sa.Engine = field(repr=False)  # Its URL may hold a password.
    name: str
    """What sentences call it; without a password."""

    @property
    def is_sqlite(self) -> bool:
        """Whether this is one file, and not a server."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a transaction that nobody else can write beside; on the disk when it ends well."""
        with self._connected("READ COMMITTED") as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {1000 * WAIT_SECONDS:.0f}")
                connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
                # Writers wait here; what they read afterwards is what the one before committed.
                connection.exec_driver_sql(f"LOCK TABLE {HEAD.name} IN EXCLUSIVE MODE")
            yield connection
            connection.commit()

    @contextmanager
    def _connected(self, isolation: str) -> Iterator[sa.Connection]:
        try:
            with self.engine.connect() as connection:
                if self.is_sqlite:
                    # EXTRA: a commit survives a power failure, in the directory, too.
                    connection.exec_driver_sql("PRAGMA synchronous = EXTRA")
                    connection.exec_driver_sql("PRAGMA fullfsync = ON")
                else:
                    connection.execution_options(isolation_level=isolation)
                yield connection
        except DBAPIError as error:
            raise self._explained(error) from error
        except UnicodeDecodeError as error:
            # The driver cannot even read its own message about a damaged file.
            raise self._damaged() from error

    def _damaged(self) -> BadInput:
        return BadInput(f"{self.name} is damaged and is left as it is; restore a backup of it.")

    def _explained(self, error: DBAPIError) -> BadInput | Refused:
        if (
            getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_BUSY")
            or getattr(error.orig, "sqlstate", None) == "55P03"
        ):
            return Refused(
                f"{self.name} was kept busy by another process for {WAIT_SECONDS} seconds; nothing "
                f"was written, try again."
            )
        reason = (str(error.orig).strip().splitlines() or ["unknown error"])[0]
        return BadInput(
            f"{self.name} cannot be used ({reason}); it is left as it is: correct that, or restore "
            f"a backup of the ledger."
        )

    def create(self, settings: StoredRow) -> None:
        """Make the tables and store the settings, all or nothing."""
        with self._connected("READ COMMITTED") as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif _has_ledger(connection):
                raise BadInput(f"{self.name} holds a ledger already; a ledger is never replaced.")
            METADATA.create_all(connection, checkfirst=False)
            connection.execute(SETTINGS.insert().values(one=1, **settings))
            connection.execute(HEAD.insert().values(one=1, count=0, hash=settings["hash"]))
            connection.commit()

    def read(self) -> Contents:
        """Return all that the ledger holds at one moment, if it is one and its format is known."""
        with self._connected("REPEATABLE READ") as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            if not _has_ledger(connection):
                raise BadInput(f"{self.name} is not a ledger; create one with `Ledger.create`.")
            return self.contents(connection)

    def contents(self, connection: sa.Connection) -> Contents:
        """Return all that the ledger holds, inside a transaction; it is small."""
        version = self._one(connection, sa.select(SETTINGS.c.schema_version))["schema_version"]
        if version != SCHEMA_VERSION:
            raise BadInput(
                f"{self.name} has format {version!r}, and this understudy knows only format "
                f"{SCHEMA_VERSION}; use the version of understudy that made it."
            )
        # A page that no row lives in can be damaged, too, and would be written over.
        if self.is_sqlite and connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok":
            raise self._damaged()
        return Contents(
            settings=self._one(connection, sa.select(*SETTINGS.c[1:])),
            rows=_rows(connection, sa.select(ENTRIES).order_by(ENTRIES.c.number)),
            head=self._one(connection, sa.select(*HEAD.c[1:])),
        )

    def _one(self, connection: sa.Connection, query: sa.Select[Any]) -> StoredRow:
        rows = _rows(connection, query)
        if len(rows) != 1:
            raise self._damaged()
        return rows[0]

    @staticmethod
    def append(connection: sa.Connection, row: StoredRow) -> None:
        """Add a row at the end, and let the head say so."""
        connection.execute(ENTRIES.insert().values(**row))
        connection.execute(HEAD.update().values(count=row["number"], hash=row["hash"]))


def _has_ledger(connection: sa.Connection) -> bool:
    return sa.inspect(connection).has_table(SETTINGS.name)


def _rows(connection: sa.Connection, query: sa.Select[Any]) -> list[StoredRow]:
    return [dict(row) for row in connection.execute(query).mappings()]


def store_at(location: str | os.PathLike[str]) -> LedgerStore:
    """Return the store at an existing file's path or at a server's URL."""
    if "://" in os.fspath(location):
        return _server(str(location))
    path = Path(location)
    if not path.exists():
        raise BadInput(
            f"there is no ledger '{path}'; create one with `Ledger.create`, or correct the path."
        )
    if not path.is_file():
        raise BadInput(f"'{path}' is not a file, so it is not a ledger.")
    return _file(path, name=f"the ledger '{path}'")


def create_at(location: str | os.PathLike[str], settings: StoredRow) -> None:
    """Create a ledger where there is none; it appears complete or not at all."""
    if "://" in os.fspath(location):
        _server(str(location)).create(settings)
        return
    path = Path(location)
    exists = BadInput(f"'{path}' exists already; a ledger is never replaced, choose another file.")
    if path.exists() or path.is_symlink():
        raise exists
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as directory:
            hidden = Path(directory) / path.name
            hidden.touch(mode=0o600)
            _file(hidden, name=f"the ledger '{path}'").create(settings)
            # Unlike a renaming, a link never replaces what another process put there meanwhile.
            os.link(hidden, path)
            _settle(path.parent)
    except FileExistsError:
        raise exists from None
    except OSError as error:
        raise BadInput(f"the ledger '{path}' cannot be created: {error.strerror}.") from None


def _settle(directory: Path) -> None:
    """Make sure that a new name is on the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file(path: Path, *, name: str) -> LedgerStore:
    # By default SQLite makes an empty file of any path that it is given.
    uri = path.absolute().as_uri() + "?mode=rw"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None)

    return LedgerStore(sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool), name)


def _server(location: str) -> LedgerStore:
    try:
        url = sa.make_url(location)
    except (ArgumentError, ValueError):
        raise BadInput(
            "the ledger's URL cannot be read; write it as postgresql+psycopg://USER@HOST/DATABASE."
        ) from None
    if url.drivername not in ("postgresql", "postgresql+psycopg"):
        raise BadInput(
            f"a ledger is kept in a SQLite file, given by its path, or at a postgresql+psycopg:// "
            f"URL, not at {url.drivername}://."
        )
    try:
        engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    except ImportError:
        raise BadInput(
            "a ledger in PostgreSQL needs the package psycopg: pip install 'understudy[postgresql]'"
            "."
        ) from None
    shown = url.difference_update_query(["password", "sslpassword"])
    return LedgerStore(engine, f"the ledger at {shown.render_as_string(hide_password=True)}")
