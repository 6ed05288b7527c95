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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from understudy.domain import tables
from understudy.domain.frames import Tabular
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms.registry import no_combining
from understudy.models.base import Model
from understudy.privacy.guarantee import Guarantee
from understudy.report.answers import Answer
from understudy.report.intervals import Interval
from understudy.support.confidential import Confidential
from understudy.support.files import (
    REPLACED,
    check_place,
    current_umask,
    hidden_directory,
    sweep,
)
from understudy.support.stopping import uninterrupted
from understudy.synthesis.charging import Charge
from understudy.synthesis.large import Synthetic, in_batches, shown, whole

_PARTS = {"public", "internal"}


@dataclass(frozen=True, repr=False, eq=False)
class Internal(Confidential):
    """The half of a release that must stay: what was measured on the confidential table."""

    diagnostics: dict[str, Any]
    report: Callable[..., str]
    """Renders the report, with what the release says of its main columns."""
    charge: Charge | None = None
    """The ledger's entry that paid for the release."""


class _Attached:
    """Holds the internal half beside an object, where neither `vars` nor a pickle finds it."""

    __slots__ = ("__weakref__", "_internal", "model")
    _internal: Internal
    model: Model | None
    """What the rows were simulated from; a pickle is without it, because functions stay behind."""


@dataclass(frozen=True, repr=False, eq=False)
class Release(_Attached):
    """The half of a release that may leave. `print(release.guarantee)` says what it promises.

    It can be printed, pickled and shown. What was measured on the way, `release.internal`, stays in
    the process that made it: a pickle or a copy of a release is without it.
    """

    guarantee: Guarantee
    """What is promised about it."""
    tables: tuple[Synthetic, ...]
    """The synthetic tables; too large ones are simulated as they are written."""
    parameters: tuple[dict[str, Any], ...]
    """Contents of `parameters.json`, one for each table."""

    @classmethod
    def of(
        cls,
        guarantee: Guarantee,
        tables: tuple[Synthetic, ...],
        parameters: tuple[dict[str, Any], ...],
        *,
        model: Model | None,
        internal: Internal,
    ) -> Release:
        """Return a release with both its halves.

        Args:
            guarantee: What is promised.
            tables: The synthetic tables.
            parameters: What is published of each.
            model: What the rows were simulated from.
            internal: The half that stays.
        """
        made = cls(guarantee, tables, parameters)
        object.__setattr__(made, "model", model)
        object.__setattr__(made, "_internal", internal)
        return made

    @property
    def synthetic(self) -> pd.DataFrame:
        """The (first) synthetic table, if it is not too large to be held."""
        return whole(self.tables[0])

    @property
    def internal(self) -> Internal:
        """The half that must stay: diagnostics and the report."""
        if not hasattr(self, "_internal"):
            raise BadInput(
                "this is the public half of a release, pickled or copied; its internal half stayed "
                "where the release was made, and what needs it has to be done there."
            )
        return self._internal

    def sample(
        self,
        rows: int,
        *,
        predictors: Tabular | None = None,
        balanced: bool = False,
        seed: int | None = None,
    ) -> pd.DataFrame:
        """Draw more rows, at no cost to anybody's privacy; see `understudy.sample`.

        Args:
            rows: How many rows to draw.
            predictors: Public rows to draw beside; those of the release by default.
            balanced: Draw evenly spread rows instead of independent ones.
            seed: Fixes the randomness.
        """
        from understudy.synthesis.simulation import sample

        return sample(self, rows=rows, predictors=predictors, balanced=balanced, seed=seed)

    def infer(
        self,
        question: str | Callable[[pd.DataFrame], Any],
        *,
        level: float = 0.95,
        given_predictors: bool = False,
        finite: bool = False,
        seed: int | None = None,
    ) -> Answer:
        """Answer a question about the population, at no cost to anybody; see `understudy.infer`.

        Args:
            question: Such as `mean(salary) by gender` or `salary ~ age`, or a function of a table.
            level: Of the intervals.
            given_predictors: Ask about people with the predictors of the release.
            finite: Ask about the very records of the confidential table.
            seed: Fixes the randomness.
        """
        from understudy.synthesis.answering import infer

        return infer(
            self,
            question,
            level=level,
            given_predictors=given_predictors,
            finite=finite,
            seed=seed,
        )

    def card(self) -> str:
        """Return the public card; only what is published goes into it."""
        from understudy.synthesis.answering import headlines

        return self._card(headlines(self))

    def _card(self, answers: Sequence[Interval]) -> str:
        from understudy.report.card import render_card

        published = self.parameters[0]
        schema, rounds = Schema.from_dict(published["schema"]), published.get("rounds", ())
        combined = no_combining(published, schema) is None
        return render_card(
            self.guarantee,
            schema,
            [shown(table) for table in self.tables],
            rounds,
            rows=len(self.tables[0]),
            combined=combined,
            answers=answers,
            warning=self.warning,
        )

    @property
    def warning(self) -> str | None:
        """What readers must know of the model: None if it can produce what was measured."""
        said = self.parameters[0].get("check", {}).get("warning")
        return None if said is None else str(said)

    def __repr__(self) -> str:
        count, rows = len(self.tables), len(self.tables[0])
        tables = "1 table" if count == 1 else f"{count} tables"
        return f"<Release: {tables} of {rows:,} synthetic rows. {self.guarantee.headline}>"

    def _repr_html_(self) -> str:
        """Show the promise and the first rows in a notebook."""
        from html import escape

        rows = self.tables[0].head().to_html(index=False, border=0)
        return f"<p>{escape(repr(self)[1:-1])}</p>{rows}"

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def write(
        self, directory: str | os.PathLike[str], *, force: bool = False, parquet: bool = False
    ) -> Path:
        """Write both halves, and tell the ledger that it is published.

        Args:
            directory: Where to write; it must not exist, unless `force`.
            force: Replace an earlier release in that place.
            parquet: Write Parquet beside CSV.
        """
        destination, internal = Path(directory), self.internal
        check_destination(destination, force=force)
        if internal.charge is not None:
            internal.charge.check()
        destination.parent.mkdir(parents=True, exist_ok=True)
        from understudy.synthesis.answering import headlines

        answers = headlines(self)
        with hidden_directory(destination) as staging:
            self._write_public(staging / "public", answers, parquet=parquet)
            _write_internal(internal, staging / "internal", answers)
            _settle(staging)
            appear = partial(_move_into_place, staging, destination, force=force)
            if internal.charge is None:
                appear()
            else:
                internal.charge.publish(self.parameters[0], appear)
        return destination

    def _write_public(self, public: Path, answers: Sequence[Interval], *, parquet: bool) -> None:
        public.mkdir()
        for number, (table, theta) in enumerate(zip(self.tables, self.parameters, strict=True), 1):
            suffix = "" if number == 1 else f"-{number}"
            formats = (".csv", ".parquet") if parquet else (".csv",)
            files = [public / f"synthetic{suffix}{each}" for each in formats]
            tables.write_all(in_batches(table), *files)
            _write_json(public / f"parameters{suffix}.json", theta)
        _write_json(public / "guarantee.json", self.guarantee.to_dict())
        (public / "guarantee.txt").write_text(str(self.guarantee), encoding="utf-8")
        (public / "card.html").write_text(self._card(answers), encoding="utf-8")


