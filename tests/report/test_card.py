"""The public card: complete, safe to open, and made from what is public alone."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import understudy as us
from pages import CONDITIONAL, HOSTILE, STRICT, UNSTATED, Reader
from understudy.domain.schema import Schema
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.questions.combining import combine
from understudy.report import card
from understudy.report.card import bars, render_card
from understudy.report.intervals import Interval
from understudy.synthesis.answering import headlines


def schema_of(name="pay", level="x", **table):
    return Schema.from_dict(
        {
            "table": {"size": 6, **table},
            "columns": {
                name: {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
                "job": {"role": "public", "type": "categorical", "levels": [level, "y"]},
                "age": {"role": "confidential", "type": "count", "bounds": [18, 70]},
            },
        }
    )


def frame_of(name="pay", level="x"):
    return pd.DataFrame({name: [2.0, 4, 8], "job": [level, "y", "y"], "age": [20, 30, 40]})


def made(guarantee=STRICT, tables=1, **table):
    return render_card(guarantee, schema_of(**table), [frame_of()] * tables)


STRICT_TWO = replace(STRICT, draws=2)


def text_of(*arguments, **options):
    return Reader(made(*arguments, **options)).text


def test_a_card_is_well_formed_and_its_ids_are_unique():
    for html in (made(), made(replace(STRICT, seeded=True)), made(UNSTATED), made(STRICT_TWO, 2)):
        reader = Reader(html)
        assert html.startswith("<!doctype html>")
        assert max(reader.ids.values()) == 1
        assert set(reader.values("aria-labelledby")) <= reader.ids.keys()
        assert reader.values("lang") == ["en"]
        assert reader.tags["header"] == reader.tags["main"] == reader.tags["footer"] == 1


def test_headings_descend_one_by_one():
    levels = [int(level) for level in re.findall(r"<h([1-6])", made())]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_table_has_a_caption_and_every_heading_of_it_a_scope():
    reader = Reader(made())
    assert reader.tags["table"] == reader.tags["caption"] == 3
    assert len(reader.values("scope")) == reader.tags["th"]


def test_every_picture_is_described_in_words():
    reader = Reader(made())
    described = [
        value for tag, name, value in reader.attributes if (tag, name[:4]) == ("svg", "aria")
    ]
    assert len(described) == reader.tags["svg"] == 2
    assert "Half of the rows lie up to 4" in described[0]


def test_a_card_runs_and_loads_nothing():
    html = made()
    reader = Reader(html)
    assert not reader.tags.keys() & {"script", "link", "img", "iframe", "object", "embed", "form"}
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert not reader.values("src")
    assert not reader.values("href")
    assert not re.search(r"https?:|@import|url\(", html)


def test_a_card_says_what_is_promised_in_plain_words_and_exactly():
    text = text_of()
    assert "ε = 2.5 when one record is added or removed" in text
    assert "ε = 5 when one record is replaced" in text
    assert "92.5%" in text
    assert "99.4%" in text
    assert "a loose limit" in text
    assert STRICT.headline in text
    assert all(sentence in text for sentence in STRICT.assumptions)
    assert "each person, who had at most one row" in text
    assert "not charged to any ledger" in text
    assert "loose" not in text_of(
        replace(STRICT, epsilon={Adjacency.ADD_REMOVE: 0.5, Adjacency.REPLACE_ONE: 1.0})
    )


def test_a_card_names_the_ledgers_entry():
    assert "entry 3, sha256 abc" in text_of(replace(STRICT, charged="entry 3, sha256 abc"))


@pytest.mark.parametrize("kind", [Kind.ASYMPTOTIC, Kind.NONE])
def test_a_card_of_what_is_not_strict_claims_nothing(kind):
    text = text_of(replace(UNSTATED, kind=kind))
    assert re.search("[Nn]o guarantee", text)
    assert "Nothing is promised" in text
    assert not re.search(r"ε = \d|%\b sure|Strict guarantee|Sharing freely|To whom", text)
    assert "at most this sure" not in text
    assert "made to be shared" not in text
    assert "only by people who may see the confidential table itself" in text
    assert "made to be shared" in text_of()


def test_a_seeded_card_is_not_for_release_on_the_screen_and_on_every_sheet():
    html = made(replace(STRICT, seeded=True))
    assert '<p class="banner" role="note"><strong>NOT FOR RELEASE' in html
    assert '@top-center { content: "NOT FOR RELEASE"' in html
    text = Reader(html).text
    assert "✓" not in text
    assert "Sharing freely" not in text
    assert "NOT FOR RELEASE" not in made()


def test_a_guarantee_whose_chains_were_not_checked_is_conditional():
    text = text_of(replace(CONDITIONAL, accept_poor_mixing=True))
    assert "! Conditional guarantee" in text
    assert "did not insist that this was checked" in text
    assert "Strict" not in text
    assert "Sharing freely" not in text


def test_a_conditional_card_says_on_what_condition_before_anything_else():
    text = text_of(CONDITIONAL)
    assert "! Conditional guarantee" in text
    assert "no check can prove it" in text
    assert "conditional (ε holds, provided that the Markov chains have converged)" in text
    assert "ε = 5, provided that the Markov chains have converged." in text
    assert "Strict" not in text
    assert "Sharing freely" in text


def test_a_card_says_whom_the_promise_is_made_to():
    assert "to each row" in text_of(unit="row")
    panel = Schema.from_dict(
        {
            "table": {"rows_per_unit": 4},
            "columns": {
                "who": {"role": "unit"},
                "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
            },
        }
    )
    html = render_card(replace(STRICT, unit="who"), panel, [pd.DataFrame({"pay": [1.0]})])
    text = Reader(html).text
    assert "to each 'who', with all its rows, of which there are at most 4" in text
    assert "Whether one 'who' took part" in text
    assert "who belongs together" in text


def test_several_tables_come_with_what_to_do_with_them():
    text = text_of(STRICT_TWO, 2)
    assert "3 synthetic rows in each of 2 tables" in text
    assert "own share of ε (1.25 when" in text
    assert "Stacking the tables" in text
    assert "in each of the 2 tables, and combining" in text
    assert "synthetic-2.csv" in text
    assert "of the first table" in text
    assert "Stacking" not in text_of()


ROUNDS = (
    {
        "kind": "table",
        "definition": {"tables": [{"column": "pay"}, {"column": "age"}]},
        "noisy": [3] * 1200,
        "epsilon": 0.3,
    },
    {"kind": "score", "definition": {"count": 4}, "noisy": [-7, 8], "epsilon": 0.7},
)
SUMMARY = replace(STRICT, mechanism="summary", sampler="none", stages=2, measured_once=True)


def summarised(guarantee=SUMMARY, tables=1, rounds=ROUNDS, **options):
    return Reader(
        render_card(guarantee, schema_of(), [frame_of()] * tables, rounds, **options)
    ).text


def test_a_summary_tells_what_was_measured_and_what_followed_in_public():
    text = summarised()
    assert "How many records lie in each cell of tables of pay and age 1,200 0.3" in text
    assert "pull at the model's parameters and the number of records 2 0.7" in text
    assert "estimated from the noisy sums" in text
    assert "one estimate from noisy sums, which were measured once, in 2 rounds" in text
    assert "One table alone does not show how large that is" in text
    assert "Draws of the parameters" not in text
    assert "What was measured" not in text_of()
    assert "Draws of the parameters" in text_of()


def test_one_table_is_called_one():
    alone = ROUNDS[0] | {"definition": {"tables": [{"column": "pay"}]}}
    assert "each cell of a table of pay" in summarised(rounds=(alone,))


def test_tables_of_pairs_are_counted():
    pair = {"pair": [{"column": "pay"}, {"column": "age"}]}
    pairs = {"kind": "table", "definition": {"tables": [pair] * 3}, "noisy": [1], "epsilon": 1.0}
    assert "each cell of tables of 3 pairs of columns" in summarised(rounds=(pairs,))


def test_intervals_stand_on_it_in_place_of_the_warning_that_there_are_none():
    answers = [Interval("mean of pay", 20_000.0, 19_000.0, 21_000.0, 510.0, None)]
    text = summarised(answers=answers)
    assert "mean of pay 20,000 19,000 21,000" in text
    assert "understudy infer" in text
    assert "One table alone does not show" not in text
    assert "The intervals above do not" in text
    assert "It fits badly." in summarised(answers=answers, warning="It fits badly.")
    assert "It fits badly." in summarised(warning="It fits badly.")


def test_several_tables_of_a_summary_are_free():
    text = summarised(replace(SUMMARY, draws=3), 3)
    assert "ε is the same for whoever sees one of them and for whoever sees all" in text
    assert "share of ε" not in text
    assert "3 draws from noisy sums" in text
    assert "drawn, given the noisy sums, once for each table" in text


def test_what_it_is_good_for_is_a_list_of_uses():
    """Each entry goes on from 'Good for' or 'Not for'; what to do stands below both."""
    for text in (text_of(), text_of(STRICT_TWO, 2), text_of(UNSTATED), summarised()):
        good, bad = text.split("Good for ")[1].split(" Not for ")
        assert good.startswith("Averages, shares, distributions")
        for order in (
            "Say that",
            "Share it",
            "Run an",
            "Use only",
            "To learn",
            "To look",
            "To count",
        ):
            assert order not in good + bad.split("Its limits")[0]
        assert "say that the data are synthetic. Its limits" in bad
    assert "say that the data are synthetic" not in text_of(replace(STRICT, seeded=True))


def test_several_tables_are_told_how_to_be_combined_where_there_is_a_rule():
    three = replace(SUMMARY, draws=3)
    text = summarised(three, 3, combined=True)
    assert "understudy pool synthetic.csv synthetic-*.csv" in text
    assert "sqrt(b - u)) %o% c(estimate = 0, lower = -1, upper = 1)" in text
    assert "its public rows were drawn anew" in text
    for other in (
        summarised(three, 3),
        summarised(SUMMARY, 1, combined=True),
        summarised(replace(three, seeded=True), 3, combined=True),
    ):
        assert "understudy pool" not in other


def test_the_lines_in_r_say_what_the_rule_says():
    """Each line of R, done by hand on three tables with two coefficients."""
    analyses = [
        {"a": (1.0, 0.04), "b": (-3.0, 0.3)},
        {"a": (2.5, 0.06), "b": (-7.0, 0.2)},
        {"a": (1.2, 0.05), "b": (-4.0, 0.1)},
    ]
    told = np.array([list(each.values()) for each in analyses])
    q = told[:, :, 0].T  # do.call(cbind, lapply(fits, coef))
    m = q.shape[1]
    b = (1 + 1 / m) * np.var(q, axis=1, ddof=1)  # apply(q, 1, var)
    u = told[:, :, 1].T.mean(axis=1)  # rowMeans(...)
    df = (m - 1) * (1 - u / b) ** 2
    half = t.ppf(0.975, df) * np.sqrt(b - u)
    lines = q.mean(axis=1)[:, None] + np.outer(half, [0, -1, 1])
    ours = [(each.estimate, each.lower, each.upper) for each in combine(analyses, level=0.95)]
    assert lines == pytest.approx(np.array(ours))
    for piece in ("apply(q, 1, var)", "(1 + 1/m) *", "(m - 1) * (1 - u/b)^2", "qt(0.975, df)"):
        assert piece in card.IN_R
    assert card.IN_R.count("\n") == 4


def test_every_declared_column_is_there_with_its_domain_and_its_shares():
    text = text_of()
    assert "Synthetic: a number from 0 to 9" in text
    assert "Public, as given: one of 2 levels" in text
    assert "Synthetic: a count from 18 to 70" in text
    assert "33.33%" in text
    assert "66.67%" in text


def test_missing_values_and_a_column_without_any_are_told():
    column = {"role": "confidential", "type": "integer", "bounds": [0, 9], "missing": "model"}
    schema = Schema.from_dict({"columns": {"a": column, "b": column}})
    table = pd.DataFrame(
        {"a": pd.array([1, None, 3, 5], "Int64"), "b": pd.array([None] * 4, "Int64")}
    )
    text = Reader(render_card(STRICT, schema, [table])).text
    assert "25% of the rows have no value." in text
    assert "100% of the rows have no value." in text


def test_many_levels_are_cut_and_the_rest_is_counted():
    levels = [f"level {k}" for k in range(40)]
    schema = Schema.from_dict(
        {"columns": {"a": {"role": "confidential", "type": "categorical", "levels": levels}}}
    )
    text = Reader(render_card(STRICT, schema, [pd.DataFrame({"a": levels})])).text
    assert "level 10" in text
    assert "level 11" not in text
    assert "29 further levels hold 72.50% of the rows." in text


def test_rules_are_told_as_what_holds_and_not_as_findings():
    contents = schema_of().to_dict()
    contents["rules"] = [{"if": "age < 20", "then": "pay <= 3"}]
    text = Reader(render_card(STRICT, Schema.from_dict(contents), [frame_of()])).text
    assert "If age < 20 , then pay <= 3" in text
    assert "no finding" in text
    assert "no finding" not in text_of()


def test_hostile_names_are_shown_and_never_obeyed():
    guarantee = replace(
        STRICT, unit=HOSTILE, charged=HOSTILE, mechanism=HOSTILE, assumptions=(HOSTILE,)
    )
    html = render_card(
        guarantee, schema_of(HOSTILE, "<b onload=x>"), [frame_of(HOSTILE, "<b onload=x>")]
    )
    reader = Reader(html)
    assert not reader.tags.keys() & {"script", "b"}
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert "".join(reader.words).count(HOSTILE) >= 6
    assert "<b onload=x>" in "".join(reader.words)
    assert HOSTILE in reader.values("aria-label")[0]


def test_the_same_release_gives_the_same_card():
    assert made() == made()


def test_a_card_knows_the_guarantee_the_schema_and_the_synthetic_tables_and_nothing_else():
    known = ["guarantee", "schema", "tables", "rounds", "rows", "combined", "answers", "warning"]
    assert list(inspect.signature(render_card).parameters) == known
    seen, todo = set(), [card.__name__]
    root = Path(us.__file__).parent
    while todo:
        module = todo.pop()
        path = root.joinpath(*module.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if module in seen or module == "understudy":
            continue
        seen.add(module)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("understudy"):
                if node.module == "understudy.report":
                    todo += [f"understudy.report.{alias.name}" for alias in node.names]
                else:
                    todo.append(node.module)
    report = {"card", "intervals", "plain", "svg", "curves", "template", "wording"}
    packages = {module.split(".")[1] for module in seen}
    assert {module for module in seen if module.startswith("understudy.report")} == {
        f"understudy.report.{name}" for name in report
    }
    assert packages == {"report", "domain", "privacy", "support", "errors"}
    # What reads and checks records is in the domain, too.
    assert "understudy.domain.tables" not in seen


def test_other_confidential_records_leave_the_card_as_it_is():
    """A release holds its report's confidential table; its card does not reach for it."""
    cards, published = set(), None
    for shift in (0.0, 0.4):
        confidential = pd.DataFrame({"x": np.linspace(0.05, 0.55, 60) + shift})
        schema = Schema.from_dict(
            {
                "table": {"size": 60},
                "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}},
            }
        )
        release = us.synthesize(schema, confidential, us.PerturbedHistogram(epsilon=1.0))
        published = published or release.parameters
        same = replace(
            release, tables=(pd.DataFrame({"x": [0.25, 0.5, 0.75]}),), parameters=published
        )
        cards.add(same.card())
    assert len(cards) == 1


