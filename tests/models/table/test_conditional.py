"""One column given others: by the formula, in a plain loop, and as it is drawn."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from scipy.stats import t as student

from table_models import AGE, GENDER, KINDS, PAY, WEEKS, schema
from understudy._jax import jax, jnp
from understudy.models.table.coding import variable
from understudy.models.table.conditional import Conditional, Grouped, log_student
from understudy.models.table.variables import evenly_grouped, with_others

each_kind = pytest.mark.parametrize("declared", KINDS.values(), ids=KINDS)


def grouped(name, declared, groups=4):
    each = variable(schema(**{name: declared}).column(name))
    return Grouped(each, evenly_grouped(each, groups))


def given(declared, groups=4):
    """Return a column given gender and age, and parameters of it."""
    parents = (grouped("gender", GENDER), grouped("age", AGE))
    term = Conditional(grouped("x", declared, groups), parents)
    return term, parameters_of(term)


def parameters_of(term, seed=0):
    generator = np.random.default_rng(seed)
    return {p.name: generator.normal(size=p.shape) for p in term.parameters}


def patterns(each):
    """Return what every effect is over groups: one of a single group, a line, or a parabola."""
    found = [[float(k == group) for k in range(each.count)] for group in range(each.count)]
    inner = len(set(each.groups[: each.variable.inner].tolist()))
    if each.variable.column.levels is None or each.variable.column.ordered:
        z = [2 * k / (inner - 1) - 1 for k in range(inner)] if inner > 1 else [0.0]
        square = sum(x * x for x in z) / inner
        for shape in [z, [x * x - square for x in z]][: max(inner - 2, 0)]:
            size = (sum(x * x for x in shape) / inner) ** 0.5
            found.append([x / size for x in shape] + [0.0] * (each.count - inner))
    return found


def by_the_formula(term, theta, groups):
    """Return the log probability of every code, one by one as the module's formula has it."""
    own, heights = term.own, []
    for code in range(own.variable.count):
        height = own.variable.base[code]
        for direction, width in enumerate(own.variable.widths[0]):
            shape = own.variable.directions[code, direction]
            height += shape * width * theta["x"][direction]
        if code in own.variable.free:
            height += 0.15 * theta["x values"][own.variable.free.tolist().index(code)]
        if "x groups" in theta:
            height += 0.5 * theta["x groups"][0, own.groups[code]]
        for parent in term.parents:
            effects, group = theta[f"x by {parent.name}"], groups[parent.name]
            for k, above in enumerate(patterns(parent)):
                for j, here in enumerate(patterns(own)):
                    height += 0.5 * effects[k, j] * above[group] * here[own.groups[code]]
        heights.append(height)
    return np.array(heights) - logsumexp(heights)


@each_kind
def test_probabilities_are_those_of_the_formula_and_sum_to_one(declared):
    term, theta = given(declared)
    count = term.own.variable.count
    for gender, age in [(0, 0), (1, 3)]:
        groups = {"gender": np.full(count, gender), "age": np.full(count, age)}
        data = {"code of x": jnp.arange(count)}
        found = term.loglik(
            jax.tree.map(jnp.asarray, theta), data, jax.tree.map(jnp.asarray, groups)
        )
        assert np.exp(found).sum() == pytest.approx(1)
        expected = by_the_formula(term, theta, {"gender": gender, "age": age})
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_trends_are_over_groups_that_have_an_order_and_over_no_others():
    assert grouped("x", KINDS["levels"]).trends.shape[0] == 0
    assert grouped("x", KINDS["levels in an order"]).trends.shape[0] > 0
    line, parabola = grouped("x", PAY, 8).trends
    assert (np.diff(line) > 0).all()
    assert parabola[0] == pytest.approx(parabola[-1])
    assert parabola.argmin() in (3, 4)
    for each in (line, parabola):
        assert each.mean() == pytest.approx(0)
        assert np.square(each).mean() == pytest.approx(1)
    assert line @ parabola == pytest.approx(0)


@each_kind
def test_the_way_from_effects_to_groups_has_its_transpose_as_the_way_back(declared):
    term, theta = given(declared)
    generator = np.random.default_rng(7)
    for parent in term.parents:
        effects = theta[f"x by {parent.name}"]
        groups = generator.normal(size=(parent.count, term.own.count))
        there = np.sum(term.by_groups(effects, parent) * groups)
        assert np.sum(effects * term.by_patterns(groups, parent)) == pytest.approx(there)
        squares = np.array(patterns(parent)) ** 2 @ groups @ np.array(patterns(term.own)).T ** 2
        np.testing.assert_allclose(term.by_patterns(groups, parent, 2), squares, atol=1e-12)


@each_kind
def test_codes_at_an_even_spread_are_as_frequent_as_their_probabilities(declared):
    term, theta = given(declared)
    rows = 200_000
    u = (np.arange(rows) + 0.5) / rows
    groups = {"gender": np.ones(rows, dtype=int), "age": np.full(rows, 2)}
    codes, within = term.at(u, theta, groups)
    shares = np.exp(by_the_formula(term, theta, {"gender": 1, "age": 2}))
    seen = np.bincount(codes, minlength=len(shares)) / rows
    assert np.abs(seen - shares).max() < 3 / rows
    assert within.min() >= 0
    assert within.max() < 1
    largest = np.sort(within[codes == shares.argmax()])
    assert np.abs(largest - np.linspace(0, 1, len(largest))).max() < 2 / len(largest)


def code_by_a_loop(groups, group, within, inside):
    """Return the code of a group at a place, and how far within it that is."""
    members = [code for code, each in enumerate(groups) if each == group]
    left = within * sum(inside[code] for code in members)
    for code in members:
        if left < inside[code]:
            return code, left / inside[code]
        left -= inside[code]
    raise AssertionError


