"""The spread of answers is that of the draws, and not that of the tables they are asked of."""

from dataclasses import dataclass, field

import numpy as np
import pytest

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
    # A table of 256 rows would have had ten times the variance.
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
