"""Cells cover the domain once, and follow from the declaration alone."""

import numpy as np
import pytest

from understudy.domain.column import Column, Role, Type
from understudy.inference.cells import Cells, Pair, coarse


def column(type_, **declared):
    return Column("x", role=Role.CONFIDENTIAL, type=type_, **declared)


def codes(cells, values):
    return cells.codes({"x": values})


@pytest.mark.parametrize("information", [1.0, 60.0, 200.0, 1e6])
def test_intervals_of_a_number_are_told_apart_by_its_edges(information):
    cells = coarse(column(Type.CONTINUOUS, bounds=(-3.0, 5.0)), information)
    edges = np.asarray(cells.edges)
    assert (np.diff(edges) > 0).all()
    assert edges[0] > -3
    assert edges[-1] < 5
    values = np.concatenate([[-3.0, 5.0], edges, np.random.default_rng(0).uniform(-3, 5, 500)])
    expected = [sum(value >= edge for edge in edges) for value in values]
    np.testing.assert_array_equal(codes(cells, values), expected)
    assert codes(cells, values).max() == cells.count - 1


def test_less_noise_allows_more_intervals_which_reach_closer_to_the_lower_bound():
    few, many = (coarse(column(Type.CONTINUOUS, bounds=(0.0, 1.0)), i) for i in (10.0, 1e5))
    assert (few.count, many.count) == (12, 24)
    assert few.edges[0] > 1e-3
    assert many.edges[0] < 2e-6


def test_whole_numbers_with_few_values_have_a_cell_each():
    cells = coarse(column(Type.INTEGER, bounds=(25, 34)), 1e5)
    np.testing.assert_array_equal(codes(cells, np.arange(25.0, 35.0)), np.arange(10))
    assert cells.count == 10


def test_edges_of_whole_numbers_are_at_halves():
    cells = coarse(column(Type.COUNT, bounds=(0, 10_000)), 1e5)
    assert (np.asarray(cells.edges) % 1 == 0.5).all()


def test_levels_are_cells_and_a_missing_value_has_the_last_one():
    levels = Cells(column(Type.CATEGORICAL, levels=("p", "q", "r"), missing="model"))
    np.testing.assert_array_equal(codes(levels, np.array([0, 2, -1, 1])), [0, 2, 3, 1])
    number = coarse(column(Type.CONTINUOUS, bounds=(0.0, 1.0), missing="model"), 1e5)
    assert codes(number, np.array([np.nan]))[0] == number.count - 1
    assert codes(number, np.array([1.0]))[0] == number.count - 2


def test_a_spike_has_a_cell_whichever_interval_it_is_in():
    number = column(Type.CONTINUOUS, bounds=(0.0, 10.0), missing="model")
    cells = Cells(number, (2.0, 5.0), (0.0, 5.0, 7.5))
    assert (cells.inner, cells.count) == (3, 7)
    values = np.array([0.0, 1.0, 2.0, 5.0, 5.5, 7.5, 10.0, np.nan])
    np.testing.assert_array_equal(codes(cells, values), [3, 0, 1, 4, 2, 5, 2, 6])
    assert cells.to_dict()["spikes"] == [0.0, 5.0, 7.5]
    assert "spikes" not in Cells(number, (2.0,)).to_dict()


def test_each_kind_of_missing_values_has_a_cell():
    kinds = (("N", "does not apply"), ("B", "refused"))
    levels = Cells(column(Type.CATEGORICAL, levels=("p", "q"), missing="model", codes=kinds))
    np.testing.assert_array_equal(codes(levels, np.array([0, -1, 1, -2])), [0, 2, 1, 3])
    declared = column(Type.CONTINUOUS, bounds=(0.0, 1.0), missing="model", codes=kinds)
    number = Cells(declared, (0.5,), (0.0,))
    values = {"x": np.array([0.0, np.nan, 0.7, np.nan]), declared.beside: np.array([-1, 1, -1, 0])}
    np.testing.assert_array_equal(number.codes(values), [2, 4, 1, 3])


def test_a_pair_has_a_cell_for_each_two_of_its_columns():
    one, other = (
        Cells(column(Type.CONTINUOUS, bounds=(0.0, 1.0)), (0.3, 0.6)),
        Cells(Column("y", role=Role.CONFIDENTIAL, type=Type.BINARY, levels=("no", "yes"))),
    )
    pair = Pair(one, other)
    assert pair.count == 6
    columns = {"x": np.array([0.1, 0.4, 0.9]), "y": np.array([1, 0, 1])}
    np.testing.assert_array_equal(pair.codes(columns), [1, 2, 5])
    assert [part["column"] for part in pair.to_dict()["pair"]] == ["x", "y"]
