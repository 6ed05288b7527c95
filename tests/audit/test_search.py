"""The grid on which neighbours are compared."""

import math

import numpy as np
import pytest

from understudy.audit.run import _model
from understudy.audit.search import (
    Base,
    Grid,
    bases,
    bulk,
    largest_gap,
    trapezoid,
)
from understudy.mechanisms import (
    CensorUw,
    Unweighted,
)
from understudy.mechanisms.fitting import first_row
from understudy.samplers.quadrature import quadrature

MODEL = _model()


def present(table, mechanism):
    """What a mechanism learns from the records that are there."""
    row = first_row(MODEL, table.data, mechanism)
    return table.weighted(row, row.alpha[: table.count])


def test_the_grid_integrates_as_a_fine_one_does():
    """Even where the posterior is far sharper than the coarse part of the grid."""
    base = bases(2000, seed=0)[0]
    table = base.table(MODEL, None)
    row = present(table, Unweighted())
    truth = quadrature(MODEL, table.data, row, points=257)
    grid = Grid.around([bulk(MODEL, table, row)])
    mass = np.exp(grid.log_density(MODEL, table.data, row) + grid.log_volume)
    nodes = np.asarray(grid.nodes)
    assert mass.sum() == pytest.approx(1)
    assert mass @ nodes == pytest.approx(truth.mean(truth.nodes), abs=1e-6)
    spread = np.sqrt(mass @ nodes**2 - (mass @ nodes) ** 2)
    assert spread == pytest.approx(truth.sd(truth.nodes), rel=1e-3)


def test_shares_of_an_axis_add_up_to_its_length():
    axis = np.array([0.0, 0.5, 0.5, 2.0])
    assert trapezoid(axis).tolist() == [0.25, 0.25, 0.75, 0.75]


def test_an_empty_slot_counts_for_nothing():
    """A padded table has the posterior of the same table without padding."""
    values = np.random.default_rng(0).beta(0.5, 3, 60)
    padded = Base("", values).table(MODEL, None)
    full = Base("", values[:-1]).table(MODEL, values[-1])
    grid = Grid.around([np.array([[-3.0, 0.0], [0.0, 3.0]])])
    for mechanism in (CensorUw(epsilon=1.0), Unweighted()):
        one, other = (
            grid.log_density(MODEL, table.data, present(table, mechanism))
            for table in (padded, full)
        )
        assert one == pytest.approx(other, rel=1e-12, abs=1e-8)


def test_nodes_that_neither_table_allows_are_not_compared():
    never = -math.inf
    assert largest_gap(np.array([never, 0.0]), np.array([never, 0.5])) == 0.5
    assert largest_gap(np.array([never, 0.0]), np.array([-2.0, 0.0])) == math.inf
