"""Columns as codes: what is written is read back, and every value within a code is as likely."""

import numpy as np
import pytest

from table_models import AGE, CODES, GENDER, KINDS, PAY, WEEKS, domain_of, schema
from understudy.models.table.coding import FEW, INTERVALS, MANY, heaps, variable


def coded(declared):
    return variable(schema(x=declared).column("x"))


each_kind = pytest.mark.parametrize("declared", KINDS.values(), ids=KINDS)
WHOLE = {name: kind for name, kind in KINDS.items() if kind["type"] != "continuous"}
each_whole = pytest.mark.parametrize("declared", WHOLE.values(), ids=WHOLE)


def code_of(each, value, kind):
    """Return the code of one value, looked up as the documentation tells it."""
    column = each.column
    missing = kind >= 0
    if missing:
        return each.count - column.kinds + kind
    if column.levels is not None:
        return value
    if value in each.spikes:
        return each.inner + each.spikes.tolist().index(value)
    if each.edges is None:
        return int(value - column.lower)
    inside = [
        code for code in range(each.inner) if each.edges[code] <= value < each.edges[code + 1]
    ]
    return inside[0] if inside else each.inner - 1


@each_kind
def test_what_is_written_is_read_back_and_lies_in_the_domain(declared):
    each = coded(declared)
    codes = np.repeat(np.arange(each.count), 50)
    written = each.write(np.random.default_rng(0), codes)
    assert np.array_equal(each.read(written), codes)
    values = written["x"]
    assert set(written) == {"x", each.column.beside} - {None}
    if each.column.numeric:
        there = values[~np.isnan(values)]
        assert np.isnan(values).sum() == 50 * each.kinds
        assert there.min() >= each.column.lower
        assert there.max() <= each.column.upper
        assert not each.column.whole or np.array_equal(there, np.rint(there))
    else:
        assert values.min() == -each.kinds
        assert values.max() == len(each.column.levels) - 1


@each_kind
@pytest.mark.parametrize("place", [1e-9, 0.5, 1 - 1e-9])
def test_either_end_of_a_code_is_read_back(declared, place):
    each = coded(declared)
    codes = np.arange(each.count)
    assert np.array_equal(each.read(each.values(codes, np.full(each.count, place))), codes)


@each_whole
def test_every_value_has_one_code_and_all_values_of_a_code_are_as_likely(declared):
    each = coded(declared)
    every = domain_of(each)
    codes = each.read(every)
    held = np.bincount(codes, minlength=each.count)
    assert np.allclose(held * np.exp(each.unit), 1)
    values, kinds = every["x"], np.full(len(codes), -1)
    if each.kinds:
        absent = np.isnan(values) if each.column.numeric else values < 0
        told = every.get("x (why missing)", np.where(absent, 0, -1))
        kinds = told if each.column.numeric else np.where(absent, -1 - values, -1)
    looked_up = [code_of(each, *pair) for pair in zip(values, kinds, strict=True)]
    assert np.array_equal(codes, looked_up)


@each_whole
def test_all_values_of_a_code_are_written_as_often(declared):
    each = coded(declared)
    codes = each.read(domain_of(each))
    widest = np.argmax(np.bincount(codes))
    count = np.sum(codes == widest)
    places = (np.arange(40 * count) + 0.5) / (40 * count)
    written = each.values(np.full(40 * count, widest), places)["x"]
    times = np.unique(written, return_counts=True)[1]
    assert np.array_equal(times, np.full(count, 40))


@pytest.mark.parametrize("name", ["numbers", "numbers with spikes", "numbers on a grid"])
def test_numbers_are_even_within_intervals_that_cover_the_domain(name):
    each = coded(KINDS[name])
    column = each.column
    assert each.inner == INTERVALS
    assert each.edges[[0, -1]].tolist() == [column.lower, column.upper]
    shares = np.diff(each.edges) / column.width
    assert np.allclose(shares * np.exp(each.unit[:INTERVALS]), 1)
    assert (each.unit[INTERVALS:] == 0).all()


@each_kind
def test_an_even_share_is_that_of_the_base_measure(declared):
    """Codes of a number without heaps are even on its scale; a missing value has a tenth."""
    each = coded(declared)
    assert np.isfinite(each.base).all()
    assert len(each.directions) == len(each.features) == len(each.unit) == each.count
    if each.kinds and not len(each.spikes):
        shares = np.exp(each.base)
        assert shares[-each.kinds :].sum() == pytest.approx(0.1)
        assert shares[: each.inner].sum() == pytest.approx(1)


@each_kind
def test_directions_tell_codes_apart(declared):
    """With what may stand out, any two codes can differ in probability."""
    each = coded(declared)
    rows = np.column_stack([each.directions, np.eye(each.count)[:, each.free]])
    assert len(np.unique(np.round(rows, 9), axis=0)) == each.count
    assert all(len(widths) <= each.directions.shape[1] for widths in each.widths)


