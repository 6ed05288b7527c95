"""Kinds of missing values: several codes that say why there is no value.

Kinds are numbered from 0 in the order in which their codes are declared. A missing level of kind k
is coded as −1 − k. A missing number is NaN, whatever its kind; where there are several, a companion
in the coded table tells them apart: −1 where there is a value, else k. Without the companion, what
is missing is of kind 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.dates import day_in
from understudy.errors import BadInput

NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""A number as a cell of a table may write it."""
MOST_CODES = 20


def why_missing(name: str) -> str:
    """Return under which name a coded table holds why numbers of a column are missing.

    Args:
        name: Of the column.
    """
    return f"{name} (why missing)"


def check_codes(codes: Sequence[str], levels: Sequence[str], *, numeric: bool) -> None:
    """Refuse codes that could be taken for values, with the rest of a sentence.

    Args:
        codes: As a table writes them; an empty one stands for a blank cell.
        levels: Of the column, if it has any.
        numeric: Whether it holds numbers or dates.
    """
    if len(codes) > MOST_CODES:
        raise BadInput(f"has more than {MOST_CODES} codes")
    if len(set(codes)) < len(codes):
        raise BadInput("has a code twice")
    for code in codes:
        if code in levels:
            raise BadInput(f"has {code!r} both as a level and as a code of missing values")
        if numeric and _is_value(code.strip()):
            raise BadInput(
                f"has the code {code!r}, which could be a value: a code of missing numbers is no "
                "number and no date"
            )


def _is_value(text: str) -> bool:
    return re.fullmatch(NUMBER, text) is not None or day_in(text) is not None


def of_kind(columns: Mapping[str, NDArray[Any]], name: str, kind: int) -> NDArray[np.bool_]:
    """Return the records in which a column is missing for a reason.

    Args:
        columns: A coded table.
        name: Of the column.
        kind: The number of the reason.
    """
    values = np.asarray(columns[name])
    if values.dtype.kind != "f":
        return values == -1 - kind
    return np.isnan(values) & (kinds_of(columns, name) == kind)


def kinds_of(columns: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.int64]:
    """Return the kind of every missing number of a column, and −1 where it is there.

    Args:
        columns: A coded table.
        name: Of the column.
    """
    values = np.asarray(columns[name], dtype=np.float64)
    kinds = np.asarray(columns.get(why_missing(name), np.zeros(len(values), dtype=np.int64)))
    return np.where(np.isnan(values), kinds, -1).astype(np.int64)
