"""The sample of the paper's section 5, from the public-use file of a survey.

The National Science Foundation publishes the Survey of Doctorate Recipients of 2017 as `epsd17`
(epsd17.sas7bdat, and EPSD17.DAT with LAYOUTPSD17.TXT). The sample is everybody who is employed by
a four-year college or university (EDTP 3) and whose field is mathematics and statistics
(NDGMENGP 12). The file is not part of the project; whoever has it can name it.

Bounds and levels below are those of the published codebook, never those of the records.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from understudy.domain import tables
from understudy.domain.schema import Schema
from understudy.domain.table_files import read
from understudy.errors import BadInput
from understudy.study.arms import Values
from understudy.study.fixed_width import SUFFIXES, read_fixed_width
from understudy.study.paper import APPLICATION_N

INSTITUTION, FOUR_YEAR = "EDTP", 3
FIELD, MATHEMATICS_AND_STATISTICS = "NDGMENGP", 12

SALARY_BOUNDS = (-500, 600_000)
"""No code of the file may lie on a bound, where a Beta density is not finite. The file rounds to
thousands, so its lowest code, 0, stands for what is above −500; its highest, 509,000, stands for
every salary beyond 362,000."""
WEEKS_BOUNDS = (1, 52)
"""As in the codebook; the paper's sample ranges from 2 to 52."""
GENDERS = ("F", "M")
AGES = {25: "29 and under", **{age: f"{age}-{age + 4}" for age in range(30, 70, 5)}, 70: "70-75"}
"""The codebook's ten groups; the paper speaks of nine levels."""

SCHEMA = Schema.from_dict(
    {
        "table": {"size": APPLICATION_N},
        "columns": {
            "salary": {
                "role": "confidential",
                "type": "continuous",
                "bounds": list(SALARY_BOUNDS),
            },
            "gender": {"role": "public", "type": "categorical", "levels": list(GENDERS)},
            "age": {"role": "public", "type": "categorical", "levels": list(AGES.values())},
            "weeks": {"role": "public", "type": "integer", "bounds": list(WEEKS_BOUNDS)},
        },
    },
    source="the Survey of Doctorate Recipients",
)

_VARIABLES = {"salary": "SALARYP", "gender": "GENDER", "age": "AGEGRP", "weeks": "WKSWK"}
_SKIPS = {"SALARYP": (9_999_998, 9_999_999), "AGEGRP": (98, 99), "WKSWK": (98, 99)}
"""Codes of questions that were skipped or not answered, where answers are numbers."""
_SKIPPED = ("", ".", "L")
"""The same as text. M, which stands for missing elsewhere, is a gender."""


def read_doctorates(path: Path) -> tuple[pd.DataFrame, int]:
    """Read the sample from the public-use file, or from an extract with the same variables.

    It comes in the columns of the embedded survey, and with the number of records that were left
    out for a skipped or missing answer.
    """
    everybody = _read(path)
    # As numbers, '3', ' 3', 3 and 3.0 are one code.
    place, field = (tables.numbers(everybody[name])[0] for name in (INSTITUTION, FIELD))
    sample = everybody[(place == FOUR_YEAR) & (field == MATHEMATICS_AND_STATISTICS)]
    skipped = np.any([_skipped(sample[name], name) for name in _VARIABLES.values()], axis=0)
    answered = sample[~skipped]
    if answered.empty:
        raise BadInput(
            f"no record of {path} has {INSTITUTION} {FOUR_YEAR}, {FIELD} "
            f"{MATHEMATICS_AND_STATISTICS} and an answer to every question: is it the public-use "
            f"file of 2017?"
        )
    return _decoded(answered, path), int(skipped.sum())


def _read(path: Path) -> pd.DataFrame:
    """Return the variables of every respondent; the row numbers are those of the file."""
    needed = [INSTITUTION, FIELD, *_VARIABLES.values()]
    if path.suffix.lower() in SUFFIXES:
        return read_fixed_width(path, needed)
    frame = read(path)
    columns = {}
    for name in needed:
        # The file's own spelling: packages differ in capitals.
        spellings = [column for column in frame.columns if column.upper() == name]
        if len(spellings) != 1:
            raise BadInput(
                f"{path} has {'no' if not spellings else 'more than one'} column {name}: the "
                f"application needs {', '.join(needed)} of the Survey of Doctorate Recipients 2017."
            )
        columns[name] = frame[spellings[0]]
    return pd.DataFrame(columns)


def _skipped(series: pd.Series[Any], variable: str) -> NDArray[np.bool_]:
    """Return which answers were skipped or are missing, by the codebook."""
    values, blank = tables.numbers(series)
    coded = np.isin(values, _SKIPS.get(variable, ()))
    letters = [isinstance(cell, str) and cell.strip() in _SKIPPED for cell in series]
    return coded | blank | np.array(letters, dtype=bool)


def _decoded(answered: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the columns of the embedded survey, or refuse a code that the codebook lacks."""
    coded = ("SALARYP", "AGEGRP", "WKSWK")
    salaries, ages, weeks = (tables.numbers(answered[name])[0] for name in coded)
    genders = [str(cell).strip() for cell in answered["GENDER"]]
    known = {
        "SALARYP": _whole_within(salaries, 0, SALARY_BOUNDS[1]),
        "GENDER": np.isin(genders, GENDERS),
        "AGEGRP": np.isin(ages, list(AGES)),
        "WKSWK": _whole_within(weeks, *WEEKS_BOUNDS),
    }
    for variable, in_codebook in known.items():
        if not in_codebook.all():
            row = int(answered.index[int(np.argmin(in_codebook))]) + 1
            raise BadInput(
                f"the value in row {row} of column {variable} of {path} is none that the codebook "
                f"of 2017 has: is it the public-use file of that year?"
            )
    groups = [AGES[int(age)] for age in ages]
    return pd.DataFrame({"salary": salaries, "gender": genders, "age": groups, "weeks": weeks})


def _whole_within(values: Values, low: float, high: float) -> NDArray[np.bool_]:
    return np.asarray((values >= low) & (values <= high) & (values == np.rint(values)))
