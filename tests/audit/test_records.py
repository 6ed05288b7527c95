"""The domain of a record, and the search in it."""

import math

import numpy as np
import pytest

from summaries import CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.audit.records import (
    BATCH,
    Domain,
    chosen,
    edges,
    in_words,
    joined,
    most_counted,
)
from understudy.domain.tables import count_records

COUNT = CONFIDENTIAL | {"type": "count", "bounds": [2, 60]}
WIDE = CONFIDENTIAL | {"type": "continuous", "bounds": [-5, 1e9]}
WEIGHT = {"role": "survey-weight", "type": "continuous", "bounds": [0, 9], "average": 3}
KIND = CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"], "missing": "model"}
SCHEMA = schema_of(x=SHARE | {"missing": "model"}, y=WIDE, c=COUNT, k=KIND, g=PUBLIC, w=WEIGHT)
DOMAIN = Domain(SCHEMA)


def generator():
    return np.random.default_rng(1)


def test_edges_are_bounds_their_neighbours_levels_and_missing_values():
    share = edges(SCHEMA.column("x"))
    assert {0.0, 5e-324, math.nextafter(1, 0), 1.0, 0.5} <= set(share)
    assert np.isnan(share).sum() == 1
    assert {-5.0, math.nextafter(-5, 0), 0.0, math.nextafter(1e9, 0), 1e9} <= set(
        edges(SCHEMA.column("y"))
    )
    assert set(edges(SCHEMA.column("c"))) == {2, 3, 31, 59, 60}
    assert set(edges(SCHEMA.column("k"))) == {-1, 0, 1, 2}
    assert set(edges(SCHEMA.column("g"))) == {0, 1}


def allowed(records):
    """Whether all values are ones that the schema allows."""
    for column in DOMAIN.columns:
        values = records[column.name]
        if column.levels is not None:
            least = -1 if column.missing == "model" else 0
            assert np.isin(values, np.arange(least, len(column.levels))).all()
            continue
        there = values[~np.isnan(values)] if column.missing == "model" else values
        assert (there >= column.lower).all()
        assert (there <= column.upper).all()
        assert not column.whole or (there == np.rint(there)).all()


def test_no_record_lies_outside_the_domain_and_every_edge_is_tried():
    start = DOMAIN.start(generator())
    for records in (start, DOMAIN.around(start, generator())):
        assert set(records) == {"x", "y", "c", "k", "g", "w"}
        assert count_records(records) >= BATCH
        allowed(records)
    for column in DOMAIN.columns:
        tried, wanted = start[column.name], edges(column)
        assert all(np.isin(value, tried) or np.isnan(tried).any() for value in wanted)


def test_steps_are_of_all_sizes():
    one = {name: values[:1] for name, values in DOMAIN.start(generator()).items()} | {
        "y": np.array([5e8])
    }
    moved = np.abs(DOMAIN.around(one, generator())["y"] - 5e8)
    assert (moved == 0).any()
    assert ((moved > 0) & (moved < 1e-3)).any()
    assert (moved > 1e8).any()


def test_public_values_stay_where_they_are_copied():
    beside = DOMAIN.beside(chosen(DOMAIN.start(generator()), [0]) | {"g": np.array([1])})
    start = beside.start(generator())
    assert (start["g"] == 1).all()
    assert (beside.around(start, generator())["g"] == 1).all()
    assert len(np.unique(start["k"])) == 4


@pytest.mark.parametrize("place", [0.123456789, 3e-9, 1 - 1e-7])
def test_a_narrow_peak_is_found(place):
    """Of all the records of [0, 1], only those close to a place count; by two measures at once."""

    def counted(records):
        distance = np.abs(records["x"] - place)
        near = -np.log(distance + 1e-14) - (records["g"] == 0)
        return np.array([near, records["x"]])

    peak, highest = most_counted(Domain(schema_of(x=SHARE, g=PUBLIC)), counted, generator())["x"]
    assert abs(peak - place) < 1e-6 * max(min(place, 1 - place), 1e-3)
    assert highest == 1.0


def test_what_cannot_be_measured_comes_first():
    def counted(records):
        return np.where(np.isnan(records["x"]), np.inf, 0.0)[None]

    found = most_counted(Domain(schema_of(x=SHARE | {"missing": "model"})), counted, generator())
    assert np.isnan(found["x"]).all()


def test_a_record_in_words():
    record = {
        "x": np.array([np.nan]), "y": np.array([1e9 - 0.5]), "c": np.array([7.0]),
        "k": np.array([2]), "g": np.array([0]), "w": np.array([1e-12]),
    }  # fmt: skip
    assert in_words(record, SCHEMA.columns) == (
        "x = missing, y = 1e+09 − 0.5, c = 7, k = 'r', g = 'a', w = 1e-12"
    )
    assert count_records(joined(record, record)) == 2


def test_every_kind_of_missing_value_is_tried():
    codes = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
    schema = schema_of(c=COUNT | codes, k=KIND | codes)
    domain = Domain(schema)
    start = domain.start(generator())
    for records in (start, domain.around(start, generator())):
        missing = np.isnan(records["c"])
        assert set(records["c (why missing)"][missing]) == {0, 1}
        assert (records["c (why missing)"][~missing] == -1).all()
        assert set(records["k"]) == {-2, -1, 0, 1, 2}


def test_a_date_is_told_as_one():
    born = CONFIDENTIAL | {"type": "date", "bounds": ["1970-01-01", "1979-12-31"]}
    schema = schema_of(born=born)
    assert in_words({"born": np.array([1.0])}, schema.columns) == "born = 1970-01-02"
