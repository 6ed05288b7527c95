"""A PostgreSQL server of our own, on a socket in a temporary directory, while it is needed."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROLE = "understudy"


def programs() -> Path | None:
    """Return the directory of the server's programs: on the path, or where Debian puts them."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in versions), default=None, key=lambda p: int(p.parent.name))


def why_not() -> str | None:
    """Return why no server can be started here, or None."""
    if programs() is None:
        return "PostgreSQL's programs are not installed (Debian: apt install postgresql)"
    if os.geteuid() == 0 and _account() is None:
        return "PostgreSQL does not run as root, and there is no account 'postgres'"
    return None


def _account() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return None


@contextmanager
def running() -> Iterator[str]:
    """Run a server and yield the SQLAlchemy URL of its database."""
    directory = Path(tempfile.mkdtemp(prefix="understudy-pg-"))
    identity = {}
    if os.geteuid() == 0:
        account = _account()
        os.chown(directory, account.pw_uid, account.pw_gid)
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    where = {"cwd": directory, **identity}
    initdb = [programs() / "initdb", "-D", "data", "-U", ROLE, "-A", "trust", "-E", "UTF8", "-N"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, **where)
    command = [programs() / "postgres", "-D", "data", "-k", str(directory), "-h", "", "-F"]
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, **where)
    try:
        _await(server, directory)
        yield f"postgresql+psycopg://{ROLE}@/postgres?host={directory}"
    finally:
        server.send_signal(signal.SIGQUIT)  # At once: nothing of it is kept.
        server.wait(timeout=30)
        shutil.rmtree(directory)


def _await(server: subprocess.Popen[bytes], directory: Path) -> None:
    ask = [programs() / "pg_isready", "-q", "-h", str(directory)]
    for _ in range(300):
        if subprocess.run(ask, check=False).returncode == 0:
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError((directory / "log").read_text())
