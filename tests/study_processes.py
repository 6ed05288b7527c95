"""The worker processes of another process, as the system lists them."""

import time
from pathlib import Path


def children(parent, *, wanted):
    """Wait until a process has so many workers, and return their numbers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        workers = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rsplit(")", 1)[1].split()
                command = (status.parent / "cmdline").read_text()
            except OSError:
                continue
            if int(fields[1]) == parent and "spawn_main" in command:
                workers.append(int(status.parent.name))
        if len(workers) >= wanted:
            return workers
        time.sleep(0.05)
    raise AssertionError("no workers appeared")
