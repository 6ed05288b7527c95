"""The hash chain of a ledger: what a row is, and how an edited one is found.

Every row carries the SHA-256 of its own contents and of the row before it; the first row follows
the settings. The head repeats how many rows there are and the hash of the last, so that rows
missing at the end are found as well. Whoever changes a row without changing everything after it
is found out by `verified`. Whoever rewrites all of it, or puts an older copy of it in its
place, is found out by the hashes that releases have published (`Entry.reference`).

Numbers are kept as the text that Python prints for them, so that nothing is ever rounded.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from understudy.domain.column import LARGEST_INTEGER, checked_line
from understudy.errors import BadInput, Refused
from understudy.privacy.accounting import NOTHING, Cost, check_delta
from understudy.privacy.guarantee import Adjacency, Kind

SCHEMA_VERSION = 2

StoredRow = Mapping[str, Any]
"""A row as the database gives it: unchecked values by the names of their columns."""


_NO_PURE = "none"  # In place of a pure ε, where a charge could only be made at a δ.
ROW = "row"
"""The unit of a ledger that protects each row by itself."""


class EntryKind(StrEnum):
    """What a row of the ledger records."""

    CHARGE = "charge"
    PUBLISHED = "published"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Neighbours:
    """What the tables differ by that an ε cannot tell apart: numbers about others do not add up.

    Of a ledger, either may be open (None) until its first charge settles it.
    """

    unit: str | None
    """`row`, or the column whose values are protected with all their rows."""
    membership: bool | None
    """Whether taking part is protected, or only the values of those who do."""

    def __post_init__(self) -> None:
        if self.unit is not None and not checked_line(self.unit, "the unit of a ledger"):
            raise BadInput("the unit of a ledger must be 'row' or the name of a column.")
        if not isinstance(self.membership, bool | None):
            raise BadInput(f"membership must be true or false, not {self.membership!r}.")

    def allows(self, other: Neighbours) -> bool:
        """Whether an ε about others can be added: nothing that is settled differs."""
        same_unit = self.unit in (None, other.unit)
        return same_unit and self.membership in (None, other.membership)

    def __str__(self) -> str:
        who = "each row" if self.unit == ROW else f"each '{self.unit}' with all its rows"
        what = {True: "membership protected", False: "membership public", None: "membership open"}
        return f"{'a unit still open' if self.unit is None else who}, {what[self.membership]}"


@dataclass(frozen=True, kw_only=True)
class LedgerSettings:
    """What a ledger protects and how much may be spent; fixed when it is created."""

    budget: float
    adjacency: Adjacency
    population: str
    delta: float | None
    neighbours: Neighbours
    """What its ε's are about, as far as that was settled."""
    created: str

    def __post_init__(self) -> None:
        check_budget(self.budget)
        checked_line(self.population, "the name of a ledger's population")
        if self.delta is not None:
            check_delta(self.delta)

    def to_row(self) -> dict[str, Any]:
        """Return the settings as they are stored."""
        membership = self.neighbours.membership
        row = {
            "schema_version": SCHEMA_VERSION,
            "budget": repr(float(self.budget)),
            "adjacency": str(self.adjacency),
            "population": self.population,
            "delta": None if self.delta is None else repr(float(self.delta)),
            "unit": self.neighbours.unit,
            "membership": None if membership is None else int(membership),
            "created": self.created,
        }
        return row | {"hash": _digest(row)}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row: a charge, or the news that its release is visible, or never will be."""

    number: int
    kind: EntryKind
    time: str
    label: str
    cost: Cost
    details: Mapping[str, Any]
    refers_to: int | None
    previous: str
    hash: str

    @property
    def guarantee(self) -> Kind:
        """How firmly the guarantee holds that a charge paid for."""
        return Kind(self.details["kind"])

    @property
    def reference(self) -> str:
        """What a release publishes, so that its place in the ledger can be checked."""
        return f"entry {self.number}, sha256 {self.hash}"

    @classmethod
    def from_row(cls, row: StoredRow) -> Entry:
        """Return the entry that a row of an intact chain holds."""
        entry = cls(
            number=row["number"],
            kind=EntryKind(row["kind"]),
            time=row["time"],
            label=row["label"],
            cost=Cost(
                None if row["epsilon"] == _NO_PURE else float(row["epsilon"]), float(row["rho"])
            ),
            details=json.loads(row["details"]),
            refers_to=row["refers_to"],
            previous=row["previous"],
            hash=row["hash"],
        )
        if entry.kind is EntryKind.CHARGE and not entry._says_what_it_is_about():
            raise ValueError("a charge without its kind, unit or membership")
        return entry

    def _says_what_it_is_about(self) -> bool:
        match self.details:
            case {"kind": kind, "unit": str(unit), "membership_protected": bool(membership)}:
                Neighbours(unit, membership)
                return kind in list(Kind) and Kind(kind).states_epsilon
        return False


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Everything that a ledger holds, as the database gives it."""

    settings: StoredRow
    rows: Sequence[StoredRow]
    head: StoredRow


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The contents of a ledger whose every row fits."""

    settings: LedgerSettings
    entries: tuple[Entry, ...]
    hash: str
    """Hash of the last row, or of the settings where there is none yet."""

    @property
    def charges(self) -> tuple[Entry, ...]:
        """The entries that cost something."""
        return tuple(entry for entry in self.entries if entry.kind is EntryKind.CHARGE)

    @property
    def neighbours(self) -> Neighbours:
        """What its ε's are about: as settled at its creation, or by its first charge."""
        if not self.charges:
            return self.settings.neighbours
        first = self.charges[0].details
        return Neighbours(first["unit"], first["membership_protected"])

    @property
    def settled(self) -> dict[int, EntryKind]:
        """What became of charges, by their numbers: published, or abandoned by a person's word."""
        # What was published stays published, whatever a person says of it.
        return {
            entry.refers_to: kind
            for kind in (EntryKind.ABANDONED, EntryKind.PUBLISHED)
            for entry in self.entries
            if entry.kind is kind and entry.refers_to is not None
        }

    @property
    def published(self) -> frozenset[int]:
        """Numbers of the charges whose release became visible."""
        return frozenset(n for n, kind in self.settled.items() if kind is EntryKind.PUBLISHED)

    def following(
        self,
        *,
        kind: EntryKind,
        time: str,
        label: str,
        cost: Cost = NOTHING,
        details: str = "{}",
        refers_to: int | None = None,
    ) -> dict[str, Any]:
        """Return the row that comes next, as it is stored."""
        row = {
            "number": len(self.entries) + 1,
            "kind": str(kind),
            "time": time,
            "label": label,
            "epsilon": _NO_PURE if cost.epsilon is None else repr(cost.epsilon),
            "rho": repr(cost.rho),
            "details": details,
            "refers_to": refers_to,
            "previous": self.hash,
        }
        return row | {"hash": _digest(row)}


