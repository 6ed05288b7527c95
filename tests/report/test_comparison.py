"""Comparing tables: files or frames, one or several, in text, JSON and as a page."""

from __future__ import annotations

import json
import stat
from functools import cache

import numpy as np
import pandas as pd
import pytest

from command_line import cells
from pages import BANNER, HOSTILE, small_page, sound
from understudy.domain import reading, records, tables
from understudy.errors import BadInput
from understudy.report import render_comparison
from understudy.report.comparison import compare
from understudy.utility import measure_table

PAGE = small_page()
REAL, MADE, SCHEMA = PAGE.confidential, PAGE.synthetic, PAGE.schema


@cache
def one():
    return render_comparison(compare(REAL, MADE, SCHEMA, regression="pay ~ job"))


def test_a_comparison_promises_nothing_and_is_marked_confidential():
    text = sound(one()).text
    assert BANNER in text
    assert "understudy compare" in text
    assert "The guarantee" not in text
    assert "Convergence" not in text
    assert "max-ECDF" in text
    assert "Total variation" in text


def test_a_comparison_tells_of_pairs_of_propensity_and_of_the_regression_that_was_asked_for():
    reader = sound(one())
    for heading in ("Pairs of columns", "Telling the tables apart", "One analysis, in each table"):
        assert heading in reader.text
    assert "job[T.y]" in reader.text
    assert "Missing values" not in reader.text
    assert "as a heat map" in " ".join(reader.values("aria-label"))
    assert "One analysis" not in render_comparison(compare(REAL, MADE, SCHEMA))


def test_several_syntheses_stand_in_one_table_and_have_a_heat_map_each():
    page = small_page(HOSTILE)
    tables = {"first": page.synthetic, HOSTILE: page.confidential}
    reader = sound(render_comparison(compare(page.confidential, tables, page.schema)))
    assert reader.tags["svg"] == 2
    assert "first" in reader.text
    assert HOSTILE in "".join(reader.words)
    assert "pairs: largest total variation" in reader.text


def test_files_and_tables_are_compared_alike(tmp_path):
    real, made, schema = tmp_path / "real.csv", tmp_path / "made.csv", tmp_path / "schema.toml"
    REAL.to_csv(real, index=False)
    MADE.to_csv(made, index=False)
    columns = (
        "[columns.pay]\nrole = 'confidential'\ntype = 'continuous'\nbounds = [0, 9]\n"
        "[columns.job]\nrole = 'confidential'\ntype = 'categorical'\nlevels = ['x', 'y']\n"
    )
    schema.write_text(columns, encoding="utf-8")
    of_files = compare(str(real), made, schema, regression="pay ~ job")
    of_tables = compare(REAL, MADE, SCHEMA, regression="pay ~ job")
    assert of_files.to_json() == of_tables.to_json()
    assert of_files.title == "real.csv and made.csv"
    assert of_tables.title == "the confidential table and the synthetic table"
    utility = measure_table(REAL, MADE, SCHEMA, regression="pay ~ job")
    assert json.loads(of_files.to_json()) == {
        "confidential": True,
        **json.loads(json.dumps(utility.to_dict())),
    }
    assert of_tables.to_text() == utility.to_text()


def test_several_tables_have_the_names_that_tell_them_apart(tmp_path):
    files = [tmp_path / month / "public" / "synthetic.csv" for month in ("may", "june")]
    for file in files:
        file.parent.mkdir(parents=True)
        MADE.to_csv(file, index=False)
    named = compare(REAL, files, SCHEMA)
    assert [each.label for each in named.compared] == [
        "may/public/synthetic.csv",
        "june/public/synthetic.csv",
    ]
    numbered = compare(REAL, [MADE, REAL], SCHEMA)
    assert [each.label for each in numbered.compared] == ["synthetic table 1", "synthetic table 2"]
    assert [each["file"] for each in json.loads(numbered.to_json())["syntheses"]] == [
        "synthetic table 1",
        "synthetic table 2",
    ]
    assert "[2] synthetic table 2" in numbered.to_text()
    with pytest.raises(BadInput, match="named twice"):
        compare(REAL, [files[0], files[0]], SCHEMA)
    with pytest.raises(BadInput, match="nothing to compare with") as refusal:
        compare(REAL, [], SCHEMA)
    assert refusal.value.arguments == ("synthetic",)


def test_several_tables_are_told_in_columns_whatever_theirs_are_called():
    page = small_page("給与の総額")
    told = compare(page.confidential, [page.synthetic, page.confidential], page.schema).to_text()
    *_, measures = told.split("\n\n")
    assert "給与の総額" in measures
    assert len({cells(line) for line in measures.splitlines()}) == 1


def test_a_table_that_does_not_fit_is_named_and_found_before_any_is_measured():
    beyond = MADE.assign(pay=[1, 2, 99.5])
    with pytest.raises(BadInput, match="row 3 of column 'pay' of june") as refusal:
        compare(REAL, {"may": MADE, "june": beyond}, SCHEMA, regression="nonsense")
    assert "99.5" not in str(refusal.value)


def test_a_notebook_shows_what_was_compared_and_no_number_of_it():
    tables = {"made": MADE, "<b>": REAL}
    html = compare(REAL, tables, SCHEMA, regression="pay ~ job")._repr_html_()
    assert "made, &lt;b&gt;" in html
    assert "pay, job" in html
    assert "pay ~ job" in html
    assert "to_text()" in html
    assert not any(character.isdigit() for character in html)


def test_a_page_is_readable_by_its_owner_alone(tmp_path):
    file = tmp_path / "page.html"
    compare(REAL, MADE, SCHEMA, regression="pay ~ job").write_page(file)
    assert file.read_text("utf-8") == one()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_files_that_do_not_fit_into_memory_are_compared_by_all_their_records(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "SAMPLE", 2000)
    generator = np.random.default_rng(3)
    sizes = {"real.csv": 20_000, "made.parquet": 15_000, "other.csv": 10_000}
    for k, (name, rows) in enumerate(sizes.items()):
        pay = generator.beta(2, 5 + k, rows) * 9
        job = generator.choice(["x", "y"], rows)
        tables.write(pd.DataFrame({"pay": pay, "job": job}), tmp_path / name)
    real, *made = (tmp_path / name for name in sizes)
    held = compare(real, made, SCHEMA, regression="pay ~ job")
    for name in ("_CELL", "_LETTER"):
        monkeypatch.setattr(reading, name, 2**20)
    streamed = compare(real, made, SCHEMA, regression="pay ~ job", memory="64MiB")
    assert held.sampled is None
    assert streamed.records == held.records == 20_000
    for found, expected in zip(streamed.compared, held.compared, strict=True):
        assert found.rows == expected.rows
        assert len(found.table) == 2000
        assert found.utility.pairs == expected.utility.pairs
        assert found.utility.columns["job"] == expected.utility.columns["job"]
        pays = found.utility.columns["pay"], expected.utility.columns["pay"]
        assert pays[0].max_ecdf == pytest.approx(pays[1].max_ecdf, abs=3e-3)
        assert pays[0].confidential.mean == pytest.approx(pays[1].confidential.mean, rel=1e-9)
    assert "Columns and pairs are measured on all records" in streamed.to_text()
    assert json.loads(streamed.to_json())["sampled"] == streamed.sampled
    page = sound(render_comparison(streamed))
    assert "20,000 confidential records" in page.text
    assert "drawn at random" in page.text