@pytest.mark.parametrize("declared", [GENDER, AGE, WEEKS, PAY], ids=["levels", "few", "many", ""])
def test_a_missing_value_has_a_code_of_its_own(declared):
    plain, each, several = coded(declared), coded(declared | {"missing": "model"}), None
    assert each.count == plain.count + 1
    assert np.allclose(each.directions[-1], np.eye(each.directions.shape[1])[0])
    assert (each.directions[:-1, 0] == 0).all()
    several = coded(declared | CODES)
    assert several.count == plain.count + 2
    assert np.allclose(several.directions[-2:, :2], np.eye(2))
    assert np.array_equal(several.directions[:-2, 2:], plain.directions)


def test_without_a_companion_a_missing_number_is_of_the_first_kind():
    each = coded(PAY | CODES)
    assert each.read({"x": np.array([np.nan])}).tolist() == [each.count - 2]
    written = each.values(np.array([0, each.count - 2, each.count - 1]), np.full(3, 0.5))
    assert written["x (why missing)"].tolist() == [-1, 0, 1]
    assert np.isnan(written["x"]).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("values", "by_steps", "apart"),
    [(FEW, True, True), (FEW + 1, False, True), (MANY, False, True), (MANY + 1, False, False)],
)
def test_whole_numbers_are_told_apart_up_to_a_few_hundred(values, by_steps, apart):
    each = coded(WEEKS | {"bounds": [3, 2 + values]})
    assert (each.edges is None) is by_steps
    assert (each.count == values) is apart
    assert np.array_equal(each.free, np.arange(values if apart else 0))


def test_levels_in_an_order_are_like_few_whole_numbers():
    ordered, steps = coded(KINDS["levels in an order"]), coded(AGE)
    assert np.array_equal(ordered.directions, steps.directions)
    assert np.array_equal(ordered.free, np.arange(4))
    assert not len(coded(GENDER).free)


def test_intervals_of_dates_are_even():
    days = np.diff(coded(KINDS["many days"]).edges)
    assert len(days) == INTERVALS
    assert np.ptp(days) <= 1


def test_amounts_near_a_bound_are_told_apart_more_finely_than_in_between():
    widths = np.diff(coded(PAY).edges)
    assert widths[0] < widths[-1] * 1.001
    assert widths[INTERVALS // 2] > 20 * widths[0]


class TestHeaps:
    def test_they_are_the_spikes_and_the_multiples_of_the_grid_in_order(self):
        column = schema(x=WEEKS | {"bounds": [-7, 400], "grid": 100, "spikes": [-1, 200]})
        assert heaps(column.column("x")).tolist() == [-1, 0, 100, 200, 300, 400]
        assert not len(heaps(schema(x=PAY).column("x")))

    @pytest.mark.parametrize("grid", [0.1, 0.05, 0.25, 1.1, 3.0, 1e-3, 1e3])
    def test_multiples_are_the_numbers_that_a_table_writes(self, grid):
        column = schema(x=PAY | {"bounds": [0, 1900.5 * grid], "grid": grid}).column("x")
        written = [float(f"{k * grid:.3f}") for k in range(1901)]
        assert heaps(column).tolist() == written

    def test_whole_numbers_that_are_told_apart_have_them_already(self):
        plain, each = coded(WEEKS), coded(WEEKS | {"spikes": [0, 52], "grid": 13})
        assert each.count == plain.count
        assert not len(each.spikes)

    def test_an_interval_of_nothing_but_spikes_is_next_to_impossible(self):
        """Where each value is a multiple, no record can be in an interval, and none is drawn."""
        each = coded(WEEKS | {"bounds": [0, 980], "grid": 1})
        assert each.inner + 981 == each.count
        assert np.exp(each.base[: each.inner]).sum() < 1e-20
        values = each.values(np.arange(each.inner), np.full(each.inner, 0.7))["x"]
        assert np.isin(values, each.spikes).all()

    def test_multiples_are_as_likely_as_their_neighbours_and_spikes_by_themselves(self):
        each = coded(PAY | {"grid": 5, "spikes": [12.5]})
        shares = np.exp(each.base)
        assert shares[: each.inner].sum() == pytest.approx(1)
        place = each.inner + each.spikes.tolist().index(12.5)
        assert shares[place] == pytest.approx(0.02)
        others = np.delete(np.arange(each.inner, each.count), place - each.inner)
        assert np.array_equal(each.free, others)
        there = np.searchsorted(each.edges[1:-1], each.spikes, side="right")
        smooth = each.directions[others][:, 2:]
        assert np.array_equal(smooth, each.directions[np.delete(there, place - each.inner)][:, 2:])
        assert (each.directions[others, 0] == 1).all()
