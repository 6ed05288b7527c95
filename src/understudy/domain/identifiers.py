"""Repeated ids: a sign that somebody has several rows.

The guarantee is for one record. Where one person has several, it has to be told which rows belong
together (role `unit`), or a person has to say that each row is protected by itself
(`unit = "row"` under [table]). Nobody can tell an id from another column for sure. This is asked
where all of the following hold:

- the column's name says so: one of its words is `id`, `pid`, `uuid`, ... or names a person, a
  household, a firm, a patient, ..., alone or followed by `id`, `number`, `code` or `key`;
- its values are text or whole numbers, and the schema does not call it continuous;
- some value occurs more than once;
- there are at least 10 distinct values, and at least one for every 100 rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.column import Column, Role, Type
from understudy.domain.schema import Schema
from understudy.domain.tables import numbers
from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_DISTINCT = 10
_MOST_ROWS_EACH = 100
_IDS = frozenset(
    {"id", "ids", "identifier", "pid", "uid", "hid", "hhid", "ssn", "nin", "uuid", "guid"}
)
_HOLDERS = (
    "account|applicant|child|citizen|client|company|customer|employee|employer|establishment|"
    "family|firm|hh|household|individual|member|panelist|parent|participant|patient|person|pupil|"
    "recipient|resident|resp|respondent|student|subject|taxpayer|user|worker"
)
_HOLDER = re.compile(rf"({_HOLDERS})(id|no|nr|num|number|code|key)?")


def refuse_repeated_ids(frame: pd.DataFrame, schema: Schema, *, name: str) -> None:
    """Refuse a table with repeated ids, unless the schema says what is protected."""
    for column in unsure_ids(schema):
        if column.name in frame.columns and _repeats(frame[column.name]):
            raise BadInput(
                f"column {column.name!r} of {name} looks like an id and repeats, so somebody may "
                f"have several rows: give it role = 'unit' to protect all rows of one "
                f"{column.name!r} together, or write unit = 'row' under [table] if each row is to "
                "be protected by itself."
            )


def refuse_unsure_ids(schema: Schema, *, name: str) -> None:
    """Refuse a table too large to look for repeated ids in, unless the schema says what they are.

    To find that none of many millions of ids occurs twice, all of them would have to be held.
    """
    for column in unsure_ids(schema):
        raise BadInput(
            f"column {column.name!r} of {name} looks like an id, and the table is too large to "
            f"look whether it repeats: give it role = 'unit' if somebody may have several rows, or "
            f"write unit = 'row' under [table] if each row is to be protected by itself."
        )


def unsure_ids(schema: Schema) -> list[Column]:
    """Return the columns that may be ids, as far as their declarations tell."""
    if schema.unit is not None or schema.row_is_unit:
        return []
    return [
        column
        for column in schema.columns
        if column.role is not Role.SURVEY_WEIGHT
        and column.type is not Type.CONTINUOUS
        and sounds_like_an_id(column.name)
    ]


def sounds_like_an_id(name: str) -> bool:
    """Whether a column's name says that it tells people or other units apart."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))
    lowered = [word.lower() for word in words]
    return any(word in _IDS or _HOLDER.fullmatch(word) for word in lowered)


def _repeats(series: pd.Series[Any]) -> bool:
    present = series[~series.isna()]
    values, missing = numbers(present.reset_index(drop=True))
    parsed = values[~missing]
    finite = parsed[np.isfinite(parsed)]
    if not np.array_equal(finite, np.rint(finite)):
        return False
    rows, distinct = len(parsed), present[~missing].astype("str").nunique()
    enough = distinct >= max(_FEWEST_DISTINCT, rows / _MOST_ROWS_EACH)
    return bool(enough and distinct < rows)
