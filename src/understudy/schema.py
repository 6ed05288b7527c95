"""The declared public domain: which columns a table has, and what each may hold.

Everything that the synthesis needs to know about the domain of the data (bounds, levels, the size
of the table) is declared here by a person, from public knowledge, and is never learned from the
confidential table: a bound or a level that was read off the data would leak out of every release.
So a schema is public, its values may be quoted, and what it does not declare is refused.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import BadInput

BLANK = "FILL IN"
"""What a draft holds in the places that a person has to fill in."""

LARGEST_INTEGER = 2**53
"""Whole numbers up to here are exact in float64, in which all numeric columns are computed."""


class Role(StrEnum):
    """What happens to a column: it is synthesised, copied as it is, or left out."""

    CONFIDENTIAL = "confidential"
    PUBLIC = "public"
    IGNORE = "ignore"


class Type(StrEnum):
    """What the values of a column are."""

    CONTINUOUS = "continuous"
    COUNT = "count"
    INTEGER = "integer"
    CATEGORICAL = "categorical"
    BINARY = "binary"


_WHOLE = frozenset({Type.COUNT, Type.INTEGER})
_LEVELLED = frozenset({Type.CATEGORICAL, Type.BINARY})


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BadInput(otherwise)


@dataclass(frozen=True)
class Column:
    """One declared column. Numeric types have bounds, the others have levels, never both."""

    name: str
    role: Role
    type: Type | None = None
    bounds: tuple[float, float] | None = None
    levels: tuple[str, ...] | None = None
    outside: str = "refuse"

    def __post_init__(self) -> None:
        try:
            self._check()
        except BadInput as fault:
            raise BadInput(f"column {self.name!r} {fault}.") from None

    def _check(self) -> None:
        """Refuse a declaration that contradicts itself, with the rest of a sentence."""
        _demand(
            bool(self.name) and writable(self.name),
            "needs a name without line breaks and other control characters",
        )
        _demand(
            self.outside in ("refuse", "clamp"),
            f"has outside = {self.outside!r}, which must be 'refuse' or 'clamp'",
        )
        if self.type is None:
            _demand(self.role is Role.IGNORE, f"needs a type: {_listed(Type)}")
        elif self.numeric:
            _demand(self.levels is None, f"is {self.type} and has bounds, so remove its levels")
            _check_bounds(self.bounds, self.type)
        else:
            _demand(self.bounds is None, f"is {self.type} and has levels, so remove its bounds")
            _demand(self.outside == "refuse", f"is {self.type}, and only numbers can be clamped")
            _check_levels(self.levels, self.type)

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers within bounds, rather than codes of levels."""
        return self.type is not None and self.type not in _LEVELLED

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole ones."""
        return self.type in _WHOLE

    @property
    def lower(self) -> float:
        """The smallest value that the declaration allows."""
        return self._declared_bounds[0]

    @property
    def upper(self) -> float:
        """The largest value that the declaration allows."""
        return self._declared_bounds[1]

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.upper - self.lower

    @property
    def _declared_bounds(self) -> tuple[float, float]:
        if self.bounds is None:
            raise BadInput(f"column {self.name!r} is not numeric, so it has no bounds.")
        return self.bounds

    def spread(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """Return values that cover the domain evenly, one for each rank 0, ..., len(ranks) − 1."""
        if self.levels is not None:
            return ranks % len(self.levels)
        quantiles = (ranks + 0.5) / max(len(ranks), 1)
        values = np.clip(self.lower + self.width * quantiles, self.lower, self.upper)
        return np.rint(values) if self.whole else values

    def to_dict(self) -> dict[str, Any]:
        """Return the column's table in the TOML layout."""
        if self.type is None:
            return {"role": str(self.role)}
        declared: dict[str, Any] = {"role": str(self.role), "type": str(self.type)}
        if self.levels is not None:
            return declared | {"levels": list(self.levels)}
        number = int if self.whole else float
        return declared | {
            "bounds": [number(self.lower), number(self.upper)],
            "outside": self.outside,
        }