def _write_internal(half: Internal, internal: Path, answers: Sequence[Interval]) -> None:
    internal.mkdir(mode=0o700)
    _write_json(internal / "diagnostics.json", half.diagnostics)
    (internal / "report.html").write_text(half.report(answers), encoding="utf-8")
    for file in internal.iterdir():
        file.chmod(0o600)


def check_destination(destination: Path, *, force: bool | None) -> None:
    """Refuse, before any work is done, a destination that could not be written to at its end.

    `force` is None where nothing may ever be replaced. What a run that was killed has left beside
    the destination is removed.
    """
    sweep(destination)
    exists = destination.exists() or destination.is_symlink()
    if exists and not _is_release(destination):
        even = "" if force is None else ", even with `force`"
        raise BadInput(
            f"'{destination}' exists already and holds something other than a release, so it is "
            f"not replaced{even}: choose another `directory`."
        )
    if exists and not force:
        remedy = "" if force is None else ", or replace the release in it with `force`"
        raise BadInput(f"'{destination}' exists already: choose another `directory`{remedy}.")
    above = next(parent for parent in destination.absolute().parents if parent.exists())
    check_place(above / destination.name)


def held(destination: Path, part: str) -> dict[str, Any]:
    """Return what a JSON file of the release in a directory holds; nothing, if none can be read."""
    try:
        contents = json.loads((destination / part).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return contents if isinstance(contents, dict) else {}


def _is_release(destination: Path) -> bool:
    """Whether a directory holds a release and nothing else, or nothing at all."""
    if destination.is_symlink() or not destination.is_dir():
        return False
    entries = {entry.name for entry in destination.iterdir()}
    # A directory called public may be anybody's; one with a guarantee is ours.
    return not entries or (entries <= _PARTS and (destination / "public/guarantee.json").is_file())


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
