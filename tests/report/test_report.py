"""The report: one file, safe to open, complete, and the same for the same run."""

from __future__ import annotations

import doctest
import itertools
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data import survey_schema, survey_table
from understudy.domain.schema import Schema
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind, Weights
from understudy.report import (
    Page,
    figures,
    render_comparison,
    render_side_by_side,
    wording,
)
from understudy.report.curves import bin_edges, evenly, reflected_kde, steps, widest_gap
from understudy.report.heatmap import heat_map
from understudy.report.sections import convergence
from understudy.utility import Both, Pair, compare, max_ecdf, measure_pairs, measure_table

BANNER = "Confidential: internal use only, do not publish"
HOSTILE = "<script>alert('$x_$')</script> --> ]]> \"&amp;"
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Collects what the tests ask about, and insists that every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids.update(value for name, value in attrs if name == "id")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def values(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


STRICT = Guarantee(
    mechanism="censor-uw",
    kind=Kind.STRICT,
    asked=Adjacency.REPLACE_ONE,
    epsilon={Adjacency.ADD_REMOVE: 2.5, Adjacency.REPLACE_ONE: 5.0},
    draws=1,
    weights=Weights.NONE,
    sampler="exact",
    assumptions=("The chain has converged.", "The prior is public."),
    seeded=False,
    rows=1601,
)
CONDITIONAL = replace(STRICT, kind=Kind.CONDITIONAL, sampler="nuts")
UNSTATED = replace(STRICT, kind=Kind.ASYMPTOTIC, epsilon=None, mechanism="weighted")

DIAGNOSTICS = {
    "limits": {"rhat": 1.01, "ess_bulk": 400},
    "parameters": {
        "phi": {"mean": 18.9, "sd": 0.61, "rhat": 1.0012, "ess_bulk": 2310.4},
        "lambda": {"mean": 0.181, "sd": 0.002, "rhat": 1.0004, "ess_bulk": 1804.0},
    },
    "lipschitz_bound": 2.5,
    "local_epsilon": 5.0,
    "censored_records": 249,
    "n": 1601,
    "divergences": 0,
    "seconds": 12.34,
}


@pytest.fixture(scope="module")
def page() -> Page:
    schema = Schema.load(survey_schema())
    confidential = pd.read_csv(survey_table())
    rng = np.random.default_rng(0)
    synthetic = confidential.assign(salary=500_000 * rng.beta(3.1, 14, len(confidential)))
    risk = np.abs(confidential["salary"].to_numpy() - 70_000) / 60_000
    return Page(
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


def small_page(name: str = "pay", level: str = "x", **changes: object) -> Page:
    schema = Schema.from_dict(
        {
            "table": {"size": 6},
            "columns": {
                name: {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
                "job": {"role": "confidential", "type": "categorical", "levels": [level, "y"]},
            },
        }
    )
    confidential = pd.DataFrame({name: [1.0, 2, 3, 4, 5, 6], "job": [level, level, *"yyyy"]})
    synthetic = pd.DataFrame({name: [2.0, 4, 8], "job": [level, "y", "y"]})
    fields = {
        "title": f"{name} and job",
        "guarantee": STRICT,
        "schema": schema,
        "confidential": confidential,
        "synthetic": synthetic,
        "utility": compare(confidential, synthetic, schema),
        "diagnostics": DIAGNOSTICS,
        "alpha": np.linspace(0, 1, 6),
        "largest_score": np.linspace(0, 3, 6),
        "bound": 2.0,
    }
    return Page(**{**fields, **changes})  # type: ignore[arg-type]


@cache
def small() -> str:
    return small_page().render()


def page_of(guarantee: Guarantee) -> str:
    """A page with no picture but that of one small column, as it is its words that matter."""
    schema = Schema.from_dict({"columns": {"job": {"role": "confidential", "type": "binary"}}})
    table = pd.DataFrame({"job": ["0", "1", "1"]})
    return Page(
        title="job",
        guarantee=guarantee,
        schema=schema,
        confidential=table,
        synthetic=table,
        utility=compare(table, table, schema),
        diagnostics={},
        alpha=None,
        largest_score=None,
        bound=None,
    ).render()


@cache
def ph() -> str:
    return small_page(
        guarantee=replace(STRICT, mechanism="ph", sampler="none"),
        diagnostics=dict.fromkeys(DIAGNOSTICS),
        alpha=None,
        largest_score=None,
        bound=None,
    ).render()


@cache
def comparison() -> str:
    page = small_page()
    tables = page.confidential, page.synthetic
    utility = measure_table(*tables, page.schema, regression="pay ~ job")
    return render_comparison("a and b", page.schema, *tables, utility)


@cache
def side_by_side(name: str = "pay") -> str:
    page = small_page(name)
    found = {
        label: (len(table), measure_table(page.confidential, table, page.schema))
        for label, table in (("first", page.synthetic), (HOSTILE, page.confidential))
    }
    return render_side_by_side("two", len(page.confidential), found)


def test_the_page_is_well_formed_and_its_ids_are_unique(rendered):
    for html in (rendered, small(), ph(), comparison(), side_by_side()):
        reader = Reader(html)
        assert html.startswith("<!doctype html>")
        assert reader.ids
        assert max(reader.ids.values()) == 1


def test_the_page_runs_and_loads_nothing(rendered):
    for html in (rendered, comparison(), side_by_side()):
        reader = Reader(html)
        assert not reader.tags.keys() & {"script", "link", "img", "iframe", "object", "embed"}
        assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
        assert not reader.values("src")
        assert all(value.startswith("#") for value in reader.values("href"))
        assert "http://" not in html
        assert "https://" not in html
        assert "@import" not in html
        assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))


def test_every_reference_within_the_page_points_at_something(rendered):
    reader = Reader(rendered)
    targets = {value[1:] for value in reader.values("href")}
    targets |= set(re.findall(r"url\(#([^)]*)\)", rendered))
    targets |= {*reader.values("aria-labelledby")}
    assert targets
    assert targets <= reader.ids.keys()


def test_the_same_run_gives_the_same_page(page, rendered):
    assert page.render() == rendered


def test_a_users_matplotlib_settings_do_not_change_the_page():
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert small_page().render() == small()


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


def test_the_guarantee_is_stated_under_both_adjacencies_with_what_it_assumes():
    text = Reader(page_of(STRICT)).text
    assert STRICT.headline in text
    assert "ε = 2.5" in text
    assert "ε = 5 " in text
    assert "replace-one, as asked" in text
    assert "add-remove, as asked" not in text
    assert "Strict guarantee" in text
    assert "What this rests on" in text
    assert all(sentence in text for sentence in STRICT.assumptions)


def test_a_conditional_guarantee_states_epsilon_and_its_condition():
    text = Reader(page_of(CONDITIONAL)).text
    assert "! Conditional guarantee" in text
    assert "conditional (ε holds, provided that the Markov chains have converged)" in text
    assert CONDITIONAL.headline in text
    assert "ε = 2.5" in text
    assert "Strict" not in text


@pytest.mark.parametrize(
    ("kind", "badge"), [(Kind.ASYMPTOTIC, "Asymptotic, no guarantee"), (Kind.NONE, "No guarantee")]
)
def test_what_is_not_strict_says_so_and_states_no_epsilon(kind, badge):
    text = Reader(page_of(replace(UNSTATED, kind=kind))).text
    assert badge in text
    assert "ε = 2.5" not in text
    assert text.count("no ε") >= 2
    assert "What this rests on" not in text
    assert "Strict guarantee" not in text


def test_a_seeded_run_is_marked_as_not_for_release():
    assert "Not for release" not in page_of(STRICT)
    assert "Not for release" in page_of(replace(STRICT, seeded=True))


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
    html = small_page(bound=bound).render()
    assert "Bound B" in small()
    assert "Bound B" not in html
    assert "does not censor" in html


def test_infinite_scores_are_left_out_and_counted():
    score = np.array([0.1, np.inf, 0.2, np.inf, 0.3, 0.4])
    diagnostics = DIAGNOSTICS | {"lipschitz_bound": None, "local_epsilon": None}
    html = small_page(largest_score=score, bound=np.inf, diagnostics=diagnostics).render()
    assert "infinite: 2." in html
    assert Reader(html).text.count("∞") == 2
    assert small_page(largest_score=np.full(6, np.inf), bound=np.inf).render()


def test_equal_weights_are_a_sentence_and_not_a_picture():
    reader = Reader(small_page(alpha=np.full(6, 0.25)).render())
    assert "Every record has weight 0.25" in reader.text
    assert reader.tags["svg"] == 6


def test_a_table_without_numbers_is_drawn_against_the_position():
    schema = Schema.from_dict(
        {"columns": {"job": {"role": "confidential", "type": "binary", "levels": ["x", "y"]}}}
    )
    table = pd.DataFrame({"job": list("xxyyyy")})
    html = small_page(
        schema=schema, confidential=table, synthetic=table, utility=compare(table, table, schema)
    ).render()
    assert "against its position in the table" in html


def test_a_weight_or_score_for_each_record_is_required():
    with pytest.raises(ValueError, match="one weight and one score for each record"):
        small_page(alpha=np.ones(5))


def test_a_comparison_promises_nothing_and_is_marked_confidential():
    text = Reader(comparison()).text
    assert BANNER in text
    assert "understudy compare" in text
    assert "The guarantee" not in text
    assert "Convergence" not in text
    assert "max-ECDF" in text
    assert "Total variation" in text


def test_a_comparison_tells_of_pairs_of_propensity_and_of_the_regression_that_was_asked_for():
    reader = Reader(comparison())
    for heading in ("Pairs of columns", "Telling the tables apart", "One analysis, in each table"):
        assert heading in reader.text
    assert "job[T.y]" in reader.text
    assert "Missing values" not in reader.text
    assert "as a heat map" in " ".join(reader.values("aria-label"))
    page = small_page()
    tables = page.confidential, page.synthetic
    plain = render_comparison("a", page.schema, *tables, measure_table(*tables, page.schema))
    assert "One analysis" not in plain


def test_several_syntheses_stand_in_one_table_and_have_a_heat_map_each():
    reader = Reader(side_by_side(HOSTILE))
    assert "script" not in reader.tags
    assert reader.tags["svg"] == 2
    assert "first" in reader.text
    assert HOSTILE in "".join(reader.words)
    assert "pairs: largest total variation" in reader.text


def test_a_report_of_several_columns_has_their_heat_map_and_one_of_a_single_column_none():
    page = small_page()
    columns = page.schema.confidential
    pairs = measure_pairs(page.confidential, page.synthetic, columns)
    assert "Pairs of columns" in small_page(pairs=pairs).render()
    assert "Pairs of columns" not in small()


@pytest.mark.parametrize("count", [2, 5, 12, 30])
def test_a_heat_map_has_a_square_for_every_pair(count):
    names = [f"column {k} with a long name" for k in range(count)]
    pairs = [
        Pair(
            columns=(a, b),
            total_variation=None if k == 1 else 0.01 * k,
            expected=0.01,
            cramers_v=Both(confidential=0.1, synthetic=None),
            correlation=None,
        )
        for k, (a, b) in enumerate(itertools.combinations(names, 2))
    ]
    drawn = heat_map(pairs, 0.5, "map")
    Reader(drawn)
    numbers = re.findall(r">\d\.\d\d\d</text>", drawn)
    told = sum(pair.total_variation is not None for pair in pairs)
    # The scale beside the map has numbers, too.
    assert (len(numbers) >= told) == (count <= 8)
    assert drawn.count("column") == 2 * (count - 1)


GOOD = {"mean": 0.0, "sd": 1.0, "rhat": 1.0, "ess_bulk": 1000.0}
LIMITS = {"rhat": 1.01, "ess_bulk": 400}


@pytest.mark.parametrize(
    "bad",
    [{"rhat": 1.02}, {"ess_bulk": 399.0}, {"rhat": np.nan}, {"rhat": None, "ess_bulk": None}],
)
def test_a_chain_that_misses_the_mark_or_has_no_number_fails(bad):
    diagnostics = {"parameters": {"a": GOOD, "b": GOOD | bad}, "limits": LIMITS}
    found = convergence(diagnostics, "nuts")
    assert [row["passed"] for row in found["rows"]] == [True, False]
    assert found["failed"]
    assert found["sentence"].startswith("1 of 2 quantities miss the mark")


def test_what_the_gate_saw_beyond_the_parameters_is_shown():
    gate = {"log target": {"rhat": 1.2, "ess_bulk": 50.0}, "a": {"rhat": 1.0, "ess_bulk": 1000.0}}
    found = convergence({"parameters": {"a": GOOD}, "gate": gate, "limits": LIMITS}, "nuts")
    assert [(row["name"], row["passed"]) for row in found["rows"]] == [
        ("log target", False),
        ("a", True),
    ]


def test_exact_draws_have_nothing_to_converge():
    exact = {"mean": 0.0, "sd": 1.0, "rhat": None, "ess_bulk": None}
    found = convergence({"parameters": {"a": exact}}, "exact")
    assert [row["passed"] for row in found["rows"]] == [None]
    assert not found["failed"]


@pytest.mark.parametrize(
    ("limits", "passed"),
    [
        ({"rhat": 1.01, "ess_bulk": 1000}, True),
        ({"rhat": 1.01, "ess_bulk": 1001}, False),
        ({"rhat": 0.99, "ess_bulk": 400}, False),
        ({"rhat": 1.01}, False),
        ({}, False),
    ],
)
def test_the_report_judges_by_the_limits_of_the_gate_and_by_no_others(limits, passed):
    found = convergence({"parameters": {"a": GOOD}, "limits": limits}, "nuts")
    assert [row["passed"] for row in found["rows"]] == [passed]
    assert len(found["marks"]) == len(limits)


def test_limits_that_no_quantity_is_held_to_are_shown_as_well():
    found = convergence(
        {"parameters": {"a": GOOD}, "limits": LIMITS | {"divergences": 0.01}}, "nuts"
    )
    assert found["marks"] == [
        ("R-hat at most", "1.01"),
        ("ESS at least", "400"),
        ("divergences", "0.01"),
    ]


def test_the_examples_of_the_wording_hold():
    assert doctest.testmod(wording).failed == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (999.96, "1,000"),
        (-1234.5, "−1,234"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e15, "1×10¹⁵"),
        (float("inf"), "∞"),
        (float("nan"), "–"),
    ],
)
def test_numbers_at_the_edges_are_still_readable(number, text):
    assert wording.person(number) == text


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 10), min_size=2, max_size=60),
    st.sampled_from([(0.0, 10.0), (-5.0, 12.0)]),
)
def test_the_density_curve_integrates_to_1_within_the_bounds(values, bounds):
    at, curve = reflected_kde(values, bounds)
    assert curve.min() >= 0
    assert curve.sum() * (at[1] - at[0]) == pytest.approx(1)


