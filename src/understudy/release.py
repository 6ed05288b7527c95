"""What may leave the building, and what must stay.

    DIR/public/      synthetic tables, the private draw of θ, the guarantee, a card for readers
    DIR/internal/    report and diagnostics: confidential, readable by their owner only

A release is written into a hidden directory beside its destination and moved into place in one
step, so whatever interrupts it, nothing half-written is ever called public. The next release to
the same destination removes what a run that was killed has left in such a directory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import tables
from understudy.errors import BadInput
from understudy.files import REPLACED, current_umask, hidden_directory, sweep, uninterrupted
from understudy.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from understudy.charging import Charge
    from understudy.guarantee import Guarantee

_PARTS = {"public", "internal"}


@dataclass(frozen=True)
class Release:
    """A finished synthesis. `print(release.guarantee)` says what it promises."""

    guarantee: Guarantee
    tables: tuple[pd.DataFrame, ...]
    parameters: tuple[dict[str, Any], ...]
    """Contents of `parameters.json`, one for each table."""
    diagnostics: dict[str, Any]
    """Confidential."""
    report: Callable[[], str]
    """Renders the confidential report."""
    charge: Charge | None = None
    """The ledger's entry that paid for this release."""

    @property
    def synthetic(self) -> pd.DataFrame:
        """The (first) synthetic table."""
        return self.tables[0]

    def card(self) -> str:
        """Return the public card; only what is published goes into it."""
        from understudy.report.card import render_card

        schema = Schema.from_dict(self.parameters[0]["schema"])
        return render_card(self.guarantee, schema, self.tables)

    def write(
        self, directory: str | os.PathLike[str], *, force: bool = False, parquet: bool = False
    ) -> Path:
        """Write the release; an earlier release in the same place is replaced only by force."""
        destination = Path(directory)
        check_destination(destination, force=force)
        if self.charge is not None:
            self.charge.check()
        destination.parent.mkdir(parents=True, exist_ok=True)
        with hidden_directory(destination) as staging:
            self._write_public(staging / "public", parquet=parquet)
            self._write_internal(staging / "internal")
            _settle(staging)
            appear = partial(_move_into_place, staging, destination, force=force)
            if self.charge is None:
                appear()
            else:
                self.charge.publish(self.parameters[0]["parameters"], appear)
        return destination

    def _write_public(self, public: Path, *, parquet: bool) -> None:
        public.mkdir()
        for number, (table, theta) in enumerate(zip(self.tables, self.parameters, strict=True), 1):
            suffix = "" if number == 1 else f"-{number}"
            tables.write(table, public / f"synthetic{suffix}.csv")
            if parquet:
                tables.write(table, public / f"synthetic{suffix}.parquet")
            _write_json(public / f"parameters{suffix}.json", theta)
        _write_json(public / "guarantee.json", self.guarantee.to_dict())
        (public / "guarantee.txt").write_text(str(self.guarantee), encoding="utf-8")
        (public / "card.html").write_text(self.card(), encoding="utf-8")

    def _write_internal(self, internal: Path) -> None:
        internal.mkdir(mode=0o700)
        _write_json(internal / "diagnostics.json", self.diagnostics)
        (internal / "report.html").write_text(self.report(), encoding="utf-8")
        for file in internal.iterdir():
            file.chmod(0o600)


def check_destination(destination: Path, *, force: bool | None) -> None:
    """Refuse, before any work is done, a destination that could not be written to at its end.

    `force` is None where nothing may ever be replaced. What a run that was killed has left beside
    the destination is removed.
    """
    sweep(destination)
    if not (destination.exists() or destination.is_symlink()):
        above = next(parent for parent in destination.absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise BadInput(f"nothing can be written to '{above}': choose another directory.")
        return
    if not force:
        remedy = "" if force is None else ", or replace the release in it with --force"
        raise BadInput(f"'{destination}' exists already: choose another directory{remedy}.")
    if not _is_release(destination):
        raise BadInput(
            f"'{destination}' holds something other than a release, so it is not replaced, even "
            f"with --force."
        )


def released_schema(destination: Path) -> str | None:
    """Return the digest of the schema of the release in a directory, if there is one."""
    try:
        contents = json.loads((destination / "public/parameters.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return contents.get("schema_digest") if isinstance(contents, dict) else None


def _is_release(destination: Path) -> bool:
    """Whether a directory holds a release and nothing else, or nothing at all."""
    if destination.is_symlink() or not destination.is_dir():
        return False
    found = {entry.name for entry in destination.iterdir()}
    # A directory called public may be anybody's; one with a guarantee is ours.
    return not found or (found <= _PARTS and (destination / "public/guarantee.json").is_file())


def _write_json(path: Path, contents: dict[str, Any]) -> None:
    text = json.dumps(contents, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _settle(staging: Path) -> None:
    """Make sure that everything is on the disk before any of it becomes visible."""
    for path in [*staging.rglob("*"), staging]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _move_into_place(staging: Path, destination: Path, *, force: bool) -> None:
    staging.chmod(0o777 & ~current_umask())
    if not (force and destination.exists()):
        staging.rename(destination)
        return
    with hidden_directory(destination) as old, uninterrupted():
        destination.rename(old / REPLACED)
        try:
            staging.rename(destination)
        except BaseException:  # Whatever it is, one release or the other must stand.
            (old / REPLACED).rename(destination)
            raise
