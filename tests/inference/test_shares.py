"""What a unit adds to a sum is bounded in whole numbers, and is the same in whichever table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from summaries import PUBLIC, SHARE
from understudy.inference.cells import coarse
from understudy.inference.contribution import UNIT, ScoreContribution, TableContribution
from understudy.inference.directions import _LENGTHS
from understudy.inference.shares import STEPS, Shares
from understudy.models.record.declared import as_declared

WEIGHT = {"role": "survey-weight", "bounds": [0, 90], "average": 5}
ROWS = 3


def rows_of(model):
    declared = as_declared(model)
    return declared.row or declared


def schema_of(*, unit=True, weight=True, **columns):
    own = {"x": SHARE | {"missing": "model"}, **columns}
    own |= {"id": {"role": "unit"}} if unit else {}
    own |= {"v": WEIGHT} if weight else {}
    table = {"size": 100} | ({"rows_per_unit": ROWS} if unit else {})
    return us.Schema.from_dict({"table": table, "columns": own})


MODEL = rows_of(us.beta(schema_of()))


def scores_of(model=MODEL, seed=0, length=3 * UNIT + 1, count=7):
    generator = np.random.default_rng(seed)
    width = min(model.dimension, 2)
    return ScoreContribution(
        model,
        z=generator.normal(size=model.dimension),
        directions=generator.normal(size=(width, model.dimension)),
        centre=generator.normal(size=width),
        length=length,
        count=count,
    )


def tables_of(model=MODEL):
    return TableContribution(model, (coarse(model.schema.confidential[0], 1e5),), (3,))


edges = st.sampled_from([0.0, 1.0, 5e-324, 1 - 2.0**-53, 1e-12, 0.5, float("nan")])
weights = st.sampled_from([0.0, 5e-324, 0.002, 5.0, 49.999999, 50.0, 50.0000001, 90.0])


@given(
    rows=st.lists(st.tuples(edges | st.floats(0, 1), weights | st.floats(0, 90)), min_size=1,
                  max_size=ROWS),
    seed=st.integers(0, 20),
    length=st.integers(1, 64 * UNIT),
)  # fmt: skip
def test_no_unit_adds_more_than_the_bound(rows, seed, length):
    columns = {
        "x": np.array([x for x, _ in rows]),
        "v": np.array([v for _, v in rows]),
        "id": np.zeros(len(rows), dtype=np.int64),
    }
    for contribution in (scores_of(seed=seed, length=length), tables_of()):
        total = contribution.total(columns)
        assert total.dtype == np.int64
        assert sum(abs(int(entry)) for entry in total) <= contribution.bound
        each = contribution.each(columns)
        assert np.abs(each).sum(axis=1).max() * ROWS <= contribution.bound


def test_the_bound_is_reached():
    """By a unit of as many rows as are declared, each of them heavy and clipped."""
    columns = {"x": np.full(3, 1e-9), "v": np.full(3, 90.0), "id": np.zeros(3, dtype=np.int64)}
    scores = scores_of(length=UNIT // 4)
    assert np.abs(scores.total(columns)).sum() > 0.999 * scores.bound
    assert scores.bound == ROWS * STEPS * (UNIT // 4 + 7)
    assert np.abs(tables_of().total(columns)).sum() == tables_of().bound == ROWS * STEPS * 3


@pytest.mark.parametrize("make", [scores_of, tables_of])
def test_neighbours_differ_by_the_rows_of_the_unit(make):
    """Bit for bit, wherever its rows stand and however the rest is chunked."""
    contribution, generator = make(), np.random.default_rng(3)
    count = 5000
    columns = {
        "x": np.where(generator.random(count) < 0.1, np.nan, generator.beta(0.5, 3, count)),
        "v": generator.choice([0.0, 0.3, 5.0, 20.0, 60.0], count),
        "id": np.arange(count) // ROWS,
    }
    own = {
        "x": np.array([0.0, np.nan, 1.0]),
        "v": np.array([90.0, 4.0, 60.0]),
        "id": np.full(3, -1),
    }
    before, added = contribution.total(columns), contribution.total(own)
    np.testing.assert_array_equal(contribution.each(columns).sum(axis=0), before)
    for cut in (count, 2047, 3000):
        part = {name: values[:cut] for name, values in columns.items()}
        with_unit = {name: np.concatenate([own[name], part[name]]) for name in part}
        order = generator.permutation(cut + 3)
        shuffled = {name: values[order] for name, values in with_unit.items()}
        difference = contribution.total(shuffled) - contribution.total(part)
        np.testing.assert_array_equal(difference, added)
    assert np.abs(added).sum() <= contribution.bound


def test_a_unit_with_more_rows_than_declared_adds_nothing():
    rows = {"x": np.full(4, 0.2), "v": np.full(4, 5.0), "id": np.zeros(4, dtype=np.int64)}
    for contribution in (scores_of(), tables_of()):
        assert not contribution.total(rows).any()


def test_rows_count_in_proportion_to_their_weights_up_to_the_cap():
    shares = Shares.declared(schema_of(unit=False))
    counted = shares.of({"v": np.array([0.0, 5.0, 25.0, 50.0, 90.0, np.nan])})
    np.testing.assert_array_equal(counted, [0, shares.average, STEPS // 2, STEPS, STEPS, 0])
    assert shares.average == round(STEPS / 10)
    assert shares.most == pytest.approx(10, rel=0.01)


def test_without_units_and_weights_nothing_changes():
    shares = Shares.declared(schema_of(unit=False, weight=False))
    assert (shares.record, shares.average, shares.most) == (1, 1, 1.0)
    assert shares.no_intervals is None
    assert shares.capped is None


def test_intervals_are_refused_with_the_reason():
    assert "'id'" in Shares.declared(schema_of(weight=False)).no_intervals
    assert "'v'" in Shares.declared(schema_of()).no_intervals
    assert "beyond 50 " in Shares.declared(schema_of()).capped


def test_a_row_of_average_weight_makes_one():
    """So that simulated rows, which have it, are compared with sums of rows as they are."""
    alone = MODEL.schema.standing_alone({"x": np.array([0.3, 0.7])})
    plain = rows_of(us.beta(schema_of(unit=False, weight=False)))
    for own, bare in ((scores_of(), scores_of(plain)), (tables_of(), tables_of(plain))):
        expected = bare.each({"x": alone["x"]}) / bare.units
        np.testing.assert_allclose(own.each(alone) / own.units, expected, rtol=1e-12)


def test_public_columns_take_no_part():
    model = rows_of(us.formula("x ~ g", family="beta", schema=schema_of(g=PUBLIC)))
    columns = {
        "x": np.array([0.0, 1.0]), "g": np.array([0, 1]), "v": np.array([90.0, 2.0]),
        "id": np.array([0, 0]),
    }  # fmt: skip
    scores = scores_of(model)
    assert np.abs(scores.total(columns)).sum() <= scores.bound


@pytest.mark.parametrize(("weight", "fewest"), [(False, 10**10), (True, 10**8)])
def test_sums_of_as_many_rows_as_are_taken_fit_into_64_bits(weight, fewest):
    shares = Shares.declared(schema_of(unit=False, weight=weight))
    longest = round(max(_LENGTHS) * UNIT) * shares.whole
    assert fewest <= shares.most_summed < 2**63 // longest + 1