def test_the_density_curve_is_the_reflected_kernel_density():
    rng = np.random.default_rng(0)
    values = 10 * rng.beta(0.8, 2, 300)
    at, curve = reflected_kde(values, (0.0, 10.0))
    quarters = np.quantile(values, [0.25, 0.75])
    bandwidth = 0.9 * min(values.std(), np.ptp(quarters) / 1.34) * 300**-0.2
    images = np.concatenate([values, -values, 20 - values])
    kernels = np.exp(-(((at[:, None] - images) / bandwidth) ** 2) / 2)
    brute_force = kernels.sum(axis=1) / (300 * bandwidth * np.sqrt(2 * np.pi))
    assert np.abs(curve - brute_force).max() < 0.01 * brute_force.max()


@given(st.integers(-50, 50), st.integers(1, 700))
def test_bins_of_whole_numbers_hold_equally_many_of_them(low, span):
    edges = bin_edges((low, low + span), whole=True)
    held = np.histogram(np.arange(low, low + span + 1), edges)[0]
    assert held.sum() == span + 1
    assert len(set(held[:-1])) <= 1
    assert held[-1] <= held[0]
    assert len(held) <= 100


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_the_marked_gap_is_the_max_ecdf(x, y):
    where, low, high = widest_gap(x, y)
    assert high - low == pytest.approx(max_ecdf(x, y))
    heights = (sum(v <= where for v in sample) / len(sample) for sample in (x, y))
    assert sorted(heights) == pytest.approx([low, high])


def test_the_distribution_function_climbs_from_0_to_1_at_the_values():
    at, height = steps([3, 1, 3, 4], (0, 10))
    assert at.tolist() == [0, 1, 3, 4, 10]
    assert height.tolist() == [0, 0.25, 0.75, 1, 1]


@given(st.integers(0, 5000), st.integers(2, 2000))
def test_a_subsample_is_even_and_never_too_large(count, most):
    kept = evenly(count, most)
    assert len(kept) == min(count, most)
    if count:
        assert (kept[0], kept[-1]) == (0, count - 1)
        assert np.ptp(np.diff(kept)) <= 1 if len(kept) > 1 else True


def test_many_records_are_thinned_to_2000_points():
    rng = np.random.default_rng(0)
    svg = figures.weights(rng.random(5000), rng.random(5000), "pay")
    assert 1900 < svg.count("<use") < 2050
