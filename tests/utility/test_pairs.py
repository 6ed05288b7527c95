"""Pairs of columns: measures against their definitions."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.domain.schema import Column, Role, Type
from understudy.errors import BadInput
from understudy.utility.pairs import (
    BINS,
    MISSING,
    cells,
    codes,
    cramers_v,
    expected_total_variation,
    measure_pairs,
    total_variation,
)

PAY = Column("pay", Role.CONFIDENTIAL, Type.CONTINUOUS, bounds=(0.0, 100.0))


AGE = Column("age", Role.PUBLIC, Type.INTEGER, bounds=(18.0, 65.0))


KIDS = Column("kids", Role.CONFIDENTIAL, Type.COUNT, bounds=(0.0, 5.0))


JOB = Column("job", Role.CONFIDENTIAL, Type.CATEGORICAL, levels=("x", "y", "z"))


def cell_by_definition(value: float, column: Column) -> int:
    """Count the edges of equal parts at or below the value, the last edge excepted."""
    if not column.whole:
        edges = [column.lower + column.width * k / BINS for k in range(1, BINS)]
        return sum(value >= edge for edge in edges)
    numbers = list(range(int(column.lower), int(column.upper) + 1))
    size = next(s for s in itertools.count(1) if s * BINS >= len(numbers))
    return numbers.index(int(value)) // size


@pytest.mark.parametrize("column", [PAY, AGE, KIDS], ids=lambda column: column.name)
def test_every_value_has_the_cell_of_the_definition(column):
    values = np.linspace(column.lower, column.upper, 482)
    if column.whole:
        values = np.unique(np.rint(values))
    found = codes(pd.Series(values), column, "confidential")
    assert found.tolist() == [cell_by_definition(value, column) for value in values]
    assert found.min() == 0
    assert found.max() == cells(column) - 1 < BINS


def test_levels_are_their_own_cells_and_missing_values_have_none():
    found = codes(pd.Series(["z", None, "x"], dtype="str"), JOB, "confidential")
    assert found.tolist() == [2, MISSING, 0]
    assert cells(JOB) == 3
    assert codes(pd.Series([np.nan, 100.0]), PAY, "synthetic").tolist() == [MISSING, BINS - 1]


def test_what_the_schema_does_not_declare_is_refused_without_being_quoted():
    with pytest.raises(BadInput, match=r"'job' of the synthetic .* record 2") as refusal:
        codes(pd.Series(["x", "secret"]), JOB, "synthetic")
    assert "secret" not in str(refusal.value)
    with pytest.raises(BadInput, match=r"'pay' of the confidential .* record 3"):
        codes(pd.Series([0.0, 100.0, 100.5]), PAY, "confidential")


tables = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30)


def counted(records: list[tuple[int, int]]) -> np.ndarray:
    counts = np.zeros((3, 2), dtype=np.int64)
    for a, b in records:
        counts[a, b] += 1
    return counts


@given(tables, tables)
def test_total_variation_is_the_largest_error_of_any_set_of_cells(x, y):
    places = list(itertools.product(range(3), range(2)))
    largest = max(
        abs(
            sum(record in chosen for record in x) / len(x)
            - sum(record in chosen for record in y) / len(y)
        )
        for size in range(7)
        for chosen in map(set, itertools.combinations(places, size))
    )
    assert total_variation(counted(x), counted(y)) == pytest.approx(largest, abs=1e-12)


@given(tables)
def test_a_table_and_its_double_are_at_distance_exactly_0(x):
    assert total_variation(counted(x), counted(x + x)) == 0


def test_the_expected_total_variation_is_that_of_two_samples_from_one_population():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(12) * 3)
    n, m = 900, 1500
    samples = [
        (rng.multinomial(n, shares).reshape(3, 4), rng.multinomial(m, shares).reshape(3, 4))
        for _ in range(400)
    ]
    seen = np.mean([total_variation(a, b) for a, b in samples])
    claimed = np.mean([expected_total_variation(a, b) for a, b in samples])
    # Standard error of the mean about 0.0003.
    assert claimed == pytest.approx(seen, abs=0.0012)


def v_by_definition(records: list[tuple[int, int]]) -> float | None:
    n = len(records)
    rows, columns = ({record[axis] for record in records} for axis in (0, 1))
    if min(len(rows), len(columns)) < 2:
        return None
    chi = 0.0
    for a, b in itertools.product(rows, columns):
        independent = sum(r[0] == a for r in records) * sum(r[1] == b for r in records) / n
        chi += (records.count((a, b)) - independent) ** 2 / independent
    corrected = max(0, chi / n - (len(rows) - 1) * (len(columns) - 1) / (n - 1))
    smallest = min(len(s) - (len(s) - 1) ** 2 / (n - 1) for s in (rows, columns)) - 1
    return min(1, corrected / smallest) ** 0.5 if smallest > 0 else None


@given(tables)
def test_cramers_v_equals_its_definition(records):
    found, defined = cramers_v(counted(records)), v_by_definition(records)
    assert found == (defined if defined is None else pytest.approx(defined, abs=1e-9))


def test_cramers_v_is_1_for_copies_and_about_0_for_strangers():
    rng = np.random.default_rng(0)
    same = np.diag([40, 30, 30])
    assert cramers_v(same) == pytest.approx(1)
    strangers = np.histogram2d(rng.random(3000), rng.random(3000), 20)[0].astype(np.int64)
    plain = np.sqrt(((strangers - 7.5) ** 2 / 7.5).sum() / 3000 / 19)
    assert plain > 0.07
    assert cramers_v(strangers) < 0.03


@pytest.fixture
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(2)
    made = []
    for n in (300, 200):
        age = rng.integers(18, 66, n)
        pay = np.clip(age + rng.normal(0, 8, n), 0, 100)
        made.append(pd.DataFrame({"pay": pay, "age": age, "job": rng.choice(list("xyz"), n)}))
    return made[0], made[1]


def test_every_pair_is_measured_and_correlations_are_for_numbers_alone(frames):
    pairs = measure_pairs(*frames, [PAY, AGE, JOB])
    assert [pair.columns for pair in pairs] == [("pay", "age"), ("pay", "job"), ("age", "job")]
    assert pairs[1].correlation is None
    correlation = pairs[0].correlation
    assert correlation is not None
    x, y = frames[1]["pay"], frames[1]["age"]
    by_hand = ((x - x.mean()) * (y - y.mean())).mean() / (x.std(ddof=0) * y.std(ddof=0))
    assert correlation.synthetic == pytest.approx(by_hand)
    json.dumps([asdict(pair) for pair in pairs], allow_nan=False)


def test_a_pair_counts_the_records_that_have_both_values(frames):
    ours, theirs = frames
    gaps = ours.copy()
    gaps.loc[:49, "pay"] = np.nan
    gaps["job"] = gaps["job"].where(gaps.index >= 20)
    found = measure_pairs(gaps, theirs, [PAY, AGE, JOB])
    whole = measure_pairs(ours.loc[50:], theirs, [PAY, AGE, JOB])
    assert found[0] == whole[0]
    assert found[1] == whole[1]
    assert found[2] == measure_pairs(ours.loc[20:], theirs, [AGE, JOB])[0]


def test_a_pair_that_no_record_has_is_left_blank(frames):
    ours, theirs = frames
    pair = measure_pairs(ours.assign(pay=np.nan), theirs, [PAY, AGE])[0]
    assert pair.total_variation is None
    assert pair.expected is None
    assert pair.cramers_v.confidential is None
    assert pair.correlation is not None
    assert pair.correlation.confidential is None


def test_a_constant_column_has_no_association(frames):
    ours, theirs = frames
    pair = measure_pairs(ours.assign(pay=3.0), theirs, [PAY, AGE])[0]
    assert pair.cramers_v.confidential is None
    assert pair.correlation is not None
    assert pair.correlation.confidential is None


def test_tables_of_more_records_than_64_bits_multiply_are_measured_too():
    counts = np.array([[3, 1], [2, 4]])
    other = np.array([[1, 1], [1, 2]])
    large = counts * 10**9, other * 10**10
    assert total_variation(*large) == pytest.approx(total_variation(counts, other), rel=1e-12)
    found = cramers_v(np.array([[3, 1], [1, 3]]) * 10**10)
    assert found == pytest.approx(0.5, rel=1e-6)
