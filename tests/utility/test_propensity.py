"""pMSE: the fit against a second optimiser, the expected value against samples and shuffles."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from optimised import logistic_by_optimiser
from understudy.domain.schema import Column, Role, Type
from understudy.utility import propensity
from understudy.utility.propensity import measure_propensity

PAY = Column("pay", Role.CONFIDENTIAL, Type.CONTINUOUS, bounds=(0.0, 1e6))


AGE = Column("age", Role.CONFIDENTIAL, Type.INTEGER, bounds=(0.0, 99.0))


JOB = Column("job", Role.CONFIDENTIAL, Type.CATEGORICAL, levels=("x", "y", "z"))


COLUMNS = [PAY, AGE, JOB]


def sample(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    pay = 1000 * np.exp(rng.normal(0.02 * age, 0.4))
    return pd.DataFrame({"pay": pay, "age": age, "job": rng.choice(list("xyz"), n)})


def design_by_hand(table: pd.DataFrame) -> np.ndarray:
    """Constant, main effects, squares and products of the three columns, written out."""
    pay, age = (table["pay"] - 2000) / 1000, (table["age"] - 40) / 10
    y, z = (table["job"] == "y").astype(float), (table["job"] == "z").astype(float)
    one = np.ones(len(table))
    terms = [one, pay, age, y, z, pay**2, age**2]
    terms += [pay * age, pay * y, pay * z, age * y, age * z]
    return np.column_stack(terms)


def test_pmse_equals_its_definition_with_another_optimiser():
    ours, theirs = sample(0, 400), sample(1, 260)
    theirs["pay"] *= 1.2
    pooled = pd.concat([ours, theirs])
    label = np.repeat([0.0, 1.0], [400, 260])
    design = design_by_hand(pooled)
    fitted = 1 / (1 + np.exp(-design @ logistic_by_optimiser(design, label)))
    c, n = 260 / 660, 660
    found = measure_propensity(ours, theirs, COLUMNS)
    assert found.pmse == pytest.approx(((fitted - c) ** 2).mean(), rel=1e-4)
    assert found.parameters == 12
    assert found.interactions
    assert found.expected == pytest.approx(11 * c * (1 - c) / n)
    assert found.ratio == pytest.approx(found.pmse / found.expected)
    assert found.standardised == pytest.approx((found.ratio - 1) * np.sqrt(11 / 2))
    json.dumps(asdict(found), allow_nan=False)


def test_the_ratio_is_about_1_for_a_second_sample_whatever_the_sizes():
    for n, m in [(400, 400), (600, 200)]:
        ratios = [
            measure_propensity(sample(2 * k, n), sample(2 * k + 1, m), COLUMNS).ratio
            for k in range(30)
        ]
        # One ratio spreads by √(2/11) = 0.43, their mean by 0.08.
        assert np.mean(ratios) == pytest.approx(1, abs=0.25)
        assert np.std(ratios) == pytest.approx(np.sqrt(2 / 11), rel=0.5)


def test_a_shuffle_of_the_two_tables_has_the_expected_value():
    pooled = pd.concat([sample(3, 500), sample(4, 700).assign(pay=1500.0)], ignore_index=True)
    rng = np.random.default_rng(5)
    found = []
    for _ in range(30):
        order = rng.permutation(len(pooled))
        found.append(
            measure_propensity(pooled.iloc[order[:500]], pooled.iloc[order[500:]], COLUMNS)
        )
    assert np.mean([each.pmse for each in found]) == pytest.approx(found[0].expected, rel=0.25)


def test_identical_tables_cannot_be_told_apart():
    table = sample(6, 300)
    found = measure_propensity(table, table, COLUMNS)
    assert found.pmse == pytest.approx(0, abs=1e-12)
    assert found.ratio == pytest.approx(0, abs=1e-8)


def test_tables_without_anything_in_common_reach_the_largest_value():
    ours = sample(7, 300)
    found = measure_propensity(ours, ours.assign(job="y").iloc[:150], [JOB])
    apart = measure_propensity(ours.assign(job="x"), ours.assign(job="y").iloc[:150], [JOB])
    c = 1 / 3
    assert apart.pmse == pytest.approx(c * (1 - c), rel=1e-6)
    assert found.pmse < apart.pmse


def test_a_lost_interaction_is_noticed():
    rng = np.random.default_rng(8)
    x = rng.normal(500, 100, 2000)
    ours = pd.DataFrame({"pay": x, "age": np.rint(x / 20 + rng.normal(0, 2, 2000))})
    theirs = ours.assign(age=rng.permutation(ours["age"]))
    found = measure_propensity(ours, theirs, [PAY, AGE])
    assert found.ratio > 50


def test_a_change_of_units_changes_nothing():
    ours, theirs = sample(9, 300), sample(10, 300)
    moved = [table.assign(pay=table["pay"] * 1e-3 + 7e5) for table in (ours, theirs)]
    plain = measure_propensity(ours, theirs, COLUMNS)
    assert measure_propensity(*moved, COLUMNS).pmse == pytest.approx(plain.pmse, rel=1e-6)


def test_missing_values_are_something_to_tell_tables_apart_by():
    ours, theirs = sample(11, 400), sample(12, 400)
    assert measure_propensity(ours, theirs, COLUMNS).standardised < 4
    for name in ("pay", "job"):
        gaps = theirs.assign(**{name: theirs[name].where(theirs.index % 4 > 0)})
        assert measure_propensity(ours, gaps, COLUMNS).standardised > 20
        both = ours.assign(**{name: ours[name].where(ours.index % 4 > 0)})
        assert measure_propensity(both, gaps, COLUMNS).standardised < 4


@pytest.mark.parametrize("limit", ["LARGEST_DESIGN", "ROWS_PER_PARAMETER"])
def test_products_are_left_out_where_they_would_be_too_many(monkeypatch, limit):
    monkeypatch.setattr(propensity, limit, 100)
    found = measure_propensity(sample(13, 400), sample(14, 400), COLUMNS)
    assert not found.interactions
    assert found.parameters == 7


def test_a_constant_table_has_no_ratio():
    table = pd.DataFrame({"job": ["x"] * 5})
    found = measure_propensity(table, table, [JOB])
    assert found.pmse == pytest.approx(0, abs=1e-20)
    assert found.ratio is None
    assert found.standardised is None