def test_a_written_release_has_its_card(tmp_path):
    schema = Schema.from_dict(
        {
            "table": {"size": 40},
            "columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}},
        }
    )
    table = pd.DataFrame({"x": np.full(40, 0.123456)})
    release = us.synthesize(schema, table, us.PerturbedHistogram(epsilon=1.0))
    out = release.write(tmp_path / "out")
    html = (out / "public/card.html").read_text("utf-8")
    answers = headlines(release)
    assert [each.name for each in answers] == ["mean of x", "median of x"]
    assert html == render_card(release.guarantee, schema, release.tables, answers=answers)
    assert "0.123456" not in html


def test_bars_reach_the_top_only_where_most_rows_are():
    drawn = bars([0, 1, 4], "a & b")
    assert 'aria-label="a &amp; b"' in drawn
    assert drawn.count("v-") == 2
    assert "v-55.00" in drawn
    Reader(bars([], "nothing"))


def test_dates_are_told_as_dates_and_missing_values_by_their_reasons():
    codes = {"N": "does not apply", "": "unknown"}
    columns = {
        "born": {"role": "public", "type": "date", "bounds": ["1960-01-01", "1999-12-31"]},
        "pay": {
            "role": "confidential", "type": "integer", "bounds": [0, 99],
            "missing": "model", "codes": codes,
        },
        "job": {
            "role": "confidential", "type": "categorical", "levels": ["x", "y"],
            "missing": "model", "codes": codes,
        },
    }  # fmt: skip
    schema = Schema.from_dict({"table": {"size": 4}, "columns": columns})
    frame = pd.DataFrame(
        {
            "born": ["1970-01-01", "1970-01-03", "1970-01-03", "1980-05-06"],
            "pay": ["5", "N", None, "7"],
            "job": ["N", "x", "x", "N"],
        }
    )
    page = render_card(STRICT, schema, [frame])
    assert "Public, as given: a date from 1960-01-01 to 1999-12-31" in page
    assert "Half of the rows lie up to 1970-01-03" in page
    assert "50% of the rows have no value: 25% N (does not apply); 25% blank (unknown)." in page
    assert "50% of the rows have no value: 50% N (does not apply); 0% blank (unknown)." in page
    assert "Half of the rows lie up to 6, and" in page
