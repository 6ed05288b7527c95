"""What the application of section 5 is run on: the survey it is about, or a stand-in that says so.

    nothing       the simulated survey that the package embeds
    cps           hourly earnings of 2004 from the Current Population Survey, if the file is there
    a path        the public-use file of the Survey of Doctorate Recipients

Bounds, levels and sizes are declared here or in a schema, from public knowledge.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from understudy import data
from understudy.domain import tables
from understudy.domain.schema import Schema
from understudy.domain.table_files import read
from understudy.errors import BadInput
from understudy.study.arms import Values
from understudy.study.doctorates import AGES, SALARY_BOUNDS, SCHEMA, read_doctorates
from understudy.study.paper import APPLICATION_N

FORMULA = "salary ~ gender + age + weeks"

CPS = "cps"
CPS_FILE = "cps_earnings_1992_2004.csv"
CPS_YEAR = "2004"
CPS_FORMULA = "earnings ~ degree + gender + age"
CPS_SCHEMA = Schema.from_dict(
    {
        "table": {"size": 8000},
        "columns": {
            "earnings": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
            "degree": {
                "role": "public",
                "type": "categorical",
                "levels": ["highschool", "bachelor"],
            },
            "gender": {"role": "public", "type": "categorical", "levels": ["female", "male"]},
            "age": {"role": "public", "type": "integer", "bounds": [25, 34]},
        },
    },
    source="the Current Population Survey",
)
DATA_DIRECTORY = "UNDERSTUDY_DATA"
"""Environment variable that names the directory of tables which are not part of the project."""
_BESIDE_THE_PROJECT = Path("../shared/data")


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """A table with its public declarations, and what is to be said about it."""

    source: str
    """In a few words, for captions."""
    statement: str
    """What the table is and what may be shown of it, in sentences."""
    size: str
    """Its number of records against the paper's."""
    table: pd.DataFrame
    schema: Schema
    formula: str = FORMULA
    unit: str = "dollars a year"
    """What the outcome is measured in."""
    comparable: bool = True
    """Whether the paper's numbers are about such a table, so that they may stand beside ours."""

    @property
    def outcome(self) -> str:
        """The name of the one confidential column."""
        return self.schema.confidential[0].name

    @cached_property
    def values(self) -> Values:
        """That column, checked against what is declared."""
        return tables.encode(self.table, self.schema, name=self.source)[self.outcome]


def load_sample(named: str | None) -> Sample:
    """Return the sample that `data` names."""
    if named is None:
        return _survey()
    return _cps() if named == CPS else _doctorates(Path(named))


def _survey() -> Sample:
    table = read(data.survey_table())
    return Sample(
        source="the simulated survey",
        statement=(
            "No --data was given, so this was run on the simulated survey that understudy "
            "embeds. It was made to resemble the summary statistics that the paper publishes of "
            "its sample; no real record is in it, so every number below may be shown, and only "
            "patterns, not numbers, can agree with the paper's."
        ),
        size=_size(table),
        table=table,
        schema=Schema.load(data.survey_schema()),
    )


def _doctorates(path: Path) -> Sample:
    table, left_out = read_doctorates(path)
    as_many = len(table) == APPLICATION_N
    beside = ", as in the paper" if as_many else f"; the paper has {APPLICATION_N}"
    if left_out:
        beside += f" ({left_out} more with skipped or missing answers were left out)"
    return Sample(
        source="the Survey of Doctorate Recipients",
        statement=(
            f"This was run on the paper's own source, the Survey of Doctorate Recipients of 2017 "
            f"({path.name}): respondents at a four-year college or university (EDTP 3) in "
            f"mathematics and statistics (NDGMENGP 12). It is a public-use file, so the numbers "
            f"below may be shown; the same numbers of a confidential file would be confidential. "
            f"The paper does not say by which bounds it scaled salary; here they are "
            f"−{-SALARY_BOUNDS[0]:,} and {SALARY_BOUNDS[1]:,}. Age has the {len(AGES)} groups of "
            f"the codebook; the paper speaks of nine levels."
        ),
        size=f"Found {len(table)} records{beside}.",
        table=table,
        schema=SCHEMA,
    )


def _cps() -> Sample:
    path = _find_cps()
    everybody = read(path)
    if "year" not in everybody.columns:
        raise BadInput(f"{path} has no column 'year'.")
    year = everybody["year"] == CPS_YEAR
    table = everybody[year].drop(columns="year").reset_index(drop=True)
    if table.empty:
        raise BadInput(f"{path} has no record of the year {CPS_YEAR}.")
    return Sample(
        source=f"hourly earnings of {CPS_YEAR}",
        statement=(
            f"This was run on other data than the paper's: hourly earnings of full-time workers "
            f"aged 25 to 34 from the Current Population Survey of {CPS_YEAR} ({path.name}). It is "
            f"a public table, so the numbers below may be shown; the same numbers of a "
            f"confidential table would be confidential. The paper's numbers are about another "
            f"table and are left out."
        ),
        size=_size(table),
        table=table,
        schema=CPS_SCHEMA,
        formula=CPS_FORMULA,
        unit="dollars an hour",
        comparable=False,
    )


def _find_cps() -> Path:
    named = os.environ.get(DATA_DIRECTORY)
    for directory in (*([Path(named)] if named else []), _BESIDE_THE_PROJECT):
        if (directory / CPS_FILE).is_file():
            return directory / CPS_FILE
    raise BadInput(
        f"the table {CPS_FILE} is not in {_BESIDE_THE_PROJECT}: put it there, or name its "
        f"directory in the environment variable {DATA_DIRECTORY}."
    )


def _size(table: pd.DataFrame) -> str:
    as_many = "as many" if len(table) == APPLICATION_N else APPLICATION_N
    return f"It has {len(table)} records; the paper has {as_many}."
