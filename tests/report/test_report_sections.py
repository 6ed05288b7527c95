"""The report's sections on groups, on what moved, on the budget, and on who was censored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_report import HOSTILE, Reader, small_page

import understudy as us
from ledgers import ROWS
from understudy.domain.schema import Schema
from understudy.ledger.statement import statement_of
from understudy.privacy.accounting import Cost
from understudy.report import closeness, figures, groups, influence
from understudy.report.drift import Earlier, since
from understudy.report.spending import spending
from understudy.utility import compare

# By group ----------------------------------------------------------------------------------------

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
            "works": {"role": "confidential", "type": "binary", "levels": ["no", "yes"]},
            "sex": {"role": "public", "type": "categorical", "levels": ["F", "M", "X"]},
            "weeks": {"role": "public", "type": "integer", "bounds": [1, 52]},
        }
    }
)


def people(count=200, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], count)
    return pd.DataFrame(
        {
            "pay": np.clip(np.where(sex == "F", 60, 30) + rng.normal(0, 3, count), 0, 100),
            "works": rng.choice(["no", "yes"], count),
            "sex": sex,
            "weeks": rng.integers(1, 53, count),
        }
    )


@given(st.lists(st.tuples(st.floats(0, 9), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_explained_share_is_that_of_the_variance_between_groups(pairs):
    values, codes = np.array([v for v, _ in pairs]), np.array([c for _, c in pairs])
    within = sum(
        float(((values[codes == c] - values[codes == c].mean()) ** 2).sum()) for c in set(codes)
    )
    everything = float(((values - values.mean()) ** 2).sum())
    found = groups.explained(values, codes)
    if np.ptp(values) > 1e-6:
        assert found == pytest.approx(1 - within / everything, abs=1e-6)
    if np.ptp(values) == 0:
        assert found == 0


def test_the_pair_whose_groups_differ_most_comes_first_and_few_are_shown():
    found = groups.most_different(SCHEMA, people(), people(seed=1))
    assert (found[0].outcome.name, found[0].by.name) == ("pay", "sex")
    assert len(found) == groups.SHOWN
    shares = [each.explained for each in found]
    assert shares == sorted(shares, reverse=True)


def test_a_group_is_told_as_it_is_in_both_tables():
    ours, theirs = people(), people(seed=1)
    each = groups.most_different(SCHEMA, ours, theirs)[0]
    for cells, table in zip(each.cells, (ours, theirs), strict=True):
        pay = table.loc[table["sex"] == "M", "pay"]
        cell = cells[1]
        assert cell.records == len(pay)
        assert (cell.low, cell.middle, cell.high) == tuple(pay.quantile([0.25, 0.5, 0.75]))
        assert cells[2] is None
    (shown, *_) = groups.by_group([each])
    assert shown["rows"][2] == ("X", "0", "0", "–", "–", "–")
    assert shown["what"] == "Median pay"


def test_a_binary_outcome_is_told_as_a_share():
    ours = people().assign(pay=5.0)
    ours["works"] = ours["works"].where(ours["sex"] == "F", "yes")
    each = groups.most_different(SCHEMA, ours, ours)[0]
    assert (each.outcome.name, each.by.name) == ("works", "sex")
    women = ours[ours["sex"] == "F"]
    assert each.cells[0][0].middle == (women["works"] == "yes").mean()
    assert each.what == "Share of yes in works"
    assert groups.by_group([each])[0]["rows"][0][-1] == "0.00 points"


def test_public_numbers_are_cut_into_fifths_of_their_bounds():
    ours = people()
    found = groups.most_different(SCHEMA, ours, ours)
    each = next(each for each in found if each.by.name == "weeks")
    assert each.names == ("1 to 10", "11 to 21", "22 to 31", "32 to 42", "43 to 52")
    for name, cell in zip(each.names, each.cells[0], strict=True):
        low, high = map(int, name.split(" to "))
        assert cell.records == ours["weeks"].between(low, high).sum()


def test_a_table_with_one_column_or_without_any_difference_has_no_groups():
    alone = Schema.from_dict({"columns": {"pay": SCHEMA.columns[0].to_dict()}})
    assert groups.most_different(alone, people(), people()) == ()
    flat = people().assign(pay=5.0, works="no")
    assert groups.most_different(SCHEMA, flat, flat) == ()


# Since the last release --------------------------------------------------------------------------


def test_what_moved_is_told_with_what_chance_alone_would_do():
    before = people(1000)
    now = before.assign(pay=before["pay"] + 5, works=people(1000, seed=1)["works"])
    found = since(Earlier("2026-01", before), now, SCHEMA)
    mean, median, works = found["rows"]
    assert mean[0] == "pay: mean"
    assert mean[3] == "+5"
    assert float(median[5]) > 5 * float(median[6])
    assert float(works[5]) < 3 * float(works[6])
    assert len(found["pictures"]) == 2
    # The column that moved most is drawn first.
    assert found["pictures"][0]["caption"].startswith("pay")


def test_the_chance_of_rows_is_about_what_two_samples_show():
    from understudy.report.drift import _chance_of_numbers
    from understudy.utility import max_ecdf

    rng = np.random.default_rng(0)
    found = np.mean([max_ecdf(rng.random(400), rng.random(900)) for _ in range(200)])
    assert _chance_of_numbers(400, 900) == pytest.approx(found, rel=0.1)


def test_columns_with_missing_values_and_without_any_value_are_compared():
    column = {"role": "confidential", "type": "continuous", "bounds": [0, 9], "missing": "model"}
    schema = Schema.from_dict({"columns": {"a": column, "b": column}})
    before = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, np.nan]})
    now = pd.DataFrame({"a": [2.0, 3.0], "b": [1.0, 2.0]})
    found = since(Earlier("then", before), now, schema)
    assert [row[0] for row in found["rows"]] == ["a: missing", "a: mean", "a: median", "b: missing"]
    assert len(found["pictures"]) == 1


def test_the_report_shows_the_drift_only_where_there_is_an_earlier_release():
    page = small_page()
    assert "Since the last release" not in Reader(page.render()).text
    html = small_page(earlier=Earlier(HOSTILE, page.confidential)).render()
    reader = Reader(html)
    assert "script" not in reader.tags
    assert HOSTILE in "".join(reader.words)
    assert "Since the last release" in reader.text
    assert "This release" in reader.text
    assert max(reader.ids.values()) == 1


# The budget --------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    made = us.Ledger.create(
        tmp_path / "l.db", budget=1.0, adjacency="add-remove", population=HOSTILE
    )
    for month in ("2026-01", HOSTILE):
        made.charge(Cost.of_draw(0.4), label="x", details={"period": month}, **ROWS)
    return made


def test_the_report_shows_the_year_and_escapes_whatever_a_ledger_holds(ledger):
    reader = Reader(small_page(year=statement_of(ledger)).render())
    assert "script" not in reader.tags
    assert "".join(reader.words).count(HOSTILE) >= 2
    assert "The privacy budget" in reader.text
    assert "The budget ends: no further release fits at the last price, ε = 0.4" in reader.text
    assert max(reader.ids.values()) == 1


def test_the_section_repeats_the_exact_numbers_of_the_year(ledger):
    found = spending(statement_of(ledger))
    assert [row[:5] for row in found["rows"]] == [
        ("2026-01", "strict", "0.4", "0.4", "0.6"),
        (HOSTILE, "strict", "0.4", "0.8", "0.2"),
    ]
    assert ("zCDP", "ρ = 0.04") in found["facts"]
    assert ("Left", "ε = 0.2") in found["facts"]


def test_without_a_ledger_there_is_no_section(tmp_path):
    empty = us.Ledger.create(tmp_path / "l.db", budget=1.0, adjacency="add-remove")
    assert spending(None) is None
    assert spending(statement_of(empty)) is None
    assert "The privacy budget" not in Reader(small_page().render()).text


# Who was censored --------------------------------------------------------------------------------


def test_censored_records_are_counted_by_tenths_of_the_outcome():
    values = np.arange(100.0)
    score = np.where(values < 15, 2.0, 1.0)
    rows = influence.censored_where(score, values, 2.0)
    assert len(rows) == 10
    assert sum(int(row[1]) for row in rows) == 100
    assert sum(int(row[2]) for row in rows) == 15
    assert rows[0][-1] == "100%"
    assert rows[-1] == ("90 to 99", "10", "0", "0%")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_equal_outcomes_are_never_parted(values):
    sample = np.array(values, dtype=np.float64)
    rows = influence.censored_where(np.ones(sample.size), sample, 1.0)
    assert sum(int(row[1]) for row in rows) == sample.size
    seen = [float(edge) for row in rows for edge in row[0].split(" to ")]
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("score", "bound"), [(None, 1.0), (np.ones(3), None), (np.ones(3), np.inf), (np.ones(3), 2.0)]
)
def test_where_nothing_is_censored_nothing_is_counted(score, bound):
    assert influence.censored_where(score, np.arange(3.0), bound) == []


def test_the_report_says_where_records_were_censored():
    assert "Where records were censored, by their pay" in Reader(small_page().render()).text


# Quantiles ---------------------------------------------------------------------------------------


def test_quantiles_of_one_value_or_of_many_can_be_drawn():
    Reader(figures.qq([3, 3, 3], [3.0], "pay"))
    rng = np.random.default_rng(0)
    drawn = figures.qq(rng.random(5000), rng.random(300), "pay")
    assert drawn.count("<use") >= figures.QUANTILES


# Through the synthesis ---------------------------------------------------------------------------


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
    text = Reader(second.internal.report()).text
    assert "How the synthetic columns moved since 2026-01" in text
    assert "this release" in text
    assert "The budget ends: 1 more release fits" in text
    assert second.internal.report() == second.internal.report()


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


def test_closeness_is_told_in_plain_words():
    schema = us.Schema.from_dict(
        {
            "columns": {
                "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
                "sex": {"role": "confidential", "type": "categorical", "levels": ["f", "m"]},
            }
        }
    )
    ours = pd.DataFrame({"pay": [10.0, 20.0, 30.0, 40.0], "sex": ["f", "f", "m", "m"]})
    theirs = pd.DataFrame({"pay": [10.0, 22.0, 33.0, 44.0], "sex": ["f", "m", "m", "m"]})
    told = closeness.sentences(
        schema, compare(ours, theirs, schema), Earlier("2026-01", ours), theirs
    )
    assert told == [
        "Half of the confidential records have pay up to 25; half of the synthetic rows up to "
        "27.5, which is 10% more. The share of records up to any given value is off by at most 25 "
        "percentage points.",
        "The shares of the levels of sex are off by at most 25 percentage points, alone or "
        "together.",
        "Since 2026-01 the synthetic median of pay went from about 25 to 27.5, which is 10% more.",
        "Since 2026-01 the shares of the levels of sex moved by 25 percentage points in all.",
    ]
