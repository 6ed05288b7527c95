"""One column after the other: slopes, what is recovered from clear tables, and the rows drawn."""

import itertools

import numpy as np
import pytest

from summaries import CONFIDENTIAL, PUBLIC, schema_of
from understudy._jax import jnp
from understudy.inference.columns import _Column, _distinct, fit
from understudy.inference.grouping import grouped
from understudy.inference.noisy_tables import NoisyTable, Tables
from understudy.models.table.coding import variable
from understudy.models.table.conditional import Conditional, Grouped

COLUMNS = {
    "kind": {"type": "categorical", "levels": ["p", "q", "r"]},
    "answer": {"type": "binary", "levels": ["no", "yes"]} | {"missing": "model"},
    "weeks": {"type": "integer", "bounds": [1, 30], "missing": "model"},
    "amount": {"type": "continuous", "bounds": [0, 1000], "missing": "model"},
    "heaps": {"type": "count", "bounds": [0, 900], "spikes": [0], "grid": 300},
}
SCHEMA = schema_of(g=PUBLIC, **{n: CONFIDENTIAL | each for n, each in COLUMNS.items()})


def in_groups(name, groups=4):
    one = variable(SCHEMA.column(name))
    return Grouped(one, grouped(one, np.full(one.count, 1 / one.count), groups))


KIND, ANSWER, WEEKS, AMOUNT, HEAPS = map(in_groups, COLUMNS)
TERMS = {
    "levels": Conditional(KIND, ()),
    "free values": Conditional(WEEKS, ()),
    "lumpy": Conditional(AMOUNT, ()),
    "spikes": Conditional(HEAPS, ()),
    "levels with parents": Conditional(ANSWER, (KIND, in_groups("g"))),
    "free values with parents": Conditional(WEEKS, (KIND, ANSWER)),
    "lumpy with parents": Conditional(AMOUNT, (KIND, WEEKS)),
    "spikes with parents": Conditional(HEAPS, (AMOUNT,)),
}


def problem(term, *, normal, seed=0):
    """Return the problem of a column whose tables are anything."""
    generator = np.random.default_rng(seed)
    codes = [generator.integers(parent.count, size=40) for parent in term.parents]
    table = NoisyTable(generator.normal(20, 20, term.own.variable.count), 3.0, normal)
    by = [
        NoisyTable(generator.normal(15, 20, (parent.count, term.own.count)), 5.0, normal)
        for parent in term.parents
    ]
    return _Column(term, table, by, codes, rows=40, size=300.0)


