"""Each test of a ledger runs in a file and on a server."""

import pytest

import postgresql_server
from ledgers import new_database


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
