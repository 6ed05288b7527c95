"""The spread of answers is that of the draws, and not that of the tables they are asked of."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import understudy as us
from summaries import SHARE, schema_of
from understudy.inference.answers import ask
from understudy.questions import asked

SCHEMA = schema_of(x=SHARE)
MEAN = asked("mean(x)", SCHEMA)
DRAWS = 400


@dataclass
class Simulator:
    """Tables around a number that differs from draw to draw."""

    places: np.ndarray
    spread: float = 1.0
    sizes: list = field(default_factory=list)
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def __call__(self, number, rows):
        self.sizes.append(rows)
        return {"x": self.generator.normal(self.places[number], self.spread, rows)}


def test_what_simulation_adds_is_small_and_taken_out():
    places = np.random.default_rng(1).normal(0.3, 0.02, DRAWS)
    simulator = Simulator(places)
    found = ask(MEAN, simulator, draws=DRAWS)
    assert found.names == ("mean(x)",)
    chosen = places[found.chosen]
    assert 0.02 < found.simulation[0] < 0.5
    assert found.values.std() == pytest.approx(chosen.std(), rel=0.06)
    # What each draw's own answer is stays as it was, but for the noise.
    assert np.corrcoef(found.values[:, 0], chosen)[0, 1] > 0.85
    assert found.values.mean() == pytest.approx(0.3, abs=0.005)
    # A table of 256 or 1024 rows would have had more variance than the draws have.
    assert max(simulator.sizes) >= 4096


def test_where_simulation_hardly_counts_tables_stay_small():
    simulator = Simulator(np.linspace(0, 1, 50), spread=0.1)
    found = ask(MEAN, simulator, draws=50)
    assert set(simulator.sizes) == {256}
    assert found.values[:, 0] == pytest.approx(np.linspace(0, 1, 50), abs=0.03)


def test_an_answer_that_is_the_same_in_every_table_has_no_spread():
    found = ask(MEAN, Simulator(np.full(30, 0.5), spread=0.0), draws=30)
    assert found.values.std() == 0
    assert found.simulation.tolist() == [0]


def test_a_table_that_cannot_tell_is_counted_and_not_averaged():
    simulator = Simulator(np.where(np.arange(40) == 7, np.nan, 0.5), spread=0.1)
    found = ask(MEAN, simulator, draws=40)
    assert np.isnan(found.values[:, 0]).sum() == 1
    assert np.nanmean(found.values) == pytest.approx(0.5, abs=0.02)


def test_what_simulation_has_most_of_is_left_as_it_is(monkeypatch):
    """Too wide, and never a point."""
    monkeypatch.setattr("understudy.inference.answers._MOST_ROWS", 1024)
    found = ask(MEAN, Simulator(np.full(100, 0.5)), draws=100)
    assert found.simulation[0] > 0.5
    assert found.values.std() == pytest.approx(1 / np.sqrt(2 * 1024), rel=0.25)


def test_steps_are_not_moved_to_where_no_answer_lies():
    def simulate(number, rows):
        return {"x": generator.poisson(4 + 0.2 * (number % 2), rows).astype(float)}

    generator = np.random.default_rng(7)
    found = ask(asked("quantile(x, 0.9)", SCHEMA), simulate, draws=60)
    assert set(np.unique(found.values)) <= {6.0, 6.5, 7.0, 7.5, 8.0}


def test_tables_grow_until_small_groups_are_in_them():
    sizes = []

    def simulate(number, rows):
        sizes.append(rows)
        return {"x": np.where(generator.random(rows) < 1e-3, 0.5, np.nan)}

    generator = np.random.default_rng(8)
    ask(MEAN, simulate, draws=30)
    assert max(sizes) >= 4096


def test_a_function_must_have_the_same_names_everywhere():
    changing = iter(range(10_000))
    question = asked(lambda frame: {str(next(changing)): 1.0}, SCHEMA)
    with pytest.raises(us.BadInput, match="the same names"):
        ask(question, Simulator(np.full(30, 0.5), spread=0.1), draws=30)
    with pytest.raises(us.BadInput, match="at least one"):
        ask(asked(lambda frame: {}, SCHEMA), Simulator(np.full(30, 0.5)), draws=30)


def test_quantiles_of_evenly_spread_values_are_those_of_the_distribution():
    """However few values there are: (k − ½)/n is where the k-th of them lies."""
    even = {"x": (np.arange(256) + 0.5) / 256}
    for p in (0.5, 0.9, 0.99):
        (found,) = asked(f"quantile(x, {p})", SCHEMA).answer(even).values()
        assert found == pytest.approx(p, abs=1e-12)
