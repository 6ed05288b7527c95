"""How likely noisy counts are, against quadrature; and what was measured as tables."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import understudy as us
from summaries import ANSWER, CONFIDENTIAL, schema_of
from understudy.inference.cells import Cells, Pair
from understudy.inference.contribution import TableContribution
from understudy.inference.measurement import GAUSSIAN, LAPLACE, Measurement, Noise
from understudy.inference.noisy_tables import NoisyTable, Tables, _laplace_and_normal, tables_of

KIND = CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"]}
SCHEMA = schema_of(kind=KIND, answer=ANSWER)
MODEL = us.joint(SCHEMA)


@pytest.mark.parametrize("scale", [0.3, 2.0, 25.0])
@pytest.mark.parametrize("variance", [0.5, 9.0, 400.0])
@pytest.mark.parametrize("rest", [0.0, 1.5, -7.0, 60.0])
def test_the_density_of_normal_and_laplace_errors_is_their_convolution(scale, variance, rest):
    deviation = np.sqrt(variance)
    step = min(scale, deviation) / 500
    # By trapezia, from which a peak at 0 takes nothing if 0 is one of the points.
    furthest = math.ceil((abs(rest) + 12 * deviation + 12 * scale) / step)
    noise = step * np.arange(-furthest, furthest + 1)
    heights = stats.laplace.logpdf(noise, scale=scale)
    heights += stats.norm.logpdf(rest - noise, scale=deviation)
    expected = logsumexp(heights) + np.log(step)
    height, _ = _laplace_and_normal(np.array([rest]), np.array([variance]), scale)
    assert -height == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("scale", [0.02, 1.0, 1e3])
def test_it_stays_finite_far_from_what_is_likely(scale):
    rest = np.array([-1e7, -300.0, 0.0, 300.0, 1e7])
    height, slope = _laplace_and_normal(rest, np.full(5, 100.0), scale)
    assert np.isfinite(height)
    assert np.isfinite(slope).all()
    # Far out the tails of Laplace noise decide: the pull is 1/b at most, or that of a normal error.
    assert (np.abs(slope) <= np.maximum(1 / scale, np.abs(rest) / 100) + 1e-6).all()


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("name", ["misfit", "squares"])
def test_slopes_are_those_of_the_height(normal, name):
    generator = np.random.default_rng(0)
    table = NoisyTable(generator.normal(20, 30, (3, 4)), 4.0, normal)
    mean = generator.gamma(2.0, 10.0, (3, 4))
    own = generator.gamma(2.0, 10.0, (3, 4))

    def judge(mean):
        return getattr(table, name)(mean, own)

    _, slope = judge(mean)
    for place in np.ndindex(3, 4):
        step = np.zeros((3, 4))
        step[place] = 1e-5
        numeric = (judge(mean + step)[0] - judge(mean - step)[0]) / 2e-5
        assert slope[place] == pytest.approx(numeric, rel=1e-5, abs=1e-8)


def test_normal_noise_is_squares_and_laplace_noise_has_wider_tails():
    values, far = np.array([10.0, 50.0]), np.array([400.0, 500.0])
    normal, laplace = (NoisyTable(values, 3.0, each) for each in (True, False))
    own = normal.usual
    assert normal.misfit(far, own)[0] == normal.squares(far, own)[0] == laplace.squares(far, own)[0]
    nearer = laplace.misfit(far, own)[0] - laplace.misfit(values, own)[0]
    assert nearer < normal.misfit(far, own)[0] - normal.misfit(values, own)[0]


def test_counts_vary_by_themselves_as_much_as_there_are():
    assert NoisyTable(np.array([-4.0, 0.0, 9.0]), 3.0, normal=False).usual.tolist() == [1, 1, 10]


@pytest.mark.parametrize("normal", [False, True])
def test_noise_varies_as_much_as_it_is_said_to(normal):
    table = NoisyTable(np.zeros((200, 200)), 3.0, normal)
    noise = table.noise(np.random.default_rng(1))
    assert noise.shape == (200, 200)
    assert noise.var() == pytest.approx(table.variance, rel=0.05)
    assert stats.kurtosis(noise.ravel()) == pytest.approx(0.0 if normal else 3.0, abs=0.6)


def test_the_size_weighs_tables_by_how_well_they_know_it():
    """It is the weighted mean of totals with the least variance, whatever the totals are."""
    single = {"a": NoisyTable(np.array([60.0, 50.0]), 1.0, False)}
    pairs = {("a", "b"): NoisyTable(np.full((2, 5), 9.0), 3.0, False)}
    tables = Tables(single, pairs)
    variances = np.array([2 * 2 * 1.0, 10 * 2 * 9.0])
    expected = np.average([110.0, 90.0], weights=1 / variances)
    assert tables.size == pytest.approx(expected)
    nobody = Tables({"a": NoisyTable(np.array([-3.0, -9.0]), 1.0, False)}, {})
    assert nobody.size == 1.0


def test_the_size_is_as_accurate_as_its_weights_promise():
    generator = np.random.default_rng(2)
    shapes, scales = [(3,), (2, 4), (5, 5)], [2.0, 1.0, 6.0]
    known = [1 / (np.prod(s) * 2 * b**2) for s, b in zip(shapes, scales, strict=True)]
    variance = 1 / sum(known)
    found = []
    for _ in range(2000):
        noisy = [
            NoisyTable(900 / np.prod(s) + generator.laplace(scale=b, size=s), b, False)
            for s, b in zip(shapes, scales, strict=True)
        ]
        found.append(Tables({"a": noisy[0]}, {("a", "b"): noisy[1], ("a", "c"): noisy[2]}).size)
    assert np.mean(found) == pytest.approx(900, abs=4 * np.sqrt(variance / 2000))
    assert np.var(found) == pytest.approx(variance, rel=0.15)


def test_a_pair_is_found_in_either_order():
    table = NoisyTable(np.arange(6.0).reshape(2, 3), 1.0, True)
    tables = Tables({}, {("a", "b"): table})
    np.testing.assert_array_equal(tables.of("a", "b").values, table.values)
    np.testing.assert_array_equal(tables.of("b", "a").values, table.values.T)
    assert tables.of("b", "a").normal


def test_tables_are_moved_in_their_order():
    tables = Tables(
        {"a": NoisyTable(np.zeros(2), 1.0, False)},
        {("a", "b"): NoisyTable(np.ones((2, 2)), 2, True)},
    )
    by = [np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])]
    moved = tables.moved(by)
    for before, after, step in zip(tables.every, moved.every, by, strict=True):
        np.testing.assert_array_equal(after.values, before.values + step)
        assert (after.scale, after.normal) == (before.scale, before.normal)


@pytest.mark.parametrize("distribution", [LAPLACE, GAUSSIAN])
def test_what_was_measured_is_read_table_by_table(distribution):
    kind, answer = map(Cells, (SCHEMA.column("kind"), SCHEMA.column("answer")))
    norm = 1 if distribution == LAPLACE else 2
    first = TableContribution(MODEL, (kind, answer), (10, 40), norm=norm)
    second = TableContribution(MODEL, (Pair(kind, answer),), (20,), norm=norm)
    noise = Noise(80.0, distribution)
    one = Measurement(first, np.array([100, 200, 300, 400, 800]), noise, 1.0)
    two = Measurement(second, 20 * np.arange(6), noise, 1.0)
    tables = tables_of((one, two))
    np.testing.assert_array_equal(tables.single["kind"].values, [10, 20, 30])
    np.testing.assert_array_equal(tables.single["answer"].values, [10, 20])
    np.testing.assert_array_equal(tables.pairs["kind", "answer"].values, [[0, 1], [2, 3], [4, 5]])
    own = [*(each.variance for each in tables.single.values()), tables.every[2].variance]
    expected = [noise.variance / weight**2 for weight in (10, 40, 20)]
    np.testing.assert_allclose(own, expected)
    assert all(each.normal == (distribution == GAUSSIAN) for each in tables.every)
