"""The report's sections on the guarantee, closeness, convergence and the budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from ledgers import ROWS
from pages import (
    CONDITIONAL,
    HOSTILE,
    STRICT,
    UNSTATED,
    Reader,
    tiny_page,
)
from understudy.domain.schema import Schema
from understudy.ledger.statement import statement_of
from understudy.privacy.accounting import Cost
from understudy.privacy.guarantee import Kind
from understudy.report.drift import Earlier
from understudy.report.sections import closeness, convergence, spending
from understudy.utility import compare


def test_the_guarantee_is_stated_under_both_adjacencies_with_what_it_assumes():
    text = Reader(tiny_page().render()).text
    assert STRICT.headline in text
    assert "ε = 2.5" in text
    assert "ε = 5 " in text
    assert "replace-one, as asked" in text
    assert "add-remove, as asked" not in text
    assert "Strict guarantee" in text
    assert "What this rests on" in text
    assert all(sentence in text for sentence in STRICT.assumptions)


def test_a_conditional_guarantee_states_epsilon_and_its_condition():
    text = Reader(tiny_page(guarantee=CONDITIONAL).render()).text
    assert "! Conditional guarantee" in text
    assert "conditional (ε holds, provided that the Markov chains have converged)" in text
    assert CONDITIONAL.headline in text
    assert "ε = 2.5" in text
    assert "Strict" not in text


@pytest.mark.parametrize(
    ("kind", "badge"), [(Kind.ASYMPTOTIC, "Asymptotic, no guarantee"), (Kind.NONE, "No guarantee")]
)
def test_what_is_not_strict_says_so_and_states_no_epsilon(kind, badge):
    text = Reader(tiny_page(guarantee=replace(UNSTATED, kind=kind)).render()).text
    assert badge in text
    assert "ε = 2.5" not in text
    assert text.count("no ε") >= 2
    assert "What this rests on" not in text
    assert "Strict guarantee" not in text


def test_a_seeded_run_is_marked_as_not_for_release():
    assert "Not for release" not in tiny_page().render()
    assert "Not for release" in tiny_page(guarantee=replace(STRICT, seeded=True)).render()


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
    assert found["failed"] == 1
    text = Reader(tiny_page(guarantee=CONDITIONAL, diagnostics=diagnostics).render()).text
    assert "1 of 2 quantities miss the mark" in text


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
    told = closeness(schema, compare(ours, theirs, schema), Earlier("2026-01", ours), theirs)
    assert told == [
        "Half of the confidential records have pay up to 25; half of the synthetic rows up to "
        "27.5, which is 10% more. The share of records up to any given value is off by at most 25 "
        "percentage points.",
        "The shares of the levels of sex are off by at most 25 percentage points, alone or "
        "together.",
        "Since 2026-01 the synthetic median of pay went from about 25 to 27.5, which is 10% more.",
        "Since 2026-01 the shares of the levels of sex moved by 25 percentage points in all.",
    ]


@pytest.fixture
def ledger(tmp_path):
    made = us.Ledger.create(
        tmp_path / "l.db", budget=1.0, adjacency="add-remove", population=HOSTILE
    )
    for month in ("2026-01", HOSTILE):
        made.charge(Cost.of_draw(0.4), label="x", details={"period": month}, **ROWS)
    return made


def test_the_report_shows_the_year_and_escapes_whatever_a_ledger_holds(ledger):
    reader = Reader(tiny_page(statement=statement_of(ledger)).render())
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
    assert "The privacy budget" not in Reader(tiny_page().render()).text


def test_the_median_of_dates_is_told_as_a_date():
    dates = {"role": "confidential", "type": "date", "bounds": ["1970-01-01", "1970-04-10"]}
    schema = Schema.from_dict({"columns": {"born": dates}})
    before, after = (pd.DataFrame({"born": np.full(5, float(day))}) for day in (10, 41))
    (told,) = closeness(schema, compare(before, after, schema), None, after)
    assert "born up to 1970-01-11; half of the synthetic rows up to 1970-02-11" in told
    assert "which is 31 days later." in told
    (same,) = closeness(schema, compare(before, before, schema), None, before)
    assert "which is the same." in same
