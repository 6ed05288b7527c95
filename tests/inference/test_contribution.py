"""The theorem asks for one thing: no record's vector is longer than C, in whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import BETA, OUTCOMES
from understudy._jax import jnp
from understudy.inference.cells import coarse
from understudy.inference.contribution import (
    UNIT,
    ScoreContribution,
    TableContribution,
    _power,
    bound_of,
)
from understudy.inference.slopes import inside

numbers = st.floats(-1e6, 1e6, allow_nan=False)


def scores_of(model, seed=0, length=3 * UNIT, count=0, scale=1.0, norm=1):
    generator = np.random.default_rng(seed)
    width = min(model.dimension, 2)
    return ScoreContribution(
        model,
        z=scale * generator.normal(size=model.dimension),
        directions=generator.normal(size=(width, model.dimension)),
        centre=generator.normal(size=width),
        length=length,
        count=count,
        norm=norm,
    )


def longest(contribution, columns):
    """Return the longest vector to the power of the norm, in whole numbers without a limit."""
    vectors = contribution.each(columns).tolist()
    return max(sum(abs(entry) ** contribution.norm for entry in each) for each in vectors)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("name", OUTCOMES)
@pytest.mark.parametrize("scale", [0.3, 5.0, 40.0])
def test_no_record_is_longer_than_the_bound_at_the_edges_of_any_domain(name, scale, norm):
    model, columns = OUTCOMES[name]
    for seed in range(5):
        for length in (UNIT // 4, 3 * UNIT + 1):
            scores = scores_of(model, seed, length, count=7, scale=scale, norm=norm)
            each = scores.each(columns)
            assert each.dtype == np.int64
            assert longest(scores, columns) <= length**norm + 7**norm
            assert Fraction(scores.bound) ** norm >= length**norm + 7**norm
            assert (each[:, -1] == 7).all()


@given(
    z=st.lists(st.floats(-30, 30), min_size=2, max_size=2),
    directions=st.lists(numbers, min_size=4, max_size=4),
    centre=st.lists(numbers, min_size=2, max_size=2),
    values=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    length=st.integers(1, 64 * UNIT),
    norm=st.sampled_from([1, 2]),
)
def test_no_record_is_longer_than_the_bound_whatever_is_published(
    z, directions, centre, values, length, norm
):
    matrix = np.reshape(directions, (2, 2))
    scores = ScoreContribution(BETA, np.array(z), matrix, np.array(centre), length, norm=norm)
    assert longest(scores, {"x": np.array(values)}) <= length**norm


def test_lengths_whose_sums_would_not_be_exact_are_refused():
    scores_of(BETA, length=2**26, norm=2)
    for length, norm in ((2**26 + 1, 2), (2**52 + 1, 1), (-1, 1)):
        with pytest.raises(ValueError, match="not exact"):
            scores_of(BETA, length=length, norm=norm)


@given(st.lists(st.integers(-(2**31), 2**31), min_size=1, max_size=6))
def test_a_sum_of_squares_in_floating_point_never_passes_for_less_than_the_limit(entries):
    """Also where single squares or their sum are beyond what a float64 holds exactly."""
    exact = sum(entry**2 for entry in entries)
    column = jnp.asarray(entries, dtype=jnp.float64)[:, None]
    floating = float(_power(column, 2)[0, 0])
    assert (floating <= 2**52) == (exact <= 2**52)
    if exact <= 2**53:
        assert int(floating) == exact


@given(st.lists(st.integers(0, 2**26), min_size=1, max_size=30))
def test_a_bound_is_the_length_of_the_weights_and_roots_are_rounded_up(entries):
    assert bound_of(entries, 1) == sum(entries)
    square = sum(entry**2 for entry in entries)
    root = bound_of(entries, 2)
    assert Fraction(root) ** 2 >= square
    assert Fraction(root) ** 2 <= square * (1 + Fraction(1, 2**50))
    if len(entries) == 1:
        assert root == entries[0]


def test_tables_are_as_long_as_the_root_of_their_squares():
    model = BETA
    cells = coarse(model.schema.confidential[0], 1e5)
    tables = TableContribution(model, (cells,) * 3, (2, 3, 6), norm=2)
    assert tables.bound == 7
    values = {"x": np.array([0.0, 0.5, 1.0])}
    assert (np.sum(tables.each(values) ** 2, axis=1) == 49).all()
    assert TableContribution(model, (cells,) * 2, norm=2).bound == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_record_contributes_the_same_wherever_it_stands(name):
    """Bit for bit: in another place, in another table, in another chunk."""
    model, few = OUTCOMES[name]
    generator = np.random.default_rng(1)
    chosen = generator.integers(8, size=5000)
    columns = {key: values[chosen] for key, values in few.items()}
    if name in ("beta", "beta regression", "lognormal", "gaussian"):
        columns["x"] = generator.beta(0.6, 2, 5000)
    tables = tuple(coarse(c, 1e5) for c in model.schema.confidential)
    for contribution in (
        scores_of(model),
        scores_of(model, norm=2),
        TableContribution(model, tables),
    ):
        each = contribution.each(columns)
        order = generator.permutation(5000)
        shuffled = {key: values[order] for key, values in columns.items()}
        np.testing.assert_array_equal(contribution.each(shuffled), each[order])
        for part in (slice(0, 1), slice(2047, 2049), slice(4000, 5000)):
            alone = {key: values[part] for key, values in columns.items()}
            np.testing.assert_array_equal(contribution.each(alone), each[part])
        np.testing.assert_array_equal(contribution.total(columns), each.sum(axis=0))


@pytest.mark.parametrize("name", ["beta", "beta regression", "missing"])
def test_sums_of_pieces_of_any_size_are_those_of_the_whole(name):
    """Bit for bit, in more than one block, with records at the edges of the domain anywhere."""
    model, few = OUTCOMES[name]
    generator = np.random.default_rng(3)
    chosen = generator.integers(8, size=70_001)
    columns = {key: values[chosen] for key, values in few.items()}
    inner = generator.random(70_001) < 0.9999
    columns["x"] = np.where(inner, generator.beta(0.6, 2, 70_001), columns["x"])
    scores = scores_of(model, count=7)
    whole = scores.total(columns)
    assert whole[-1] == 7 * 70_001
    for ends in ([1], [4096, 4097, 65_536], [65_535, 65_537, 70_000]):
        starts, stops = [0, *ends], [*ends, 70_001]
        pieces = [
            scores.total({key: values[a:b] for key, values in columns.items()})
            for a, b in zip(starts, stops, strict=True)
        ]
        np.testing.assert_array_equal(sum(pieces), whole)


def test_scores_are_clipped_gradients_against_differences():
    """Within the clip, w is A∇f − a in units, truncated towards zero."""
    scores = scores_of(BETA, seed=3, length=1000 * UNIT, scale=0.5)
    values = np.random.default_rng(2).uniform(0.05, 0.95, 20)
    data = BETA.prepare({"x": values})

    def loglik(z):
        return np.asarray(BETA.record_loglik(BETA.constrain(z), data))

    step = 1e-5
    slopes = np.column_stack(
        [
            (loglik(scores.z + shift) - loglik(scores.z - shift)) / (2 * step)
            for shift in step * np.eye(2)
        ]
    )
    expected = slopes @ scores.directions.T - scores.centre
    np.testing.assert_allclose(scores.each({"x": values}) / UNIT, expected, atol=1e-5)


@pytest.mark.parametrize("norm", [1, 2])
def test_a_longer_vector_keeps_its_direction(norm):
    free = scores_of(BETA, seed=4, length=10**6 * UNIT)
    short = scores_of(BETA, seed=4, length=UNIT // 2, norm=norm)
    columns = {"x": np.random.default_rng(5).beta(0.5, 3, 50)}
    whole, clipped = free.each(columns) / UNIT, short.each(columns) / UNIT
    length = np.linalg.norm(whole, ord=norm, axis=1, keepdims=True)
    expected = whole * np.minimum(1, 0.5 / length)
    np.testing.assert_allclose(clipped, expected, atol=3 / UNIT)


def test_where_a_density_is_infinite_the_record_is_moved_inwards():
    scores = scores_of(BETA, seed=6)
    at, near = np.array([0.0, 1.0]), inside(BETA, {"x": np.array([0.0, 1.0])})["x"]
    np.testing.assert_array_equal(scores.each({"x": at}), scores.each({"x": near}))
    assert np.abs(scores.each({"x": at})).sum(axis=1).min() > 0


def test_a_table_counts_each_record_once():
    model, columns = OUTCOMES["missing"]
    table = TableContribution(model, (coarse(model.schema.confidential[0], 1e5),))
    assert (table.each(columns).sum(axis=1) == table.bound).all()
    assert table.total(columns).sum() == 8
    assert table.total(columns)[-1] == 3


def test_the_quasi_likelihood_has_the_slope_of_its_weights():
    table = TableContribution(BETA, (coarse(BETA.schema.confidential[0], 1e5),))
    generator = np.random.default_rng(7)
    values, mean = generator.poisson(50, 24) + generator.normal(0, 5, 24), np.full(24, 40.0)
    weights, height = table.rough(values, mean, 25.0, 2000)
    for entry in range(24):
        moved = mean + 1e-4 * np.eye(24)[entry]
        slope = (table.rough(values, moved, 25.0, 2000)[1] - height) / 1e-4
        expected = -weights[entry] * (values - mean)[entry]
        assert slope == pytest.approx(expected, rel=1e-3, abs=1e-4)