def checked_settings(row: StoredRow, *, name: str) -> LedgerSettings:
    """Return the settings that a row holds, or refuse them if they were edited."""
    try:
        if _is_sealed(row):
            return LedgerSettings(
                budget=float(row["budget"]),
                adjacency=Adjacency(row["adjacency"]),
                population=row["population"],
                delta=None if row["delta"] is None else float(row["delta"]),
                neighbours=Neighbours(
                    row["unit"], None if row["membership"] is None else bool(row["membership"])
                ),
                created=row["created"],
            )
    except (TypeError, ValueError):  # Forged, with the hash computed anew.
        pass
    raise Refused(f"the settings of {name} were edited; {_REMEDY}.")


def verified(contents: Contents, *, name: str) -> Chain:
    """Return the chain if it is intact; otherwise name the first row that does not fit."""
    settings = checked_settings(contents.settings, name=name)
    last = contents.settings["hash"]
    for number, row in enumerate(contents.rows, start=1):
        if row["number"] != number:
            raise Refused(f"row {number} of {name} is missing or was renumbered; {_REMEDY}.")
        if not _is_sealed(row):
            raise Refused(f"row {number} of {name} was edited; {_REMEDY}.")
        if row["previous"] != last:
            raise Refused(
                f"row {number} of {name} does not follow what stands before it, which was edited; "
                f"{_REMEDY}."
            )
        last = row["hash"]
    count = len(contents.rows)
    if (contents.head["count"], contents.head["hash"]) != (count, last):
        raise Refused(
            f"{name} ends with row {count}, which is not where its head says that it ends: rows "
            f"after it are missing, or it or the head was edited; {_REMEDY}."
        )
    try:
        entries = tuple(Entry.from_row(row) for row in contents.rows)
        _check_settling(entries)
        if settings.delta is None and any(each.cost.epsilon is None for each in entries):
            raise ValueError("a charge without a pure ε in a ledger without a δ")
    except (TypeError, ValueError):  # Forged, with every hash computed anew.
        raise Refused(f"{name} holds rows that understudy did not write; {_REMEDY}.") from None
    return Chain(settings=settings, entries=entries, hash=last)


def _check_settling(entries: Sequence[Entry]) -> None:
    """Refuse a charge that refers to a row, and any other that does not settle one charge, once."""
    unsettled: set[int | None] = set()
    for entry in entries:
        is_charge = entry.kind is EntryKind.CHARGE
        if is_charge and entry.refers_to is None:
            unsettled.add(entry.number)
        elif not is_charge and entry.refers_to in unsettled:
            unsettled.remove(entry.refers_to)
        else:
            raise ValueError("a row that refers to what it cannot settle")


_REMEDY = "nothing can be charged to it until a backup is restored"


def check_budget(budget: object) -> None:
    """Refuse what is no budget of a ledger."""
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise BadInput(f"a ledger's budget must be a positive number, not {budget!r}.")
    if not math.isfinite(budget) or budget <= 0:
        raise BadInput(f"a ledger's budget must be a positive finite number, not {budget!r}.")


def canonical_details(details: Mapping[str, Any] | None, **stated: Any) -> str:
    """Return a JSON object, with what the ledger itself states, as the one text for it."""
    if details is not None and not isinstance(details, Mapping):
        raise BadInput("the details of a ledger entry must be a JSON object.")
    return _canonical(_plain({**(details or {}), **stated}))


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value as plain JSON, which can be read back on any machine, or refuse it."""
    if depth <= _DEEPEST:
        if value is None or isinstance(value, str | bool):
            return value
        if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
            return int(value)
        if isinstance(value, float) and math.isfinite(value):
            return float(value)
        if isinstance(value, list | tuple):
            return [_plain(item, depth + 1) for item in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {key: _plain(item, depth + 1) for key, item in value.items()}
    raise BadInput(
        "the details of a ledger entry must be plain JSON: text, finite numbers (whole ones up to "
        f"2^53), true, false, null, and lists and objects of these, at most {_DEEPEST} deep."
    )


_DEEPEST = 20


def _is_sealed(row: StoredRow) -> bool:
    """Whether a row's hash is that of its contents."""
    try:
        return bool(row["hash"] == _digest({key: row[key] for key in row if key != "hash"}))
    except (TypeError, ValueError):  # An edit can leave bytes or NaN, which no row of ours holds.
        return False


def _digest(contents: StoredRow) -> str:
    return hashlib.sha256(_canonical(dict(contents)).encode("ascii")).hexdigest()


def _canonical(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
