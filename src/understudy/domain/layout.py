"""The TOML layout of a schema, read strictly: what is not known or not filled in is refused.

Here the declarations get their types; whether they make sense together, columns and schemas check
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from understudy.domain.column import Column, Role, Type, listed
from understudy.domain.dates import day_in, day_of
from understudy.domain.rules import Rule
from understudy.errors import BadInput, nearest

BLANK = "FILL IN"
"""What a draft holds in the places that a person has to fill in."""
KEYS = (
    "role",
    "type",
    "bounds",
    "spikes",
    "grid",
    "levels",
    "ordered",
    "outside",
    "missing",
    "codes",
    "average",
    "release",
)
"""What can be declared of a column."""

_WITHOUT_DOMAIN = (Role.IGNORE, Role.UNIT)
_NUMERIC = (Type.CONTINUOUS, Type.COUNT, Type.INTEGER, Type.DATE)
_LEVELLED = (Type.CATEGORICAL, Type.BINARY)
_Word = TypeVar("_Word", bound=StrEnum)


def declarations(mapping: object) -> dict[str, Any]:
    """Return what a layout declares, by the fields of a schema."""
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
    return {
        "size": table.get("size"),
        "columns": tuple(declared.values()),
        "rows_per_unit": table.get("rows_per_unit"),
        "row_is_unit": "unit" in table,
        "rules": tuple(Rule.parse(entries, declared) for entries in rules),
    }


def toml_key(name: str) -> str:
    """Return a column's name as a TOML key, quoted where it has to be."""
    import tomli_w

    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")


def toml_text(text: str) -> str:
    """Return text as a TOML string."""
    import tomli_w

    return tomli_w.dumps({"_": text}).removeprefix("_ = ").removesuffix("\n")


def _column(name: str, entries: object) -> Column:
    where = f"[columns.{toml_key(name)}]"
    declared = _table(entries, where, KEYS)
    # Blanks that are left by now are those of a draft that this column has no use for.
    keys = {key: value for key, value in declared.items() if not _blank(value)}
    role = _word(Role, keys, "role", where)
    if role is None:
        raise BadInput(f"{where} needs a role: {listed(Role)}.")
    if "release" in keys and role is not Role.SURVEY_WEIGHT:
        raise BadInput(
            f"release in {where} belongs to a survey weight, and the column has the role '{role}': "
            f"remove it, because roles alone say what else is released."
        )
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
        bounds=_bounds(keys["bounds"], type_, where) if "bounds" in keys else None,
        levels=("0", "1") if levels is None and type_ is Type.BINARY else levels,
        outside=keys.get("outside", "refuse"),
        missing=keys.get("missing", "refuse"),
        average=_number(keys["average"], f"average in {where}") if "average" in keys else None,
        release=_flag(keys, "release", where),
        spikes=_spikes(keys["spikes"], where) if "spikes" in keys else (),
        grid=_number(keys["grid"], f"grid in {where}") if "grid" in keys else None,
        ordered=_flag(keys, "ordered", where),
        codes=_codes(keys["codes"], where) if "codes" in keys else (),
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
    if isinstance(value, Mapping):
        return any(map(_blank, (*value, *value.values())))
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


def _bounds(value: object, type_: Type | None, where: str) -> tuple[float, float]:
    two = "two dates" if type_ is Type.DATE else "two numbers"
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise BadInput(f"bounds in {where} must be {two}, [lower, upper].")
    if type_ is Type.DATE:
        first, last = (_day(each, f"bounds in {where}") for each in value)
        return first, last
    lower, upper = (_number(each, f"bounds in {where}", "two numbers", "are") for each in value)
    return lower, upper


def _day(value: object, what: str) -> float:
    """Return the number of a day that a person wrote down, as text or as TOML has dates."""
    day = day_in(value) if isinstance(value, str) else None
    if type(value) is date:
        day = day_of(value)
    if day is None:
        # Whatever else stands there may have been computed, so it is not repeated.
        written = f", not {value!r}" if isinstance(value, str) else ""
        raise BadInput(f"{what} must be two dates such as '2019-01-31'{written}.")
    return float(day)


def _spikes(value: object, where: str) -> tuple[float, ...]:
    if not isinstance(value, list | tuple):
        raise BadInput(f"spikes in {where} must be a list of numbers.")
    return tuple(_number(each, f"spikes in {where}", "numbers", "are") for each in value)


def _codes(value: object, where: str) -> tuple[tuple[str, str], ...]:
    """Return the kinds of missing values in the order in which they are declared."""
    codes = _table(value, f"codes in {where}")
    if not codes:
        raise BadInput(f"codes in {where} declares none: remove it, or declare one.")
    for meaning in codes.values():
        if not isinstance(meaning, str):
            raise BadInput(
                f"codes in {where} must give each code a meaning in quotes, such as "
                '{ "N" = "does not apply" }.'
            )
    return tuple(codes.items())


def _flag(keys: Mapping[str, Any], key: str, where: str) -> bool:
    value = keys.get(key, False)
    if not isinstance(value, bool):
        raise BadInput(f"{key} in {where} must be true or false, not {value!r}.")
    return value


def _number(value: object, what: str, wanted: str = "a number", verb: str = "is") -> float:
    """Return a number that a person wrote down; what NumPy computed, such as a minimum, is not."""
    if isinstance(value, np.generic):
        raise BadInput(
            f"{what} must be declared from public knowledge as plain numbers, and this one was "
            f"computed: write it down, and take it from nowhere near the table."
        )
    if type(value) not in (int, float):
        raise BadInput(f"{what} must be {wanted}, not {value!r}.")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise BadInput(f"{what} {verb} too large.") from None


def _levels(value: object, where: str) -> tuple[str, ...]:
    """Return levels in the form in which a CSV file would hold them."""
    if not isinstance(value, list | tuple):
        raise BadInput(f"levels in {where} must be a list.")
    for level in value:
        if not isinstance(level, int | str):
            raise BadInput(
                f"levels in {where} must be text, whole numbers or true and false, not {level!r}; "
                "put it in quotes, exactly as the table writes it."
            )
    return tuple(str(level).lower() if isinstance(level, bool) else str(level) for level in value)
