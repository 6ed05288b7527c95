"""The tables, with a domain that was declared from what is public about them.

Bounds and levels come from the surveys' own descriptions, not from the files: hourly earnings up to
80 dollars and full-time workers from 25 to 34; incomes up to a million and a quarter's expenditure
up to 100,000 dollars; the embedded survey's own schema. All columns are confidential, as the other
tools know no public ones. The size is what anybody would say of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """A table to synthesise, its declared domain and the regression that is asked of it."""

    name: str
    schema: Schema
    regression: str
    file: str | None = None

    def path(self, directory: Path) -> Path:
        """Return where the table is."""
        return data.survey_table() if self.file is None else directory / self.file

    def read(self, directory: Path) -> pd.DataFrame:
        """Return the table, with exactly the declared columns."""
        import pandas as pd

        frame = pd.read_csv(self.path(directory))
        if "year" in frame:
            frame = frame[frame["year"] == 2004]
        levelled = [column.name for column in self.schema.columns if column.levels is not None]
        return (
            frame[list(self.schema.names)]
            .astype(dict.fromkeys(levelled, str))
            .reset_index(drop=True)
        )


def _numeric(type_: str, low: float, high: float) -> dict[str, Any]:
    return {"role": "confidential", "type": type_, "bounds": [low, high]}


def _levels(*levels: str) -> dict[str, Any]:
    return {"role": "confidential", "type": "categorical", "levels": list(levels)}


def _survey() -> Schema:
    declared = Schema.load(data.survey_schema()).to_dict()
    for column in declared["columns"].values():
        column["role"] = "confidential"
    return Schema.from_dict(declared)


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
    )
}
