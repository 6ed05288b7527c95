"""Ledgers for tests: in a file or on a server, and what is done behind their back."""

import itertools

from understudy.errors import BadInput, Refused
from understudy.ledger.ledger import Ledger
from understudy.privacy.accounting import Cost
from understudy.privacy.guarantee import Kind

ROWS = {"kind": Kind.STRICT, "unit": "row", "membership": True}
"""A strict guarantee for each row, membership protected."""


REFUSALS = (BadInput, Refused)


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
    from understudy.ledger.store import METADATA

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