@pytest.mark.parametrize("kind", ["numbers", "whole numbers on a grid", "levels", "days"])
def test_the_code_in_a_group_is_that_of_a_plain_loop(kind):
    term, _ = given(KINDS[kind])
    generator = np.random.default_rng(1)
    group, within = generator.integers(term.own.count, size=2000), generator.random(2000)
    inside = generator.random(term.own.variable.count) + 0.01
    for each in range(term.own.count):
        inside[term.own.groups == each] /= inside[term.own.groups == each].sum()
    codes, rest = term.code_in(group, within, inside)
    looked_up = [
        code_by_a_loop(term.own.groups, *one, inside) for one in zip(group, within, strict=True)
    ]
    assert codes.tolist() == [code for code, _ in looked_up]
    np.testing.assert_allclose(rest, [place for _, place in looked_up], atol=1e-6)


@each_kind
def test_the_ends_of_a_group_are_codes_of_it(declared):
    term, _ = given(declared)
    every = np.arange(term.own.count)
    sizes = np.bincount(term.own.groups)
    for place in (0.0, np.nextafter(1.0, 0.0)):
        codes, rest = term.code_in(every, np.full(len(every), place), 1 / sizes[term.own.groups])
        assert np.array_equal(term.own.groups[codes], every)
        assert ((rest >= 0) & (rest < 1)).all()


def test_a_code_that_cannot_be_is_not_drawn():
    term, _ = given(WEEKS)
    inside = np.where(np.arange(53) % 2, 1.0, 0.0)
    codes, _ = term.code_in(
        np.repeat(np.arange(4), 1000), np.random.default_rng(0).random(4000), inside
    )
    assert (codes % 2 == 1).all()


@each_kind
def test_both_libraries_see_the_same_shape(declared):
    term, theta = given(declared)
    here = term.shape(theta)
    there = term.shape(jax.tree.map(jnp.asarray, theta), jnp)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    sums = np.bincount(term.own.groups, weights=np.exp(here[1]))
    np.testing.assert_allclose(sums, 1, atol=1e-9)


@each_kind
def test_the_prior_is_normal_for_shapes_and_has_wide_tails_for_effects(declared):
    term, theta = given(declared)
    expected = norm.logpdf(theta["x"]).sum() + sum(
        student(2).logpdf(values).sum() for name, values in theta.items() if name != "x"
    )
    assert term.log_prior(jax.tree.map(jnp.asarray, theta)) == pytest.approx(expected)
    assert log_student(3.0) == pytest.approx(student(2).logpdf(3.0))


def test_a_group_stands_out_where_single_values_cannot():
    assert "x groups" in given(PAY)[1]
    assert "x groups" in given(KINDS["numbers with spikes"])[1]
    assert "x groups" not in given(PAY, groups=1)[1]
    for kind in ("levels", "whole numbers one by one", "numbers on a grid"):
        assert "x groups" not in given(KINDS[kind])[1]


def test_inside_its_group_a_code_depends_on_no_other_column():
    term, theta = given(PAY)
    rows = [
        by_the_formula(term, theta, {"gender": gender, "age": age})
        for gender in range(2)
        for age in range(4)
    ]
    there = term.own.groups == 2
    assert np.ptp([np.diff(row[there]) for row in rows], axis=0).max() < 1e-9
    assert np.ptp([np.diff(row) for row in rows], axis=0).max() > 0.1


def test_a_spike_that_is_apart_follows_a_parent_by_itself():
    """Its share depends on gender, and that of its neighbours among the others does not."""
    each = variable(schema(x=KINDS["numbers with spikes"]).column("x"))
    own = np.zeros(each.inner, dtype=int)
    groups = with_others(each, own, np.array([False, True, False]))
    term = Conditional(Grouped(each, groups), (grouped("gender", GENDER),))
    theta = {p.name: np.zeros(p.shape) for p in term.parameters}
    theta["x by gender"][1, 1] = 10.0
    shares = [np.exp(by_the_formula(term, theta, {"gender": gender})) for gender in range(2)]
    spike = each.inner + 1
    odds = [own[spike] / (1 - own[spike]) for own in shares]
    assert odds[1] / odds[0] == pytest.approx(np.exp(5))
    others = np.delete(np.arange(each.count), spike)
    ratio = shares[1][others] / shares[0][others]
    assert np.ptp(ratio) < 1e-9 * ratio.max()
    u = (np.arange(10_000) + 0.5) / 10_000
    codes, _ = term.at(u, theta, {"gender": np.ones(10_000, dtype=int)})
    assert np.mean(codes == spike) == pytest.approx(shares[1][spike], abs=2e-4)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["numbers", "whole numbers on a grid", "levels"])
def test_gradients_are_finite_far_out(kind, scale):
    term, theta = given(KINDS[kind])
    count = term.own.variable.count
    data = {"code of x": jnp.arange(count)}
    groups = {"gender": jnp.zeros(count, dtype=int), "age": jnp.ones(count, dtype=int)}
    theta = {name: scale * jnp.asarray(values) for name, values in theta.items()}
    slopes = jax.jit(jax.grad(lambda theta: term.loglik(theta, data, groups).sum()))(theta)
    assert all(np.isfinite(slope).all() for slope in slopes.values())


def test_the_group_of_a_record_is_that_of_its_code():
    each = grouped("age", AGE | {"missing": "model"}, 2)
    assert each.count == 3
    assert each.read({"age": np.array([25.0, 26.0, 27.0, np.nan])}).tolist() == [0, 0, 1, 2]
