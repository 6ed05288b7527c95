"""Write the simulated survey that understudy embeds: `python scripts/make_survey.py`.

The application of the paper (its section 5) uses 1601 respondents of the Survey of Doctoral
Recipients. No record of that survey is here. Every row is simulated from the beta regression
below, and the simulated salaries are then bent, in order, until their 15th, 50th and 90th
percentiles equal those published in the paper's Table 2 and their mean is close to its mean.
The effects of gender, age and weeks are invented; nothing may be concluded from them.

Only uniform draws are taken from the generator and everything else is computed from them, because
numpy promises less about the streams of its other distributions from one version to the next.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIZE = 1601
SEED = 2017
COLUMNS = ("salary", "gender", "age", "weeks")
TARGET = Path(__file__).parents[1] / "src" / "understudy" / "data" / "survey.csv"

GENDERS = ("F", "M")
GENDER_SHARES = (0.29, 0.71)
GENDER_EFFECTS = (-0.16, 0.0)

AGES = ("29 and under", *(f"{low}-{low + 4}" for low in range(30, 65, 5)), "65 and over")
AGE_SHARES = (0.04, 0.14, 0.15, 0.14, 0.12, 0.11, 0.10, 0.09, 0.11)
AGE_EFFECTS = (-0.50, -0.36, -0.18, -0.03, 0.09, 0.17, 0.21, 0.22, 0.22)

FULL_YEAR_SHARE = 0.82
ACADEMIC_YEAR_SHARE = 0.11
WEEK_EFFECT = 0.022

INTERCEPT = -1.42
PRECISION = 19.0
CEILING = 500_000
ROUNDING = 1_000

# The ranks are exact for 1601 records: (1601 - 1) times 0.15, 0.5 and 0.9 are whole numbers, so
# each published percentile is one record's salary. The first knot keeps every salary off the
# declared bound of 0, where a beta density need not be finite; the last sets the tail and the mean.
KNOTS = ((0.0, 6_000), (0.15, 51_000), (0.5, 80_000), (0.9, 150_000), (1.0, 420_000))


def choose(uniforms: NDArray[np.float64], shares: tuple[float, ...]) -> NDArray[np.intp]:
    """Return the index of the level into whose share each uniform number falls."""
    return np.searchsorted(np.cumsum(shares)[:-1], uniforms, side="right")


def weeks_worked(uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return 52 for most, 36 to 40 for an academic year, and anything from 2 to 51 for the rest."""
    academic = uniforms - FULL_YEAR_SHARE
    rest = academic - ACADEMIC_YEAR_SHARE
    rest_share = 1 - FULL_YEAR_SHARE - ACADEMIC_YEAR_SHARE
    part_year = np.where(
        rest < 0, 36 + academic / ACADEMIC_YEAR_SHARE * 5, 2 + rest / rest_share * 50
    )
    return np.where(academic < 0, 52, np.floor(part_year)).astype(np.int64)


def bend(salaries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map the salaries monotonically so that their percentiles equal those of KNOTS."""
    from scipy.interpolate import PchipInterpolator

    probabilities, values = zip(*KNOTS, strict=True)
    bent = PchipInterpolator(np.quantile(salaries, probabilities), values)
    return np.asarray(bent(salaries), dtype=np.float64)


def simulate() -> dict[str, list[int] | list[str]]:
    """Return the columns of the survey."""
    from scipy.special import betaincinv, expit

    uniforms = np.random.default_rng(SEED).random((4, SIZE))
    gender = choose(uniforms[0], GENDER_SHARES)
    age = choose(uniforms[1], AGE_SHARES)
    weeks = weeks_worked(uniforms[2])
    mean = expit(
        INTERCEPT
        + np.take(GENDER_EFFECTS, gender)
        + np.take(AGE_EFFECTS, age)
        + WEEK_EFFECT * (weeks - 52)
    )
    share = betaincinv(mean * PRECISION, (1 - mean) * PRECISION, uniforms[3])
    salary = np.rint(bend(share * CEILING) / ROUNDING).astype(np.int64) * ROUNDING
    return {
        "salary": salary.tolist(),
        "gender": np.take(GENDERS, gender).tolist(),
        "age": np.take(AGES, age).tolist(),
        "weeks": weeks.tolist(),
    }


def write(path: Path) -> None:
    """Write the survey to `path`, byte for byte the same every time."""
    columns = simulate()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*(columns[name] for name in COLUMNS), strict=True))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
