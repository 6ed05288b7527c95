"""Counts of all records against the measures of tables that are held."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.domain.records import Held, Records
from understudy.domain.tables import encode
from understudy.utility import counting, measure_table
from understudy.utility.counting import Counting
from understudy.utility.table import BothTables, as_declared

SCHEMA = us.Schema.from_dict(
    {
        "columns": {
            "pay": {
                "role": "confidential", "type": "continuous", "bounds": [0, 1000],
                "missing": "model", "codes": {"N": "none", "B": "refused"},
            },
            "age": {"role": "public", "type": "integer", "bounds": [16, 90]},
            "job": {
                "role": "confidential", "type": "categorical", "levels": ["x", "y", "z"],
                "missing": "model",
            },
            "born": {
                "role": "confidential", "type": "date", "bounds": ["1930-01-01", "2010-12-31"],
            },
        }
    }
)  # fmt: skip


def table(rows, seed, *, atoms=0.3):
    """Return a table with a spike, two kinds of missing numbers, missing levels and dates."""
    generator = np.random.default_rng(seed)
    age = generator.integers(16, 91, rows)
    pay = np.round(generator.gamma(2, 60, rows).clip(0, 1000) + age / 10, 2).clip(0, 1000)
    pay = np.where(generator.random(rows) < atoms, 120.0, pay).astype(str).astype(object)
    pay[generator.random(rows) < 0.05] = "N"
    pay[generator.random(rows) < 0.05] = "B"
    job = generator.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1]).astype(object)
    job[generator.random(rows) < 0.1] = ""
    born = pd.Timestamp("2010-01-01") - pd.to_timedelta(365 * (age - 10), unit="D")
    return pd.DataFrame({"pay": pay, "age": age, "job": job, "born": born.strftime("%Y-%m-%d")})


class InPieces(Records):
    """A table that is summed in pieces, and of which only the first records are shown."""

    def __init__(self, columns, pieces, shown=500):
        self.columns, self.pieces, self.first = columns, pieces, shown

    @property
    def count(self):
        return Held(self.columns).count

    @property
    def shown(self):
        return {name: values[: self.first] for name, values in self.columns.items()}

    def total(self, vector):
        cuts = np.array_split(np.arange(self.count), self.pieces)
        return sum(vector({k: v[some] for k, v in self.columns.items()}) for some in cuts)

    def only(self, names):
        return {name: self.columns[name] for name in names}


def counted(frames, pieces=(1, 1)):
    records = [InPieces(encode(each, SCHEMA), n) for each, n in zip(frames, pieces, strict=True)]
    how = Counting.like(records[0].shown, SCHEMA)
    return [how.of(each) for each in records]


@pytest.fixture(scope="module")
def tables():
    return table(4000, 1), table(3000, 2, atoms=0.2)


def test_columns_are_measured_as_those_of_a_table_that_is_held(tables):
    real, made = counted(tables)
    held = measure_table(*tables, SCHEMA).columns
    found = real.utility(made)
    assert list(found) == list(held)
    assert found["job"] == held["job"]
    for name in ("pay", "born"):
        assert found[name].missing == held[name].missing
        assert found[name].max_ecdf == pytest.approx(held[name].max_ecdf, abs=2e-3)
        assert found[name].avg_ecdf == pytest.approx(held[name].avg_ecdf, rel=0.02)
        for which in ("confidential", "synthetic"):
            numbers, expected = getattr(found[name], which), getattr(held[name], which)
            assert numbers.mean == pytest.approx(expected.mean, rel=1e-12)
            for key in ("median", "q15", "q90"):
                # 500 of 4000 records are shown, so cuts lie up to a percent of the mass apart.
                assert getattr(numbers, key) == pytest.approx(getattr(expected, key), rel=0.03)


def test_a_spike_in_one_table_and_not_in_the_other_is_seen_from_both_sides():
    """The cut below a number that many share keeps what lies below it apart from the spike."""
    spike = pd.DataFrame({"pay": [50.0] * 600 + [90.0] * 400})
    below = pd.DataFrame({"pay": np.append(np.linspace(40, 49.99, 600), [90.0] * 400)})
    schema = us.Schema.from_dict(
        {"columns": {"pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]}}}
    )
    records = [Held(encode(each, schema)) for each in (spike, below)]
    how = Counting.like(records[0].shown, schema)
    first, second = (how.of(each) for each in records)
    assert first.utility(second)["pay"].max_ecdf == 0.6


def test_pairs_are_those_of_a_table_that_is_held(tables):
    real, made = counted(tables)
    held = measure_table(*tables, SCHEMA).pairs
    for pair, expected in zip(real.pair_utility(made), held, strict=True):
        assert pair.columns == expected.columns
        assert pair.total_variation == expected.total_variation
        assert pair.expected == expected.expected
        assert pair.cramers_v == expected.cramers_v
        if expected.correlation is None:
            assert pair.correlation is None
        else:
            for which in ("confidential", "synthetic"):
                number = getattr(expected.correlation, which)
                assert getattr(pair.correlation, which) == pytest.approx(number, abs=1e-9)


def test_counts_do_not_depend_on_how_a_table_is_split(tables):
    for first, again in zip(counted(tables), counted(tables, pieces=(7, 300)), strict=True):
        assert first.means == again.means
        assert first.correlations == again.correlations
        assert all(np.array_equal(first.columns[k], again.columns[k]) for k in first.columns)
        assert all(np.array_equal(first.pairs[k], again.pairs[k]) for k in first.pairs)


def test_pairs_of_too_many_cells_are_left_to_the_records_that_are_shown(tables, monkeypatch):
    """Columns of thousands of levels would take gigabytes for each part that is read."""
    monkeypatch.setattr(counting, "_LARGEST", 800)
    counts = counted(tables)
    assert not counts[0].counting.pairs
    assert all(len(cuts) <= 500 for cuts in counts[0].counting.cuts.values())
    both = BothTables(SCHEMA, *(as_declared(encode(t, SCHEMA), SCHEMA) for t in tables), counts)
    assert both.pairs() == measure_table(*tables, SCHEMA).pairs
    assert both.columns()["job"] == measure_table(*tables, SCHEMA).columns["job"]


def test_a_column_without_any_value_is_at_no_distance_or_at_the_largest(tables):
    nothing = tables[0].assign(pay="N", job="")
    real, made = counted((tables[0], nothing))
    assert real.utility(made)["pay"].max_ecdf == 1.0
    assert real.utility(made)["job"].total_variation == 1.0
    real, made = counted((nothing, nothing))
    assert real.utility(made)["pay"].max_ecdf == 0.0
    assert real.pair_utility(made)[0].total_variation is None


def test_what_is_counted_has_no_number_in_its_repr(tables):
    real, _ = counted(tables)
    assert not any(character.isdigit() for character in repr(real) + repr(real.counting))
