"""What is told about all columns: in order, rounded, and a dash for what is not known."""

from __future__ import annotations

import itertools
import re

import pytest

from pages import Reader
from understudy.report import table_sections
from understudy.report.table_sections import SHOWN_PAIRS
from understudy.utility.pairs import InBothTables, PairUtility
from understudy.utility.propensity import Propensity
from understudy.utility.regression import Coefficient, Estimate, Regression


def pair(k, total_variation):
    return PairUtility(
        columns=("a", f"b{k}"),
        total_variation=total_variation,
        expected=0.0123456,
        cramers_v=InBothTables(0.25, None),
        correlation=None,
    )


def test_the_overview_has_a_row_for_each_measure_and_a_column_for_each_table():
    told = table_sections.overview({"x": (1200, {"m": 0.123456}), "y": (7, {"m": None})})
    assert told == {"labels": ["x", "y"], "rows": [("Rows", "1,200", "7"), ("m", "0.123", "–")]}


def test_pairs_are_told_furthest_apart_first_and_the_rest_is_counted():
    pairs = [pair(k, 0.01 * ((7 * k) % 12)) for k in range(12)] + [pair(12, None)]
    (told,) = table_sections.pairs({"": pairs})
    distances = [float(row[1]) for row in told["rows"]]
    assert distances == sorted(distances, reverse=True)
    assert len(distances) == SHOWN_PAIRS
    assert told["caption"] == "The 10 pairs furthest apart, of 13"
    assert told["rows"][0] == ("a × b5", "0.11", "0.0123", "0.25 → –", "–")


def test_few_pairs_are_all_told_and_none_are_no_section():
    (told,) = table_sections.pairs({"made": [pair(1, 0.5)]})
    assert told["caption"] == "Every pair, furthest apart first"
    assert told["picture"]["caption"].endswith("apart in made. Darker is further.")
    assert table_sections.pairs({"": [pair(1, None)]}) is None
    assert table_sections.pairs({"": []}) is None


@pytest.mark.parametrize(("ratio", "told"), [(2.0, ("2", "+1.41")), (None, ("–", "–"))])
def test_propensity_is_told_with_what_a_second_sample_would_show(ratio, told):
    measured = Propensity(
        pmse=0.02,
        expected=0.01,
        ratio=ratio,
        standardised=None if ratio is None else 1.41,
        parameters=1234,
        interactions=False,
    )
    facts = dict(table_sections.propensity(measured)["facts"])
    assert (facts["Ratio of the two"], facts["Standardised"]) == told
    assert (facts["Parameters"], facts["Terms"]) == ("1,234", "main effects, squares")


def regression(overlap):
    estimate = Estimate(value=1.0, lower=0.5, upper=1.5)
    return Regression(
        formula="pay ~ age",
        kind="linear",
        confidential_used=1.0,
        synthetic_used=0.5,
        coefficients=(
            Coefficient("Intercept", estimate, estimate, overlap, -0.25),
            Coefficient("age", estimate, None, None, None),
        ),
    )


def test_a_regression_is_told_coefficient_by_coefficient():
    told = table_sections.regression({"Synthetic": regression(0.75)})
    assert told["rows"] == [
        ("Intercept", "1 (0.5 to 1.5)", "1 (0.5 to 1.5)", "75%", "−25%"),
        ("age", "1 (0.5 to 1.5)", "–", "–", "–"),
    ]
    assert told["notes"] == [("Mean overlap", "75%")]
    assert told["used"] == [("Confidential", "100%"), ("Synthetic", "50%")]
    assert table_sections.regression({"Synthetic": None}) is None


def test_several_regressions_stand_side_by_side_under_their_names():
    told = table_sections.regression({"x": regression(1.0), "y": regression(None)})
    assert told["notes"] == [("x: mean overlap", "100%"), ("y: mean overlap", "–")]
    assert [len(row) for row in told["rows"]] == [8, 8]


@pytest.mark.parametrize("count", [2, 5, 12, 30])
def test_a_heat_map_has_a_square_for_every_pair(count):
    names = [f"column {k} with a long name" for k in range(count)]
    pairs = [
        PairUtility(
            columns=(a, b),
            total_variation=None if k == 1 else 0.01 * k,
            expected=0.01,
            cramers_v=InBothTables(0.1, None),
            correlation=None,
        )
        for k, (a, b) in enumerate(itertools.combinations(names, 2))
    ]
    drawn = table_sections.heat_map(pairs, 0.5, "map")
    Reader(drawn)
    numbers = re.findall(r">\d\.\d\d\d</text>", drawn)
    told = sum(pair.total_variation is not None for pair in pairs)
    # The scale beside the map has numbers, too.
    assert (len(numbers) >= told) == (count <= 8)
    assert drawn.count("column") == 2 * (count - 1)
