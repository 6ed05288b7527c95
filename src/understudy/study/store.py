"""Finished replicates on disk: kept, checked, and not run again.

    DIR/study.json               what the study is: seed, sampler, records, version
    DIR/replicates/0007.parquet  one replicate, with a digest of its numbers

A file that is damaged, or was edited, does not match its digest and is run again. A directory that
holds another study is refused, because its replicates would be mixed with ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from understudy import __version__
from understudy.errors import BadInput
from understudy.study import paper
from understudy.study.arms import COLUMNS, ResultRow
from understudy.support.files import written_atomically

_DIGEST = b"understudy"
_REPLICATES = "replicates"
_OURS = {_REPLICATES, "application", "index.html"}
"""What a directory of `understudy study` or `understudy study application` may hold."""


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
            _check_same(directory, _read_settings(described), settings)
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


def _read_settings(path: Path) -> dict[str, object]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise BadInput(f"'{path}' is damaged: remove the directory, or name another `out`.")
    return settings


def _check_same(directory: Path, there: dict[str, object], settings: StudySettings) -> None:
    for name, wanted in asdict(settings).items():
        if there.get(name) != wanted:
            raise BadInput(
                f"'{directory}' holds a study with {name} {there.get(name)}, not {wanted}, and "
                f"replicates of two studies must not be mixed: name another `out`."
            )
