"""Analyses of several synthetic tables of one release, combined into one.

What was published beside the tables says whether there is a rule: tables must come from draws of θ
of their own, follow a posterior, and have independent rows. With `Summary`, public rows are drawn
anew for each of several tables (`Skeleton.drawn`), so that the answer is about the population that
the confidential table was a sample of, and not about the very rows that are public.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.domain.frames import frame_of
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns, encode
from understudy.errors import BadInput, Refused
from understudy.mechanisms.published import read_parameters
from understudy.mechanisms.registry import no_combining
from understudy.questions import asked
from understudy.questions.combining import combine
from understudy.questions.pooled import Pooled
from understudy.synthesis.release import Release

if TYPE_CHECKING:
    import pandas as pd

_NAME = re.compile(r"synthetic(?:-([1-9]\d*))?")


def pool(
    tables: Release | Sequence[str | os.PathLike[str]],
    question: str | Callable[[pd.DataFrame], Any],
    *,
    level: float = 0.95,
) -> Pooled:
    """Combine the analyses of several synthetic tables of one release into one interval.

    Each table is analysed as if it were a sample; the rule of Raghunathan, Reiter and Rubin for
    tables from draws of θ tells from their differences how much is not known. With `Summary`, ask
    `synthesize` for as many `tables` as you like: they are free. Five make intervals about 1.6
    times as wide as a great many would, ten 1.2 times and twenty 1.1 times. Answers are about the
    population that the confidential table was a sample of; one whose interval the tables do not
    tell has none, and a warning.

    Args:
        tables: A release with several tables, or the files of its tables where it was written:
            `parameters.json`, `parameters-2.json`, ... have to lie beside them.
        question: `mean(y)`, `median(y)`, `quantile(y, 0.9)`, `share(y > 0 and g == 'a')` or
            `correlation(x, y)`, each also `by g`, or a regression such as `y ~ x + g`.
        level: With what probability an interval is to hold the answer.

    Returns:
        The answers with their intervals.

    Raises:
        BadInput: The tables are not from one release, do not fit their schema, or the question
            cannot be meant.
        Refused: No rule is known for these tables.
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise BadInput(f"`level` must be a number between 0 and 1, not {level!r}.")
    if isinstance(tables, Release):
        published = tables.parameters[0]
        named: dict[str, Any] = {f"table {k}": each for k, each in enumerate(tables.tables, 1)}
        _check_several(len(named))
    else:
        files = _files(tables)
        # Its θ is the estimate and none of the draws: no reason to call its files mixed up.
        _check_several(len(files))
        published, named = _opened(files)
    schema = Schema.from_dict(published["schema"])
    reason = no_combining(published, schema)
    if reason is not None:
        raise Refused(f"{reason[0].lower()}{reason[1:]}")
    posed = asked(question, schema)
    coded = [_coded(frame_of(table), schema, name) for name, table in named.items()]
    return Pooled(
        question=posed.text,
        level=level,
        tables=len(coded),
        rows=min(len(next(iter(columns.values()))) for columns in coded),
        regression=posed.regression,
        estimates=combine([posed.analyse(columns) for columns in coded], level=level),
    )


def _check_several(count: int) -> None:
    if count < 2:
        raise BadInput(
            "one table alone does not tell how far its answer may be off: give several tables of "
            "one release, made with `tables`, or ask a release of one table by infer."
        )


def _coded(frame: pd.DataFrame, schema: Schema, name: str) -> Columns:
    return encode(frame, schema, roles=(Role.CONFIDENTIAL, Role.PUBLIC), name=name)


def _files(tables: Any) -> list[Path]:
    listed = isinstance(tables, Sequence) and not isinstance(tables, str)
    if not listed or not all(isinstance(each, str | os.PathLike) for each in tables):
        raise BadInput(
            "`tables` must be a release, or a list of the files of its tables: what was published "
            "beside them says whether they can be combined."
        )
    return [Path(each) for each in tables]


def _opened(files: list[Path]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a release published with its first table, and the tables by their names.

    Tables of different releases are refused: they lie in different places, or their parameters do
    not agree with those of the first.
    """
    places = {file.absolute().parent for file in files}
    if len(places) > 1:
        raise BadInput(
            "the tables are not from one release: they lie in different directories, and only "
            "draws from the same posterior can be combined."
        )
    numbers = [_number(file) for file in files]
    if len(set(numbers)) < len(numbers):
        raise BadInput("the same table of a release was given twice: give each of them once.")
    first = _parameters(files[0], 1)
    for file, number in zip(files, numbers, strict=True):
        _check_same_release(first, _parameters(file, number), number, file)
    return first, {str(file): file for file in files}


def _number(file: Path) -> int:
    match = _NAME.fullmatch(file.stem)
    if match is None:
        raise BadInput(
            f"'{file}' is not called as a release calls its tables (synthetic.csv, "
            f"synthetic-2.csv, ...), so it cannot be told which parameters it came from."
        )
    return int(match[1] or 1)


def _parameters(table: Path, number: int) -> dict[str, Any]:
    file = table.with_name("parameters.json" if number == 1 else f"parameters-{number}.json")
    if not file.is_file():
        raise BadInput(
            f"there is no '{file.name}' beside '{table}': leave the tables of a release where it "
            f"was written, with all that was published."
        )
    return read_parameters(file)


def _check_same_release(
    first: dict[str, Any], other: dict[str, Any], number: int, table: Path
) -> None:
    shared = other.keys() - {"parameters", "estimate", "draws", "rounds", "intervals", "prior"}
    agree = all(first.get(key) == other[key] for key in shared)
    draws = first.get("draws")
    if agree and isinstance(draws, list):
        # Tables of a summary come from the first of its draws, in their order.
        agree = number <= len(draws) and draws[number - 1] == other["parameters"]
    if not agree:
        raise BadInput(
            f"'{table}' is not from the same release as 'parameters.json' beside it: its own "
            f"parameters do not agree with what that release drew."
        )