@dataclass(frozen=True)
class Schema:
    """The declared columns, in order, and the declared size of the table."""

    size: int | None
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if all(column.role is Role.IGNORE for column in self.columns):
            raise BadInput("no column is declared as confidential or public.")
        if len(set(self.names)) < len(self.columns):
            raise BadInput("two columns are declared under the same name.")
        size = self.size
        if size is not None and (type(size) is not int or size <= 0):
            raise BadInput(f"table.size must be a positive whole number, not {size!r}.")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise BadInput(f"there is no schema file {path}.") from None
        except OSError as error:
            raise BadInput(f"the schema {path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise BadInput(f"the schema {path} is not UTF-8 text.") from None
        try:
            mapping = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the schema {path} is not valid TOML: {error}.") from None
        return cls.from_dict(mapping, source=str(path))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], source: str = "the schema") -> Schema:
        """Read a schema from the TOML layout; `source` opens the sentence of every refusal."""
        try:
            return _schema(mapping)
        except BadInput as error:
            raise BadInput(f"{source}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the TOML layout, from which `from_dict` builds an equal schema."""
        columns = {column.name: column.to_dict() for column in self.columns}
        table = {} if self.size is None else {"table": {"size": self.size}}
        return table | {"columns": columns}

    @property
    def digest(self) -> str:
        """A fingerprint of the declarations, the same for every equivalent way to write them."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all declared columns, ignored ones included."""
        return tuple(column.name for column in self.columns)

    @property
    def confidential(self) -> tuple[Column, ...]:
        """The columns that are synthesised."""
        return self.having(Role.CONFIDENTIAL)

    @property
    def public(self) -> tuple[Column, ...]:
        """The columns that are public and copied as they are."""
        return self.having(Role.PUBLIC)

    def having(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns that have one of the roles."""
        return tuple(column for column in self.columns if column.role in roles)

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise BadInput(f"the schema declares no column {name!r}{nearest(name, self.names)}.")

    def public_points(self, count: int) -> dict[str, NDArray[Any]]:
        """Return `count` fixed records spread over the declared domain, as `tables.encode` codes.

        They know nothing but the schema. Each column visits its domain evenly, in a fixed order of
        its own, so that no column is a function of another and predictors are not collinear. The
        raw output of PCG64 serves as a shuffle because NumPy promises that it will never change.
        """
        return {
            column.name: column.spread(np.argsort(np.random.PCG64(turn).random_raw(count)))
            for turn, column in enumerate(self.having(Role.CONFIDENTIAL, Role.PUBLIC))
        }


def toml_key(name: str) -> str:
    """Return a column's name as a TOML key, quoted where it has to be."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    return toml_text(name)


def toml_text(text: str) -> str:
    """Return text as a TOML string; JSON's rules differ in a single character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ' (did you mean ...?)' where a known word is close, to go into a sentence."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def writable(text: str) -> bool:
    """Whether a name or level survives being written to a CSV file and read back."""
    return not any(
        unicodedata.category(character) in ("Cc", "Cs") or character == "\ufeff"
        for character in text
    )


_Word = TypeVar("_Word", bound=StrEnum)

_LATER = {
    "role": ("unit", "survey-weight"),
    "missing": ("model",),
}
_KEYS = ("role", "type", "bounds", "levels", "outside", "missing")


def _schema(mapping: object) -> Schema:
    top = _table(mapping, "the schema", ("table", "columns", "rules"))
    if "rules" in top:
        raise BadInput("[[rules]] are not offered yet; remove them.")
    blanks = list(_blanks(top))
    if blanks:
        raise BadInput(
            f"fill in {', '.join(blanks)} from public knowledge, not from looking at the table."
        )
    table = _table(top.get("table", {}), "[table]", ("size",))
    columns = _table(top.get("columns", {}), "[columns]")
    if not columns:
        raise BadInput("no columns are declared; add a [columns.NAME] table for each.")
    return Schema(
        size=table.get("size"),
        columns=tuple(_column(name, entries) for name, entries in columns.items()),
    )


def _column(name: str, entries: object) -> Column:
    where = f"[columns.{toml_key(name)}]"
    keys = _table(entries, where, _KEYS)
    for key, later in _LATER.items():
        if keys.get(key) in later:
            raise BadInput(f"{key} = {keys[key]!r} in {where} is not offered yet.")
    role = _word(Role, keys, "role", where)
    if role is None:
        raise BadInput(f"{where} needs a role: {_listed(Role)}.")
    if role is Role.IGNORE:
        # A column that is left out has no domain, so what else is written about it has no effect.
        return Column(name, role)
    if keys.get("missing", "refuse") != "refuse":
        raise BadInput(f"missing in {where} must be 'refuse', not {keys['missing']!r}.")
    type_ = _word(Type, keys, "type", where)
    levels = _levels(keys["levels"], where) if "levels" in keys else None
    return Column(
        name=name,
        role=role,
        type=type_,
        bounds=_bounds(keys["bounds"], where) if "bounds" in keys else None,
        levels=("0", "1") if levels is None and type_ is Type.BINARY else levels,
        outside=keys.get("outside", "refuse"),
    )


def _table(value: object, where: str, known: tuple[str, ...] | None = None) -> Mapping[str, Any]:
    """Return the value as a table whose keys are all known; None stands for any keys."""
    if not isinstance(value, Mapping):
        raise BadInput(f"{where} must be a table of keys and values.")
    for key in value:
        if not isinstance(key, str):
            raise BadInput(f"{where} has a key that is not text.")
        if known is not None and key not in known:
            raise BadInput(f"{where} has an unknown key {key!r}{nearest(key, known)}.")
    return value


def _blanks(top: Mapping[str, Any]) -> Iterator[str]:
    """Yield the place of every blank. Ignored columns have none: nothing of them is used."""

    def blank(value: object) -> bool:
        if isinstance(value, list | tuple):
            return any(blank(element) for element in value)
        return isinstance(value, str) and value.strip() == BLANK

    def places(entries: object, path: str) -> Iterator[str]:
        if not isinstance(entries, Mapping) or entries.get("role") == Role.IGNORE:
            return
        yield from (f"{path}.{key}" for key, value in entries.items() if blank(value))

    yield from places(top.get("table"), "table")
    columns = top.get("columns")
    if isinstance(columns, Mapping):
        for name, entries in columns.items():
            yield from places(entries, f"columns.{toml_key(str(name))}")


def _listed(words: type[StrEnum]) -> str:
    return " | ".join(words)


def _word(words: type[_Word], keys: Mapping[str, Any], key: str, where: str) -> _Word | None:
    if key not in keys:
        return None
    value = keys[key]
    for word in words:
        if value == word:
            return word
    hint = nearest(value, words) if isinstance(value, str) else ""
    raise BadInput(f"{key} in {where} must be one of {_listed(words)}, not {value!r}{hint}.")


def _bounds(value: object, where: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise BadInput(f"bounds in {where} must be two numbers, [lower, upper].")
    for number in value:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise BadInput(f"bounds in {where} must be two numbers, not {number!r}.")
    try:
        lower, upper = map(float, value)
    except OverflowError:
        raise BadInput(f"bounds in {where} are too large.") from None
    return lower, upper


def _check_bounds(bounds: tuple[float, float] | None, type_: Type) -> None:
    if bounds is None:
        raise BadInput(f"is {type_} and needs bounds = [lower, upper]")
    lower, upper = bounds
    _demand(all(map(math.isfinite, (lower, upper, upper - lower))), "needs finite bounds")
    _demand(lower != upper, "has equal bounds; the lower must be below the upper")
    _demand(lower < upper, "has reversed bounds; the lower must be below the upper")
    if type_ in _WHOLE:
        whole = lower == math.floor(lower) and upper == math.floor(upper)
        _demand(whole, f"is {type_}, so its bounds must be whole numbers")
        exact = max(-lower, upper) <= LARGEST_INTEGER
        _demand(exact, f"is {type_}, so its bounds must lie within ±2^53")
    if type_ is Type.COUNT:
        _demand(lower >= 0, "is a count, so its lower bound cannot be negative; see type integer")


def _levels(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise BadInput(f"levels in {where} must be a list.")
    return tuple(_level(level, where) for level in value)


def _level(level: object, where: str) -> str:
    """Return a level in the form in which a CSV file would hold it."""
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, int | str):
        return str(level)
    raise BadInput(
        f"levels in {where} must be text, whole numbers or true and false, not {level!r}; "
        "put it in quotes, exactly as the table writes it."
    )


def _check_levels(levels: tuple[str, ...] | None, type_: Type) -> None:
    if levels is None:
        raise BadInput(f"is {type_} and needs levels")
    _demand(all(levels), "has an empty level, but empty means missing")
    _demand(all(map(writable, levels)), "has a level with a line break or control character")
    repeated = [level for level, times in Counter(levels).items() if times > 1]
    _demand(not repeated, f"has repeated levels: {', '.join(map(repr, repeated))}")
    _demand(len(levels) >= 2, f"is {type_} and needs at least two levels")
    if type_ is Type.BINARY:
        _demand(len(levels) == 2, f"is binary and needs exactly two levels, not {len(levels)}")
