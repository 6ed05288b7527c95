"""The declared public domain: which columns a table has, and what each may hold.

Everything that the synthesis needs to know about the domain of the data (bounds, levels, the size
of the table) is declared here by a person, from public knowledge, and is never learned from the
confidential table: a bound or a level that was read off the data would leak out of every release.
So a schema is public, its values may be quoted, and what it does not declare is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column, Role, Type, listed
from understudy.domain.rules import Rule
from understudy.errors import BadInput, nearest

__all__ = ["BLANK", "Column", "Role", "Schema", "Type", "toml_key", "toml_text"]

BLANK = "FILL IN"
"""What a draft holds in the places that a person has to fill in."""
LARGEST_UNIT = 366
"""Rows of a unit, a year of days; every unit takes the memory of the largest that is declared."""


@dataclass(frozen=True)
class Schema:
    """The declared columns, in order, the declared size of the table, and its rules."""

    size: int | None
    """About how many rows the table has."""
    columns: tuple[Column, ...]
    rows_per_unit: int | None = None
    """The most rows that a unit may have, where a column says which rows belong together."""
    row_is_unit: bool = False
    """Whether a person has said that each row is protected by itself."""
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if not self.having(Role.CONFIDENTIAL, Role.PUBLIC):
            raise BadInput("no column is declared as confidential or public.")
        if len(set(self.names)) < len(self.columns):
            raise BadInput("two columns are declared under the same name.")
        size = self.size
        if size is not None and (type(size) is not int or size <= 0):
            raise BadInput(f"table.size must be a positive whole number, not {size!r}.")
        for role in (Role.UNIT, Role.SURVEY_WEIGHT):
            if len(self.having(role)) > 1:
                names = ", ".join(column.name for column in self.having(role))
                raise BadInput(f"only one column can have the role '{role}', not {names}.")
        self._check_unit()

    def _check_unit(self) -> None:
        width = self.rows_per_unit
        if self.unit is None:
            if width is not None:
                raise BadInput(
                    "table.rows_per_unit is declared, but no column has the role 'unit'; give it "
                    "to the column that says which rows belong together."
                )
            return
        if self.row_is_unit:
            raise BadInput(
                f"table.unit = 'row' contradicts column {self.unit.name!r}, which has the role "
                "'unit': remove one of them."
            )
        if width is None:
            raise BadInput(
                f"column {self.unit.name!r} has the role 'unit', so table.rows_per_unit is needed: "
                "the most rows that a unit may have, from public knowledge."
            )
        if type(width) is not int or not 1 <= width <= LARGEST_UNIT:
            raise BadInput(
                f"table.rows_per_unit must be a whole number from 1 to {LARGEST_UNIT:,}, not "
                f"{width!r}."
            )

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
        table = {
            "size": self.size,
            "rows_per_unit": self.rows_per_unit,
            "unit": "row" if self.row_is_unit else None,
        }
        declared = {key: value for key, value in table.items() if value is not None}
        rules = [rule.to_dict() for rule in self.rules]
        return (
            ({"table": declared} if declared else {})
            | {"columns": columns}
            | ({"rules": rules} if rules else {})
        )

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

    @property
    def unit(self) -> Column | None:
        """The column that says which rows belong to one person or unit."""
        return next(iter(self.having(Role.UNIT)), None)

    @property
    def survey_weight(self) -> Column | None:
        """The column that says how many members of the population a row stands for."""
        return next(iter(self.having(Role.SURVEY_WEIGHT)), None)

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

    def standing_alone(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return public or simulated rows as units of their own, each of the average weight.

        They come without ids and weights, and a model of a table with either needs them.
        """
        rows = len(next(iter(columns.values())))
        completed = dict(columns)
        if self.unit is not None:
            completed[self.unit.name] = np.arange(rows)
        if self.survey_weight is not None:
            completed[self.survey_weight.name] = np.full(rows, self.survey_weight.average)
        return completed


def toml_key(name: str) -> str:
    """Return a column's name as a TOML key, quoted where it has to be."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    return toml_text(name)


def toml_text(text: str) -> str:
    """Return text as a TOML string; JSON's rules differ in a single character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_Word = TypeVar("_Word", bound=StrEnum)

_WITHOUT_DOMAIN = (Role.IGNORE, Role.UNIT)
_NUMERIC = (Type.CONTINUOUS, Type.COUNT, Type.INTEGER)
_LEVELLED = (Type.CATEGORICAL, Type.BINARY)
_KEYS = ("role", "type", "bounds", "levels", "outside", "missing", "average")


