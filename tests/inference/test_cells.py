"""Cells cover the domain once, and follow from the declaration alone."""

import numpy as np
import pytest

from understudy.domain.column import Column, Role, Type
from understudy.inference.cells import Cells, coarse


def column(type_, **declared):
    return Column("x", role=Role.CONFIDENTIAL, type=type_, **declared)


@pytest.mark.parametrize("information", [1.0, 60.0, 200.0, 1e6])
def test_intervals_of_a_number_are_told_apart_by_its_edges(information):
    cells = coarse(column(Type.CONTINUOUS, bounds=(-3.0, 5.0)), information)
    edges = np.asarray(cells.edges)
    assert (np.diff(edges) > 0).all()
    assert edges[0] > -3
    assert edges[-1] < 5
    values = np.concatenate([[-3.0, 5.0], edges, np.random.default_rng(0).uniform(-3, 5, 500)])
    expected = [sum(value >= edge for edge in edges) for value in values]
    np.testing.assert_array_equal(cells.read(values), expected)
    assert cells.read(values).max() == cells.count - 1


def test_less_noise_allows_more_intervals_which_reach_closer_to_the_lower_bound():
    few, many = (coarse(column(Type.CONTINUOUS, bounds=(0.0, 1.0)), i) for i in (10.0, 1e5))
    assert (few.count, many.count) == (12, 24)
    assert few.edges[0] > 1e-3
    assert many.edges[0] < 2e-6


def test_whole_numbers_with_few_values_have_a_cell_each():
    cells = coarse(column(Type.INTEGER, bounds=(25, 34)), 1e5)
    np.testing.assert_array_equal(cells.read(np.arange(25.0, 35.0)), np.arange(10))
    assert cells.count == 10


def test_edges_of_whole_numbers_are_at_halves():
    cells = coarse(column(Type.COUNT, bounds=(0, 10_000)), 1e5)
    assert (np.asarray(cells.edges) % 1 == 0.5).all()


def test_levels_are_cells_and_a_missing_value_has_the_last_one():
    levels = Cells(column(Type.CATEGORICAL, levels=("p", "q", "r"), missing="model"))
    np.testing.assert_array_equal(levels.read(np.array([0, 2, -1, 1])), [0, 2, 3, 1])
    number = coarse(column(Type.CONTINUOUS, bounds=(0.0, 1.0), missing="model"), 1e5)
    assert number.read(np.array([np.nan]))[0] == number.count - 1
    assert number.read(np.array([1.0]))[0] == number.count - 2