def numeric_slope(function, vector, step=1e-5):
    moved = np.eye(len(vector)) * step
    return np.array([(function(vector + m) - function(vector - m)) / (2 * step) for m in moved])


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_slopes_of_the_objective_are_right(name, normal, exact):
    column = problem(TERMS[name], normal=normal)
    generator = np.random.default_rng(1)
    vector = generator.normal(0, 0.6, column.dimension)
    other = (generator.gamma(2.0, 1.0, column.dimension), generator.normal(size=column.dimension))
    for prior in (None, column.first_prior, other):
        _, slope = column.objective(vector, prior, exact=exact)
        expected = numeric_slope(lambda v: column.objective(v, prior, exact=exact)[0], vector)  # noqa: B023
        np.testing.assert_allclose(slope, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", TERMS)
def test_predictions_are_those_of_the_model(name):
    """Shares of rows are the model's own probabilities, added up over the pool."""
    term, size, rows = TERMS[name], 300.0, 40
    generator = np.random.default_rng(2)
    column = problem(term, normal=True, seed=2)
    vector = generator.normal(0, 0.6, column.dimension)
    theta = column.named(vector)
    codes = np.random.default_rng(2)
    parents = {p.name: codes.integers(p.count, size=rows) for p in term.parents}
    own, paired = column.means(*column.heights(vector)[1:])
    expected = np.zeros((rows, term.own.variable.count))
    for code in range(term.own.variable.count):
        data = {f"code of {term.name}": jnp.full(rows, code)}
        given = {name: jnp.asarray(each) for name, each in parents.items()}
        expected[:, code] = np.exp(
            term.loglik({n: jnp.asarray(v) for n, v in theta.items()}, data, given)
        )
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    np.testing.assert_allclose(own, size / rows * expected.sum(axis=0), rtol=1e-9)
    by_group = expected @ np.eye(term.own.count)[term.own.groups]
    for parent, start, stop in zip(term.parents, column.starts, column.starts[1:], strict=False):
        marks = np.eye(parent.count)[parents[parent.name]]
        np.testing.assert_allclose(paired[start:stop], size / rows * marks.T @ by_group, rtol=1e-9)


@pytest.mark.parametrize("name", TERMS)
def test_the_prior_is_that_of_the_model(name):
    column = problem(TERMS[name], normal=True)
    one, other = np.random.default_rng(3).normal(size=(2, column.dimension))
    told = [
        float(TERMS[name].log_prior({n: jnp.asarray(v) for n, v in column.named(each).items()}))
        for each in (one, other)
    ]
    own = [column._prior(each, None)[0] for each in (one, other)]
    assert own[1] - own[0] == pytest.approx(told[0] - told[1])
    np.testing.assert_array_equal(column.vector(column.named(one)), one)


def test_rows_with_the_same_parents_are_one():
    generator = np.random.default_rng(4)
    parents = [generator.integers(k, size=500) for k in (2, 3, 4)]
    first, shares, place = _distinct(parents, 500)
    together = np.column_stack(parents)
    assert len(first) == len(np.unique(together, axis=0))
    np.testing.assert_array_equal(together[first][place], together)
    np.testing.assert_allclose(shares, np.bincount(place) / 500)
    first, shares, place = _distinct([], 7)
    assert (len(first), shares.tolist(), place.tolist()) == (1, [1.0], [0] * 7)


def exact_tables(joint, names, size, scale, normal):
    """Return tables without an error of all single columns and pairs of a distribution."""
    single, pairs = {}, {}
    axes = range(len(names))
    for k in axes:
        rest = tuple(a for a in axes if a != k)
        single[names[k]] = NoisyTable(size * joint.sum(axis=rest), scale, normal)
    for k, m in itertools.combinations(axes, 2):
        rest = tuple(a for a in axes if a not in (k, m))
        pairs[names[k], names[m]] = NoisyTable(size * joint.sum(axis=rest), scale, normal)
    return Tables(single, pairs)


LEVELS = {
    "a": {"type": "categorical", "levels": ["p", "q", "r"]},
    "b": {"type": "categorical", "levels": ["s", "t"]},
    "c": {"type": "categorical", "levels": ["u", "v", "w", "x"]},
}
THREE = schema_of(**{name: CONFIDENTIAL | each for name, each in LEVELS.items()})


def three_in_turn():
    before, terms = [], []
    for column in THREE.confidential:
        one = variable(column)
        own = Grouped(one, np.arange(one.count))
        terms.append(Conditional(own, tuple(before)))
        before.append(own)
    return terms


@pytest.mark.parametrize("normal", [False, True])
def test_clear_tables_are_predicted_as_they_are(normal):
    """A distribution whose pairs hang together comes back from its exact pairs, cell by cell."""
    heights = np.random.default_rng(5).normal(0, 0.8, (3, 2, 4))
    joint = np.exp(heights) / np.exp(heights).sum()
    tables = exact_tables(joint, "abc", 1e6, 0.02, normal)
    fitted = fit(
        three_in_turn(),
        tables,
        {},
        size=None,
        rows=20_000,
        generator=np.random.default_rng(6),
    )
    assert fitted.size == pytest.approx(1e6)
    for mean, table in zip(fitted.means, tables.every, strict=True):
        np.testing.assert_allclose(mean / 1e6, table.values / 1e6, atol=3e-3)
    counted = np.zeros((3, 2, 4))
    np.add.at(counted, tuple(fitted.codes[name] for name in "abc"), 1 / 20_000)
    for axis in range(3):
        np.testing.assert_allclose(counted.sum(axis=axis), joint.sum(axis=axis), atol=6e-3)


def test_a_size_that_is_known_is_not_asked_of_the_tables():
    joint = np.full((3, 2, 4), 1 / 24)
    tables = exact_tables(joint, "abc", 500.0, 1.0, False)
    generator = np.random.default_rng(7)
    fitted = fit(three_in_turn(), tables, {}, size=800.0, rows=500, generator=generator)
    assert fitted.size == 800.0
    assert [mean.sum() for mean in fitted.means] == pytest.approx([800.0] * 6)


def test_pairs_in_the_other_order_are_predicted_in_the_order_of_the_table():
    joint = np.random.default_rng(8).dirichlet(np.ones(24)).reshape(3, 2, 4)
    tables = exact_tables(joint, "abc", 1e4, 0.5, True)
    turned = Tables(
        tables.single, {(b, a): table.transposed for (a, b), table in tables.pairs.items()}
    )
    one, other = (
        fit(three_in_turn(), t, {}, size=None, rows=5000, generator=np.random.default_rng(9))
        for t in (tables, turned)
    )
    for mean, again in zip(one.means[3:], other.means[3:], strict=True):
        np.testing.assert_allclose(again, mean.T, rtol=1e-6)


def test_public_columns_are_given_and_their_rows_are_kept():
    """What depends on a public column is predicted for the rows that there are."""
    g, own = in_groups("g"), in_groups("kind")
    public = np.arange(1000) % 10 == 0
    groups = {"g": public.astype(np.int64)}
    shares = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    both = 1000 * np.array([[0.9], [0.1]]) * shares
    tables = Tables(
        {"kind": NoisyTable(both.sum(axis=0), 0.1, True)},
        {("g", "kind"): NoisyTable(both, 0.1, True)},
    )
    fitted = fit(
        [Conditional(own, (g,))],
        tables,
        groups,
        size=1000.0,
        rows=1000,
        generator=np.random.default_rng(10),
    )
    np.testing.assert_array_equal(fitted.groups["g"], groups["g"])
    np.testing.assert_allclose(fitted.means[1], both, atol=25)
    assert np.mean(fitted.codes["kind"][public] == 2) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("normal", [False, True])
def test_a_draw_varies_as_the_estimate_does_over_fresh_noise(normal):
    """Where tables tell much more than the prior, as here."""
    one = variable(THREE.column("a"))
    term = Conditional(Grouped(one, np.arange(3)), ())
    shares, size, scale = np.array([0.5, 0.3, 0.2]), 2000.0, 25.0
    generator = np.random.default_rng(11)

    def fitted(values, near=None):
        tables = Tables({"a": NoisyTable(values, scale, normal)}, {})
        found = fit([term], tables, {}, size=size, rows=1, generator=generator, near=near)
        return found.theta, found.means[0]

    def fresh():
        moved = generator.multinomial(int(size), shares) - size * shares
        return moved + NoisyTable(np.zeros(3), scale, normal).noise(generator)

    estimates = np.array([fitted(size * shares + fresh())[1] for _ in range(150)])
    theta, _ = fitted(size * shares)
    draws = np.array([fitted(size * shares + fresh(), theta)[1] for _ in range(150)])
    np.testing.assert_allclose(draws.mean(axis=0), estimates.mean(axis=0), atol=12)
    np.testing.assert_allclose(draws.std(axis=0), estimates.std(axis=0), rtol=0.2)


def test_a_draw_of_what_tables_do_not_tell_is_one_of_the_prior():
    """Effects vary about as their prior does, given its own draws of their variances."""
    a, b = (Grouped(variable(THREE.column(n)), np.arange(k)) for n, k in (("a", 3), ("b", 2)))
    term = Conditional(a, (b,))
    noise = 1e6
    tables = Tables(
        {"a": NoisyTable(np.full(3, 10.0), noise, True)},
        {("b", "a"): NoisyTable(np.full((2, 3), 5.0), noise, True)},
    )
    groups, generator = {"b": np.arange(20) % 2}, np.random.default_rng(12)
    near = {p.name: np.zeros(p.shape) for p in term.parameters}
    drawn = [
        fit([term], tables, groups, size=30.0, rows=20, generator=generator, near=near).theta
        for _ in range(250)
    ]
    shape = np.array([each["a"] for each in drawn])
    assert shape.std() == pytest.approx(1.0, rel=0.1)
    effects = np.array([each["a by b"] for each in drawn]).ravel()
    # At an effect of 0 the precision is Gamma(3/2) with mean 3/2: t with three degrees over √1.5.
    assert np.quantile(np.abs(effects), 0.5) == pytest.approx(0.7649 / np.sqrt(1.5), rel=0.12)
