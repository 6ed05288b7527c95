"""Processes that charge and publish, for the tests of the ledger.

Everything is imported once and the processes are forked, so that many of them start in no time:

    python ledger_worker.py race LOCATION DIRECTORY COUNT     all at once
    python ledger_worker.py kill LOCATION DIRECTORY COUNT     one after the other, each killed

Prints the outcome of every process, one JSON value on a line.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from statistics import median

import pandas as pd

from understudy.errors import Refused
from understudy.ledger.ledger import Ledger
from understudy.privacy.accounting import Cost
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind, Weights
from understudy.synthesis.release import Internal, Release

GUARANTEE = Guarantee(
    mechanism="censor-uw",
    kind=Kind.STRICT,
    asked=Adjacency.ADD_REMOVE,
    epsilon={Adjacency.ADD_REMOVE: 1.0, Adjacency.REPLACE_ONE: 2.0},
    draws=1,
    weights=Weights.NONE,
    sampler="exact",
    assumptions=(),
    seeded=False,
    rows=2,
)
COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
THETA = {"parameters": {"phi": 1.0}, "schema": {"columns": {"x": COLUMN}}}
RELEASE = Release.of(
    GUARANTEE,
    (pd.DataFrame({"x": [0.25, 0.5]}),),
    (THETA,),
    model=None,
    internal=Internal({"n": 2}, str),
)
RELEASE.card()  # What a first card imports should not be imported anew by every child.


def charge_and_publish(location: str, out: Path) -> None:
    """Do what is to be interrupted: from opening the ledger until the release is recorded."""
    ledger = Ledger.open(location)
    entry = ledger.charge(
        Cost.of_draw(1.0),
        label=out.name,
        details={"out": out.name},
        kind=Kind.STRICT,
        unit="row",
        membership=True,
    )
    RELEASE.write(out)
    ledger.publish(entry)


def race(location: str, directory: Path, count: int) -> list[str]:
    """Let many processes go at the same moment; return 'done' or the sentence of each."""
    gate, starter = os.pipe()
    answers, answer = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            os.close(starter)
            os.read(gate, 1)
            try:
                charge_and_publish(location, directory / f"out-{number}")
                outcome = "done"
            except Refused as error:
                outcome = f"refused: {error}"
            os.write(answer, (json.dumps(outcome) + "\n").encode())
            os._exit(0)
        children.append(child)
    os.close(starter)
    os.close(answer)
    with os.fdopen(answers) as lines:
        outcomes = [json.loads(line) for line in lines]
    for child in children:
        _, status = os.waitpid(child, 0)
        assert status == 0
    return outcomes


def run_for(location: str, out: Path, delay: float) -> tuple[float, bool]:
    """Run the step in a process that is killed after a while; return the time, and if it ended."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        charge_and_publish(location, out)
        os._exit(0)
    while time.perf_counter() - start < delay:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0
            return time.perf_counter() - start, True
        time.sleep(0.0002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return time.perf_counter() - start, False


def kill(location: str, directory: Path, count: int) -> list[bool]:
    """Kill the step at random moments of its duration; return which processes ended before."""
    whole = [run_for(location, directory / f"whole-{k}", 60)[0] for k in range(5)]
    moments = random.Random(3)
    ended = []
    for number in range(count):
        delay = moments.uniform(0, 1.4 * median(whole[-5:]))
        duration, in_time = run_for(location, directory / f"out-{number}", delay)
        ended.append(in_time)
        if in_time:
            whole.append(duration)
    return ended


if __name__ == "__main__":
    Ledger.open(sys.argv[2])  # Imports what the place needs.
    action = {"race": race, "kill": kill}[sys.argv[1]]
    for result in action(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])):
        print(json.dumps(result))