def _schema(mapping: object) -> Schema:
    top = _table(mapping, "the schema", ("table", "columns", "rules"))
    blanks = list(_blanks(top))
    if blanks:
        raise BadInput(
            f"fill in {', '.join(blanks)} from public knowledge, not from looking at the table."
        )
    table = _table(top.get("table", {}), "[table]", ("size", "rows_per_unit", "unit"))
    columns = _table(top.get("columns", {}), "[columns]")
    if not columns:
        raise BadInput("no columns are declared; add a [columns.NAME] table for each.")
    if table.get("unit", "row") != "row":
        raise BadInput(
            f"table.unit can only be 'row', not {table['unit']!r}; where a column says which rows "
            "belong together, give that column role = 'unit'."
        )
    declared = {name: _column(name, entries) for name, entries in columns.items()}
    rules = top.get("rules", [])
    if not isinstance(rules, list | tuple):
        raise BadInput("rules must be a list; write each under [[rules]].")
    return Schema(
        size=table.get("size"),
        columns=tuple(declared.values()),
        rows_per_unit=table.get("rows_per_unit"),
        row_is_unit="unit" in table,
        rules=tuple(Rule.parse(entries, declared) for entries in rules),
    )


def _column(name: str, entries: object) -> Column:
    where = f"[columns.{toml_key(name)}]"
    declared = _table(entries, where, _KEYS)
    # Blanks that are left by now are those of a draft that this column has no use for.
    keys = {key: value for key, value in declared.items() if not _blank(value)}
    role = _word(Role, keys, "role", where)
    if role is None:
        raise BadInput(f"{where} needs a role: {listed(Role)}.")
    if role in _WITHOUT_DOMAIN:
        # What is left out, or only tells rows apart, has no domain, so nothing else has an effect.
        return Column(name, role)
    type_ = _word(Type, keys, "type", where)
    if role is Role.SURVEY_WEIGHT and type_ is None:
        type_ = Type.CONTINUOUS
    levels = _levels(keys["levels"], where) if "levels" in keys else None
    return Column(
        name=name,
        role=role,
        type=type_,
        bounds=_bounds(keys["bounds"], where) if "bounds" in keys else None,
        levels=("0", "1") if levels is None and type_ is Type.BINARY else levels,
        outside=keys.get("outside", "refuse"),
        missing=keys.get("missing", "refuse"),
        average=_number(keys["average"], where) if "average" in keys else None,
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
    """Yield the place of every blank that matters."""
    table, columns = top.get("table"), top.get("columns")
    if isinstance(table, Mapping):
        yield from (f"table.{key}" for key, value in table.items() if _blank(value))
    if isinstance(columns, Mapping):
        for name, entries in columns.items():
            if isinstance(entries, Mapping):
                path = f"columns.{toml_key(str(name))}"
                yield from (f"{path}.{key}" for key in _blank_keys(entries))


def _blank_keys(entries: Mapping[str, Any]) -> Iterator[str]:
    """Yield the blanks of a column, except those that its role or its type does not use."""
    if entries.get("role") in _WITHOUT_DOMAIN:
        return
    blank = [key for key, value in entries.items() if _blank(value)]
    yield from (key for key in blank if key not in ("bounds", "levels"))
    needed = _domain_keys(entries)
    filled_in = any(key in entries and key not in blank for key in needed)
    if not filled_in and any(key in blank for key in needed):
        yield " or ".join(needed)


def _domain_keys(entries: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which key holds a column's domain; a draft has both, until there is a type."""
    type_ = entries.get("type")
    if entries.get("role") == Role.SURVEY_WEIGHT or type_ in _NUMERIC:
        return ("bounds",)
    return ("levels",) if type_ in _LEVELLED else ("bounds", "levels")


def _blank(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_blank(element) for element in value)
    return isinstance(value, str) and value.strip() == BLANK


def _word(words: type[_Word], keys: Mapping[str, Any], key: str, where: str) -> _Word | None:
    if key not in keys:
        return None
    value = keys[key]
    for word in words:
        if value == word:
            return word
    hint = nearest(value, words) if isinstance(value, str) else ""
    raise BadInput(f"{key} in {where} must be one of {listed(words)}, not {value!r}{hint}.")


def _bounds(value: object, where: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise BadInput(f"bounds in {where} must be two numbers, [lower, upper].")
    for number in value:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise BadInput(f"bounds in {where} must be two numbers, not {number!r}.")
        _check_written_down(number, f"bounds in {where}")
    try:
        lower, upper = map(float, value)
    except OverflowError:
        raise BadInput(f"bounds in {where} are too large.") from None
    return lower, upper


def _check_written_down(number: object, what: str) -> None:
    """Refuse what NumPy computed, such as a smallest value; what a person writes is plain."""
    if type(number) not in (int, float):
        raise BadInput(
            f"{what} must be declared from public knowledge as plain numbers, and this one was "
            f"computed: write it down, and take it from nowhere near the table."
        )


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"average in {where} must be a number, not {value!r}.")
    _check_written_down(value, f"average in {where}")
    try:
        return float(value)
    except OverflowError:
        raise BadInput(f"average in {where} is too large.") from None


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
