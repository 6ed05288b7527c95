"""The embedded survey: simulated, reproducible, and close to the statistics of the paper."""

from __future__ import annotations

import csv
import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from understudy.data import survey_schema, survey_table

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_survey.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_survey", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    with survey_table().open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return texts | {name: texts[name].astype(float) for name in ("salary", "weeks")}


def test_the_script_reproduces_the_embedded_table_byte_for_byte(script, tmp_path):
    script.write(tmp_path / "survey.csv")
    assert (tmp_path / "survey.csv").read_bytes() == survey_table().read_bytes()


def test_the_table_has_the_size_and_columns_of_the_papers_sample(columns):
    assert list(columns) == ["salary", "gender", "age", "weeks"]
    assert {len(values) for values in columns.values()} == {1601}


def test_salary_has_the_published_mean_and_percentiles(columns):
    salary = columns["salary"]
    assert salary.mean() == pytest.approx(91_019, rel=0.01)
    assert np.quantile(salary, [0.15, 0.5, 0.9]).tolist() == [51_000, 80_000, 150_000]


def test_salary_is_rounded_and_strictly_inside_its_bounds(columns):
    salary = columns["salary"]
    assert (salary % 1000 == 0).all()
    assert salary.min() > 0
    assert salary.max() < 500_000


def test_weeks_cover_their_range_and_are_mostly_full_years(columns):
    weeks = columns["weeks"]
    assert (weeks.min(), weeks.max()) == (2, 52)
    assert (weeks == 52).mean() > 0.75


def test_every_declared_level_occurs_and_no_other(columns):
    declared = tomllib.loads(survey_schema().read_text(encoding="utf-8"))["columns"]
    for name in ("gender", "age"):
        assert set(columns[name]) == set(declared[name]["levels"])
    assert len(declared["age"]["levels"]) == 9


def test_the_declared_bounds_and_size_hold(columns):
    schema = tomllib.loads(survey_schema().read_text(encoding="utf-8"))
    assert schema["table"]["size"] == len(columns["salary"])
    for name in ("salary", "weeks"):
        low, high = schema["columns"][name]["bounds"]
        assert low <= columns[name].min()
        assert columns[name].max() <= high


def test_salary_depends_on_gender_age_and_weeks(columns):
    salary, gender, age, weeks = (columns[name] for name in ("salary", "gender", "age", "weeks"))
    assert 1.03 < salary[gender == "M"].mean() / salary[gender == "F"].mean() < 1.25
    assert salary[weeks < 36].mean() < 0.8 * salary[weeks == 52].mean()
    young, middle, late, old = (
        salary[age == group].mean() for group in ("30-34", "40-44", "55-59", "65 and over")
    )
    assert young < middle < late
    assert abs(old / late - 1) < 0.1


def test_the_table_and_its_schema_say_that_they_are_simulated():
    import understudy.data

    assert "simulated" in (understudy.data.__doc__ or "")
    assert "SIMULATED" in survey_schema().read_text(encoding="utf-8")
