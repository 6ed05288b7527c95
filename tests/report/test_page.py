"""The report: one file, safe to open, complete, and the same for the same run."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import understudy as us
from pages import (
    BANNER,
    CONDITIONAL,
    DIAGNOSTICS,
    HOSTILE,
    STRICT,
    Reader,
    page_of,
    small_page,
    sound,
    tiny_page,
)
from understudy.data import survey_schema, survey_table
from understudy.domain.schema import Schema
from understudy.report import Page
from understudy.utility import compare, measure_pairs


@pytest.fixture(scope="module")
def page() -> Page:
    schema = Schema.load(survey_schema())
    confidential = pd.read_csv(survey_table())
    rng = np.random.default_rng(0)
    synthetic = confidential.assign(salary=500_000 * rng.beta(3.1, 14, len(confidential)))
    risk = np.abs(confidential["salary"].to_numpy() - 70_000) / 60_000
    return page_of(
        title="salary ~ gender + age + weeks",
        guarantee=CONDITIONAL,
        schema=schema,
        confidential=confidential,
        synthetic=synthetic,
        utility=compare(confidential, synthetic, schema),
        diagnostics=DIAGNOSTICS,
        alpha=1 - risk / risk.max(),
        largest_score=np.minimum(risk, 2.5),
        bound=2.5,
    )


@pytest.fixture(scope="module")
def rendered(page) -> str:
    return page.render()


@cache
def small() -> str:
    return small_page().render()


@cache
def ph() -> str:
    return small_page(
        guarantee=replace(STRICT, mechanism="ph", sampler="none"),
        diagnostics=dict.fromkeys(DIAGNOSTICS),
        alpha=None,
        largest_score=None,
        bound=None,
    ).render()


def test_the_page_is_well_formed_and_runs_and_loads_nothing(rendered):
    for html in (rendered, small(), ph()):
        sound(html)


def test_every_reference_within_the_page_points_at_something(rendered):
    reader = Reader(rendered)
    targets = {value[1:] for value in reader.values("href")}
    targets |= set(re.findall(r"url\(#([^)]*)\)", rendered))
    targets |= {*reader.values("aria-labelledby")}
    assert targets
    assert targets <= reader.ids.keys()


def test_the_same_run_gives_the_same_page(page, rendered):
    assert page.render() == rendered


def test_every_picture_is_described_in_words(rendered):
    reader = Reader(rendered)
    pictures = [value for tag, name, value in reader.attributes if (tag, name) == ("svg", "role")]
    labels = [
        value for tag, name, value in reader.attributes if (tag, name) == ("svg", "aria-label")
    ]
    assert pictures == ["img"] * 8
    assert len(set(labels)) == 8
    assert reader.tags["figure"] == reader.tags["figcaption"] == 8


def test_the_sections_come_in_the_order_in_which_they_are_read(rendered):
    text = Reader(rendered).text
    headings = [
        BANNER,
        "The guarantee",
        "at most this sure",
        "Exactly",
        "side by side",
        "15th percentile",
        "By group",
        "How far single records reach",
        "R-hat",
        "internal/report.html",
    ]
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)


def test_numbers_are_written_for_people(rendered):
    text = Reader(rendered).text
    assert "80,000" in text
    assert "249 of 1,601 (15.6%)" in text
    assert "12.3 s" in text


def test_hostile_names_are_shown_and_never_obeyed():
    html = small_page(HOSTILE, level="<b onload=x>$").render()
    reader = Reader(html)
    assert "script" not in reader.tags
    assert "b" in reader.tags
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert HOSTILE in "".join(reader.words)
    assert "<b onload=x>$" in "".join(reader.words)


def test_names_in_any_script_are_drawn_as_text():
    html = small_page("給料 €", level="наём").render()
    assert html.count(">給料 €</text>") == 4
    assert ">наём</text>" in html


def test_a_mechanism_without_a_model_has_a_report():
    reader = Reader(ph())
    assert "fits no model" in reader.text
    assert "no likelihood" in reader.text
    assert reader.tags["svg"] == 5


@pytest.mark.parametrize("bound", [None, np.inf])
def test_without_a_bound_no_line_is_drawn_and_the_page_says_so(bound):
    html = tiny_page(largest_score=np.linspace(0, 3, 3), bound=bound).render()
    assert "Bound B" in small()
    assert "Bound B" not in html
    assert "does not censor" in html


def test_infinite_scores_are_left_out_and_counted():
    score = np.array([np.inf, 0.2, np.inf])
    diagnostics = DIAGNOSTICS | {"lipschitz_bound": None, "local_epsilon": None}
    html = tiny_page(largest_score=score, bound=np.inf, diagnostics=diagnostics).render()
    assert "infinite: 2." in html
    assert Reader(html).text.count("∞") == 2
    assert tiny_page(largest_score=np.full(3, np.inf), bound=np.inf).render()


def test_equal_weights_are_a_sentence_and_not_a_picture():
    reader = Reader(tiny_page(alpha=np.full(3, 0.25)).render())
    assert "Every record has weight 0.25" in reader.text
    assert reader.tags["svg"] == 1
    assert Reader(tiny_page(alpha=np.linspace(0, 1, 3)).render()).tags["svg"] == 2


def test_a_table_without_numbers_is_drawn_against_the_position():
    html = tiny_page(alpha=np.linspace(0, 1, 3)).render()
    assert "against its position in the table" in html


def test_a_weight_or_score_for_each_record_is_required():
    with pytest.raises(ValueError, match="one weight and one score for each record"):
        small_page(alpha=np.ones(5))


def test_a_report_of_several_columns_has_their_heat_map_and_one_of_a_single_column_none():
    page = small_page()
    columns = page.schema.confidential
    pairs = measure_pairs(page.confidential, page.synthetic, columns)
    assert "Pairs of columns" in tiny_page(pairs=pairs).render()
    assert "Pairs of columns" not in small()


def test_a_release_with_a_ledger_and_an_earlier_one_reports_both(tmp_path):
    us.Ledger.create(tmp_path / "l.db", budget=3.0, adjacency="add-remove")
    schema = Schema.from_dict(
        {
            "table": {"size": 40},
            "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}},
        }
    )
    table = pd.DataFrame({"x": np.linspace(0.1, 0.9, 40)})
    mechanism = us.PerturbedHistogram(epsilon=1.0, adjacency="add-remove")
    first = us.synthesize(schema, table, mechanism, ledger=tmp_path / "l.db", label="2026-01")
    out = first.write(tmp_path / "a")
    assert "Since the last release" not in (out / "internal/report.html").read_text("utf-8")
    second = us.synthesize(
        schema,
        table,
        mechanism,
        ledger=tmp_path / "l.db",
        label="2026-02",
        earlier=("2026-01", out / "public/synthetic.csv"),
    )
    html = second.internal.report()
    text = Reader(html).text
    assert "How the synthetic columns moved since 2026-01" in text
    assert "this release" in text
    assert "The budget ends: 1 more release fits" in text
    assert second.internal.report() == html


def test_an_earlier_table_of_another_schema_is_refused_before_anything_is_charged(tmp_path):
    book = us.Ledger.create(tmp_path / "l.db", budget=3.0, adjacency="add-remove")
    x = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
    schema = Schema.from_dict({"table": {"size": 40}, "columns": {"x": x}})
    table = pd.DataFrame({"x": np.linspace(0.1, 0.9, 40)})
    with pytest.raises(us.BadInput, match="of the earlier release is outside the declared bounds"):
        us.synthesize(
            schema,
            table,
            us.PerturbedHistogram(epsilon=1.0),
            ledger=tmp_path / "l.db",
            earlier=("then", pd.DataFrame({"x": [7.0]})),
        )
    assert book.entries() == ()
