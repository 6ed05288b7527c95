"""The simulation: every replicate that is not on disk yet, then all of them as one table.

    DIR/study.json               what the study is: seed, sampler, records, version
    DIR/replicates/0007.parquet  one replicate, with a digest of its numbers

A file that is damaged, or was edited, does not match its digest and is run again. A directory that
holds another study is refused, because its replicates would be mixed with ours.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from understudy import __version__
from understudy.errors import BadInput
from understudy.study import paper
from understudy.study import workers as ways
from understudy.study.arms import COLUMNS, ResultRow
from understudy.support.files import written_atomically
from understudy.support.progress import Progress, silent

SAMPLERS = ("quadrature", "nuts")
LARGEST_REPLICATES = 9999
_DIGEST = b"understudy"
_REPLICATES = "replicates"
_OURS = {_REPLICATES, "application", "index.html"}
"""What a directory of `understudy study` or `understudy study application` may hold."""


def run_study(
    directory: str | os.PathLike[str],
    *,
    replicates: int,
    seed: int,
    sampler: str = "quadrature",
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Run what is missing of the study in the directory, and return every result, tidily.

    By default there is one worker for each core.
    """
    _check(replicates, seed, sampler, workers, scheduler)
    store = ReplicateStore.open(Path(directory), StudySettings(seed=seed, sampler=sampler))
    missing = [number for number in range(1, replicates + 1) if store.read(number) is None]
    progress("Replicates", 1 - len(missing) / replicates)
    count = min(workers or os.cpu_count() or 1, len(missing))
    if scheduler is not None and missing:
        finished = ways.on_cluster(missing, seed, sampler, scheduler=scheduler)
    elif count > 1:
        finished = ways.in_processes(missing, seed, sampler, workers=count)
    else:
        finished = (ways.run_one(number, seed, sampler) for number in missing)
    for done, (number, rows) in enumerate(finished, start=1):
        store.write(number, rows)
        progress("Replicates", 1 - (len(missing) - done) / replicates)
    frames = [store.read(number) for number in range(1, replicates + 1)]
    if any(frame is None for frame in frames):
        raise BadInput(f"replicates vanished from '{store.directory}' while the study ran.")
    return pd.concat(frames, ignore_index=True)


def _check(
    replicates: int, seed: int, sampler: str, workers: int | None, scheduler: str | None
) -> None:
    if not 1 <= replicates <= LARGEST_REPLICATES:
        raise BadInput(f"`replicates` must be from 1 to {LARGEST_REPLICATES:,}, not {replicates}.")
    if not 0 <= seed < 2**63:
        raise BadInput(f"`seed` must be a whole number from 0 to 2^63 − 1, not {seed}.")
    if sampler not in SAMPLERS:
        raise BadInput(f"`sampler` must be quadrature or nuts, not '{sampler}'.")
    if workers is not None and workers < 1:
        raise BadInput(f"`workers` must be 1 or more, not {workers}.")
    if workers is not None and scheduler is not None:
        raise BadInput("`workers` and `scheduler` were both given: leave out one of them.")


@dataclass(frozen=True, kw_only=True)
class StudySettings:
    """Everything that a replicate's result depends on, except for its number."""

    seed: int
    sampler: str
    records: int = paper.N
    version: str = __version__


@dataclass(frozen=True)
class ReplicateStore:
    """The replicates of one study in one directory."""

    directory: Path
    settings: StudySettings

    @classmethod
    def open(cls, directory: Path, settings: StudySettings) -> ReplicateStore:
        """Open the study in the directory, or begin one there."""
        described = directory / "study.json"
        if described.exists():
            _check_same(described, settings)
        elif directory.exists() and any(each.name not in _OURS for each in directory.iterdir()):
            raise BadInput(f"'{directory}' holds something else than a study: name another `out`.")
        (directory / _REPLICATES).mkdir(parents=True, exist_ok=True)
        if not described.exists():
            with written_atomically(described) as file:
                file.write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
        return cls(directory, settings)

    def write(self, number: int, rows: Iterable[ResultRow]) -> None:
        """Keep one finished replicate."""
        frame = pd.DataFrame(list(rows), columns=list(COLUMNS))
        table = pa.Table.from_pandas(frame, preserve_index=False)
        described = {_DIGEST: self._digest(table.to_pandas()).encode()}
        with written_atomically(self._place(number)) as file:
            pq.write_table(table.replace_schema_metadata(described), file)

    def read(self, number: int) -> pd.DataFrame | None:
        """Return a finished replicate, or None where there is none that can be trusted."""
        try:
            table = pq.read_table(self._place(number))
        except (FileNotFoundError, pa.ArrowException):
            return None
        frame = table.to_pandas()
        claimed = (table.schema.metadata or {}).get(_DIGEST, b"").decode()
        return frame if claimed == self._digest(frame) else None

    def _place(self, number: int) -> Path:
        return self.directory / _REPLICATES / f"{number:04d}.parquet"

    def _digest(self, frame: pd.DataFrame) -> str:
        text = json.dumps(asdict(self.settings)) + frame.to_csv(index=False, float_format="%.17g")
        return hashlib.sha256(text.encode()).hexdigest()


def _check_same(described: Path, settings: StudySettings) -> None:
    """Refuse to go on with a study that is another one, or that cannot be read."""
    try:
        there = json.loads(described.read_text(encoding="utf-8"))
    except ValueError:
        there = None
    if not isinstance(there, dict):
        raise BadInput(f"'{described}' is damaged: remove the directory, or name another `out`.")
    for name, wanted in asdict(settings).items():
        if there.get(name) != wanted:
            raise BadInput(
                f"'{described.parent}' holds a study with {name} {there.get(name)}, not {wanted}, "
                f"and replicates of two studies must not be mixed: name another `out`."
            )
