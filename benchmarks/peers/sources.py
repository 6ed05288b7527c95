"""The tables, with a domain that was declared from what is public about them.

Bounds and levels come from the surveys' own descriptions, not from the files: hourly earnings up to
80 dollars and full-time workers from 25 to 34; incomes up to a million and a quarter's expenditure
up to 100,000 dollars; the embedded survey's own schema; the domain that NIST publishes beside its
excerpt of the American Community Survey, kept in `acs.toml`. All columns
are confidential, as the other tools know no public ones. The size is what anybody would say of the
table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import data
from understudy.domain.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

DIRECTORY = Path(__file__).resolve().parents[2].parent / "shared" / "data"
"""Beside the project; another one can be named."""


@dataclass(frozen=True)
class Source:
    """A table to synthesise, its declared domain and the regression that is asked of it, if any."""

    name: str
    schema: Schema
    regression: str | None = None
    file: str | None = None
    steps: Mapping[str, float] = field(default_factory=dict)
    """Numbers that the K-marginal score cuts evenly, and how wide."""
    absent: str | None = None
    """What the file has in a number's place where there is none."""

    def path(self, directory: Path) -> Path:
        """Return where the table is."""
        return data.survey_table() if self.file is None else directory / self.file

    def read(self, directory: Path) -> pd.DataFrame:
        """Return the table, with exactly the declared columns."""
        import pandas as pd

        levelled = [column.name for column in self.schema.columns if column.levels is not None]
        numbers = [name for name in self.schema.names if name not in levelled]
        frame = pd.read_csv(
            self.path(directory),
            dtype=dict.fromkeys(levelled, str),
            na_values={} if self.absent is None else {name: [self.absent] for name in numbers},
        )
        if "year" in frame:
            frame = frame[frame["year"] == 2004]
        return frame[list(self.schema.names)].reset_index(drop=True)


def _numeric(type_: str, low: float, high: float) -> dict[str, Any]:
    return {"role": "confidential", "type": type_, "bounds": [low, high]}


def _levels(*levels: str) -> dict[str, Any]:
    return {"role": "confidential", "type": "categorical", "levels": list(levels)}


def _survey() -> Schema:
    declared = Schema.load(data.survey_schema()).to_dict()
    for column in declared["columns"].values():
        column["role"] = "confidential"
    return Schema.from_dict(declared)


ACS = "acs_national_2019.csv"
ACS_MISSING = "N"
"""A question that does not apply: an ordinary level of a column with levels."""
DEMOGRAPHIC = (
    *("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE"),
    *("OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE"),
)
"""The features of the Collaborative Research Cycle's demographic-focused set."""


def _acs(names: Iterable[str] | None = None) -> Schema:
    """Return the published domain of the excerpt's features: all of them, or those named."""
    published = tomllib.loads((Path(__file__).parent / "acs.toml").read_text())["columns"]
    columns = {name: published[name] for name in names or published}
    return _declared(27_000, **{n: {"role": "confidential"} | c for n, c in columns.items()})


def _declared(size: int, **columns: dict[str, Any]) -> Schema:
    return Schema.from_dict({"table": {"size": size}, "columns": columns})


SOURCES = {
    source.name: source
    for source in (
        Source(
            name="CPS 2004",
            file="cps_earnings_1992_2004.csv",
            schema=_declared(
                8000,
                earnings=_numeric("continuous", 0, 80),
                degree=_levels("highschool", "bachelor"),
                gender=_levels("female", "male"),
                age=_numeric("integer", 25, 34),
            ),
            regression="log(earnings) ~ gender + degree + age",
        ),
        Source(
            name="CE 2017",
            file="ce_2017q1_sample.csv",
            schema=_declared(
                1000,
                UrbanRural=_levels("1", "2"),
                Income=_numeric("continuous", 0, 1_000_000),
                Race=_levels("1", "2", "3", "4", "5", "6"),
                Expenditure=_numeric("continuous", 0, 100_000),
            ),
            regression="log(Expenditure) ~ log(Income) + UrbanRural",
        ),
        Source(
            name="survey",
            schema=_survey(),
            regression="log(salary) ~ gender + weeks",
        ),
        Source(
            name="ACS 10",
            file=ACS,
            schema=_acs(DEMOGRAPHIC),
            steps={"AGEP": 5},
            absent=ACS_MISSING,
        ),
        Source(name="ACS 24", file=ACS, schema=_acs(), steps={"AGEP": 5}, absent=ACS_MISSING),
    )
}
