"""The joint model: a proper distribution over records that simulation agrees with."""

import copy
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, norm
from scipy.stats import t as student

import understudy as us
from refusals import refusal
from table_models import (
    AGE,
    CODES,
    GENDER,
    KINDS,
    PAY,
    WEEKS,
    cells,
    check_balanced_rows,
    crossed,
    domain_of,
    every_record,
    fitted,
    gradient,
    loglik,
    middles,
    schema,
    theta_of,
    with_wide_pay,
    within_intervals,
)
from understudy._jax import jax, jnp
from understudy.adapters.loading import load_model, rebuild_model

DISCRETE = schema(gender=GENDER, weeks=WEEKS, age=AGE)
MIXED = schema(pay=PAY, gender=GENDER, age=AGE)


STRUCTURE = {
    "groups": {"pay": [0] * 20 + [1] * 14 + [2] * 30, "age": [0, 0, 1, 1]},
    "parents": {"gender": ["age"], "pay": ["gender"]},
    "order": ["age", "gender", "pay"],
}


def missing(declared, *names):
    for column in declared.columns:
        if column.name in names:
            object.__setattr__(column, "missing", "model")
    return declared


def test_probabilities_of_all_records_sum_to_one():
    model = us.joint(DISCRETE)
    records = every_record(gender=range(2), weeks=np.arange(53.0), age=np.arange(25.0, 29))
    for seed in range(3):
        assert np.exp(loglik(model, theta_of(model, seed), records)).sum() == pytest.approx(1)


def integral(model, theta, **others):
    """Return what the densities of pay integrate to, over all combinations of the others."""
    points, shares = within_intervals(model.in_turn.variables["pay"])
    records = every_record(**others, pay=points)
    return np.sum(np.exp(loglik(model, theta, records)).reshape(-1, len(points)) @ shares)


def test_densities_integrate_to_one():
    model = us.joint(MIXED)
    for scale in (0.3, 1.0, 3.0):
        theta = theta_of(model, scale=scale)
        found = integral(model, theta, gender=range(2), age=np.arange(25.0, 29))
        assert found == pytest.approx(1)


def test_densities_are_even_within_intervals():
    """Finely enough for quadrature that knows nothing of intervals."""
    model = us.joint(MIXED)
    points = middles(20_000, 50.0)
    records = every_record(gender=range(2), age=np.arange(25.0, 29), pay=points)
    density = np.exp(loglik(model, with_wide_pay(model, 1), records))
    assert density.sum() / len(points) == pytest.approx(1, abs=1e-3)


def test_a_missing_value_is_one_more_value_of_its_column():
    model = us.joint(missing(schema(gender=GENDER, weeks=WEEKS, age=AGE), "gender", "weeks", "age"))
    records = every_record(
        gender=range(-1, 2),
        weeks=np.append(np.arange(53.0), np.nan),
        age=np.append(np.arange(25.0, 29), np.nan),
    )
    assert np.exp(loglik(model, theta_of(model), records)).sum() == pytest.approx(1)
    simulated = model.simulate(jax.random.key(1), theta_of(model), {}, 5000)
    assert (simulated["gender"] == -1).any()
    assert np.isnan(simulated["weeks"]).any()
    assert np.isnan(simulated["age"]).any()


def test_simulated_records_are_as_frequent_as_the_likelihood_says():
    model = us.joint(schema(gender=GENDER, age=AGE, region=GENDER))
    theta, rows = theta_of(model, 2), 200_000
    records = every_record(gender=range(2), age=np.arange(25.0, 29), region=range(2))
    shares = np.exp(loglik(model, theta, records))
    simulated = model.simulate(jax.random.key(3), theta, {}, rows)
    cell = (simulated["gender"] * 4 + simulated["age"] - 25) * 2 + simulated["region"]
    seen = np.bincount(cell.astype(int), minlength=16) / rows
    assert np.abs(seen - shares).max() < 5 * np.sqrt(0.25 / rows)


def test_simulated_numbers_follow_the_density_given_the_other_columns():
    model = us.joint(schema(pay=PAY, gender=GENDER))
    theta, rows, points = theta_of(model, 4, 0.2), 100_000, middles(5000, 50.0)
    simulated = model.simulate(jax.random.key(3), theta, {}, rows)
    for gender in range(2):
        there = {"pay": points, "gender": np.full(5000, gender)}
        density = np.exp(loglik(model, theta, there))
        below = (np.cumsum(density) - density / 2) / density.sum()
        pay = simulated["pay"][simulated["gender"] == gender]
        empirical = np.searchsorted(np.sort(pay), points) / len(pay)
        assert np.abs(empirical - below).max() < 0.01


def test_public_columns_are_given_and_bear_on_the_others():
    model = us.joint(schema(pay=PAY, gender=GENDER | {"role": "public"}))
    theta = theta_of(model)
    for gender in range(2):
        assert integral(model, theta, gender=range(gender, gender + 1)) == pytest.approx(1)
    theta = {name: 0 * value for name, value in theta.items()}
    theta["pay by gender"] = theta["pay by gender"].at[0, 0].set(8.0)
    gender = np.repeat([0, 1], 2000)
    pay = model.simulate(jax.random.key(0), theta, {"gender": gender}, 4000)["pay"]
    assert abs(pay[gender == 0].mean() - pay[gender == 1].mean()) > 10


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_gradients_are_finite_at_the_bounds_and_far_out(scale):
    model = us.joint(MIXED)
    records = every_record(pay=np.array([0.0, 50.0, 25.0]), gender=range(2), age=np.array([25.0]))
    assert np.isfinite(gradient(model, theta_of(model, scale=scale), records)).all()


def test_the_prior_is_normal_for_shapes_and_has_wide_tails_for_the_rest():
    model = us.joint(MIXED)
    theta = theta_of(model)
    expected = sum(
        (norm if name in MIXED.names else student(2)).logpdf(np.asarray(values)).sum()
        for name, values in theta.items()
    )
    assert model.log_prior(theta) == pytest.approx(expected)


def test_a_record_stands_alone():
    model = us.joint(MIXED)
    records = every_record(pay=middles(7, 50.0), gender=range(2), age=np.array([25.0, 28.0]))
    one = {name: values[3:4] for name, values in records.items()}
    theta = theta_of(model)
    assert loglik(model, theta, one)[0] == pytest.approx(
        loglik(model, theta, records)[3], abs=1e-12
    )


def test_the_likelihood_is_concave():
    model = us.joint(MIXED)
    records = every_record(pay=middles(9, 50.0), gender=range(2), age=np.array([25.0, 28.0]))
    data = model.prepare(records)
    ends = [3 * jax.random.normal(jax.random.key(k), (model.dimension,)) for k in range(2)]
    along = jnp.linspace(0, 1, 21)[:, None]
    path = jax.jit(jax.vmap(lambda z: model.record_loglik(model.constrain(z), data)))
    heights = path(ends[0] + along * (ends[1] - ends[0]))
    assert (np.diff(np.asarray(heights), n=2, axis=0) <= 1e-9).all()


class TestOrder:
    def test_columns_with_few_values_come_first_by_default(self):
        assert us.joint(MIXED).spec["order"] == ["gender", "age", "pay"]

    def test_another_order_can_be_declared(self):
        model = load_model("joint: age, pay, gender", schema=MIXED)
        assert model.spec["order"] == ["age", "pay", "gender"]
        assert model.spec == us.joint(MIXED, order=["age", "pay", "gender"]).spec
        theta = theta_of(model)
        found = integral(model, theta, gender=range(2), age=np.arange(25.0, 29))
        assert found == pytest.approx(1)

    @pytest.mark.parametrize(
        ("order", "sentence"),
        [
            (["gender", "aeg", "pay"], r"names 'aeg', which is not confidential \(did you mean"),
            (["gender", "age"], "leaves out pay"),
            (["gender", "age", "pay", "age"], "names 'age' more than once"),
        ],
    )
    def test_an_order_that_is_none_is_refused(self, order, sentence):
        with pytest.raises(us.BadInput, match=sentence):
            us.joint(MIXED, order=order)

    def test_the_model_is_rebuilt_from_its_spec(self):
        model = us.joint(MIXED, order=["age", "pay", "gender"])
        again = rebuild_model(json.loads(json.dumps(model.spec)), schema=MIXED)
        assert again.spec == model.spec
        assert again.parameters == model.parameters


def test_a_table_without_confidential_columns_is_refused():
    with pytest.raises(us.BadInput, match="needs a confidential column"):
        us.joint(schema(gender=GENDER | {"role": "public"}))


@pytest.mark.slow
def test_two_modes_and_what_groups_have_to_do_with_them_are_kept():
    """Pay has two modes among women and one among men, and who is older earns more."""
    generator = np.random.default_rng(0)
    gender, age = generator.integers(0, 2, 2000), generator.integers(25, 29, 2000)
    low = (gender == 0) & (generator.uniform(size=2000) < 0.5)
    centre = np.where(low, 8.0, np.where(age > 26, 35.0, 25.0))
    pay = np.clip(generator.normal(centre, 2.0), 0, 50)
    model = us.joint(MIXED, groups={"pay": [k // 4 for k in range(64)]})
    theta = fitted(model, {"pay": pay, "gender": gender, "age": age.astype(float)})
    made = pd.DataFrame(model.simulate(jax.random.key(0), theta, {}, 8000))
    women, men = made[made.gender == 0].pay, made[made.gender == 1].pay
    assert ((women > 12) & (women < 18)).mean() < 0.5 * ((women > 5) & (women < 11)).mean()
    assert ((women > 12) & (women < 18)).mean() < 0.5 * ((women > 22) & (women < 28)).mean()
    assert (men < 15).mean() < 0.05
    by = made.groupby(["gender", made.age > 26]).pay.mean()
    assert by[1, True] - by[1, False] > 5
    assert by[0, True] - by[0, False] > 2


class TestBalancedRows:
    MODEL = us.joint(MIXED)
    THETA = with_wide_pay(MODEL, seed=4)

    def test_columns_hang_together_as_in_independent_rows(self):
        check_balanced_rows(self.MODEL, self.THETA, 0.2)

    def test_a_row_by_itself_has_the_distribution_of_the_model(self):
        generator, records = np.random.default_rng(2), []
        for _ in range(500):
            table = self.MODEL.balanced(generator, self.THETA, {}, 7)
            records.append({name: values[3] for name, values in table.items()})
        drawn = {name: np.array([each[name] for each in records]) for name in records[0]}
        times = np.bincount(cells(drawn, *drawn), minlength=24)
        many = cells(self.MODEL.simulate(jax.random.key(5), self.THETA, {}, 400_000), *drawn)
        expected = 500 * np.bincount(many, minlength=24) / 400_000
        usual = expected >= 5
        times = np.append(times[usual], times[~usual].sum())
        expected = np.append(expected[usual], expected[~usual].sum())
        assert chisquare(times, expected).pvalue > 0.001

    def test_public_columns_are_given(self):
        given = schema(gender=GENDER | {"role": "public"}, age=AGE, pay=PAY)
        model = us.joint(given)
        theta = theta_of(model, seed=1)
        gender = np.repeat([0, 1], [400, 80])
        made = model.balanced(np.random.default_rng(0), theta, {"gender": gender}, 480)
        assert set(made) == {"age", "pay"}
        for code in range(2):
            one = {"gender": np.full(200_000, code)}
            many = model.simulate(jax.random.key(1), theta, one, 200_000)["age"]
            expected = np.bincount(many.astype(int) - 25, minlength=4) / 200_000
            found = np.bincount(made["age"][gender == code].astype(int) - 25, minlength=4)
            np.testing.assert_allclose(found, expected * np.sum(gender == code), atol=6)
        assert ((made["pay"] >= 0) & (made["pay"] <= 50)).all()

    def test_missing_values_are_one_more_code(self):
        model = us.joint(missing(schema(gender=GENDER, weeks=WEEKS, age=AGE), "gender", "weeks"))
        theta = theta_of(model, seed=2, scale=0.5)
        made = model.balanced(np.random.default_rng(0), theta, {}, 2000)
        many = model.simulate(jax.random.key(1), theta, {}, 400_000)
        assert np.mean(made["gender"] < 0) == pytest.approx(np.mean(many["gender"] < 0), abs=0.003)
        lost = np.isnan(made["weeks"]).mean()
        assert lost == pytest.approx(np.isnan(many["weeks"]).mean(), abs=0.006)
        assert np.array_equal(made["weeks"], np.rint(made["weeks"]), equal_nan=True)


DISCRETE_KINDS = [
    ("levels with codes", "levels in an order", "few whole numbers with codes"),
    ("few whole numbers that may be missing", "few days", "levels with codes"),
    ("levels", "whole numbers one by one with codes", "few whole numbers"),
    ("whole numbers with spikes", "levels with codes"),
    ("levels in an order", "whole numbers on a grid"),
    ("days", "levels in an order", "levels"),
]


def of_kinds(*kinds):
    return schema(**{f"x{k}": KINDS[kind] for k, kind in enumerate(kinds)})


def every_row(declared):
    variables = us.joint(declared).in_turn.variables
    return crossed(*(domain_of(variables[column.name]) for column in declared.columns))


class TestEveryKindOfColumn:
    @pytest.mark.parametrize("kinds", DISCRETE_KINDS, ids=", ".join)
    def test_probabilities_of_all_records_sum_to_one(self, kinds):
        declared = of_kinds(*kinds)
        records = every_row(declared)
        for order in (declared.names, declared.names[::-1]):
            model = us.joint(declared, order=order)
            theta = theta_of(model, seed=len(records))
            assert np.exp(loglik(model, theta, records)).sum() == pytest.approx(1)

    @pytest.mark.parametrize(
        "kind", ["numbers that may be missing", "numbers with spikes", "numbers on a grid"]
    )
    def test_densities_and_what_has_a_share_of_its_own_add_up_to_one(self, kind):
        declared = of_kinds("levels", kind)
        model = us.joint(declared)
        number = model.in_turn.variables["x1"]
        points, shares = within_intervals(number)
        codes = np.arange(number.inner, number.count)
        alone = number.values(codes, np.zeros(len(codes)))
        theta, total = theta_of(model), 0.0
        for gender in range(2):
            between = {"x1": points, "x1 (why missing)": np.full(len(points), -1)}
            for table, share in ((between, shares), (alone, np.ones(len(codes)))):
                records = table | {"x0": np.full(len(share), gender)}
                total += np.exp(loglik(model, theta, records)) @ share
        assert total == pytest.approx(1)

    @pytest.mark.parametrize("kinds", DISCRETE_KINDS[:3], ids=", ".join)
    @pytest.mark.parametrize("how", ["simulated", "balanced"])
    def test_records_are_as_frequent_as_the_likelihood_says(self, kinds, how):
        declared, rows = of_kinds(*kinds), 100_000
        model, records = us.joint(declared), every_row(of_kinds(*kinds))
        theta = theta_of(model, seed=2, scale=0.7)
        if how == "simulated":
            drawn = model.simulate(jax.random.key(3), theta, {}, rows)
        else:
            drawn = model.balanced(np.random.default_rng(3), theta, {}, rows)
        variables = [model.in_turn.variables[name] for name in declared.names]
        counts = [each.count for each in variables]
        shares, seen = np.zeros((2, np.prod(counts)))
        place = np.ravel_multi_index([each.read(records) for each in variables], counts)
        np.add.at(shares, place, np.exp(loglik(model, theta, records)))
        drawn_at = np.ravel_multi_index([each.read(drawn) for each in variables], counts)
        np.add.at(seen, drawn_at, 1 / rows)
        assert (np.abs(seen - shares) < 5 * np.sqrt(shares / rows) + 5 / rows).all()

    def test_whole_numbers_with_spikes_are_drawn_as_often_as_they_are_likely(self):
        """Numbers beside a spike are not taken for it, nor drawn in its place."""
        model, rows = us.joint(of_kinds("whole numbers with spikes")), 200_000
        theta, records = theta_of(model, scale=0.3), {"x0": np.arange(981.0)}
        shares = np.exp(loglik(model, theta, records))
        drawn = model.simulate(jax.random.key(1), theta, {}, rows)["x0"]
        seen = np.bincount(drawn.astype(int), minlength=981) / rows
        assert (np.abs(seen - shares) < 5 * np.sqrt(shares / rows) + 5 / rows).all()

    def test_why_values_are_missing_depends_on_other_columns(self):
        model = us.joint(schema(gender=GENDER, pay=PAY | CODES))
        theta = {name: 0 * values for name, values in theta_of(model).items()}
        effects, kind = theta["pay by gender"], model.in_turn.grouped["pay"].count - 2
        theta["pay by gender"] = effects.at[0, kind].set(12.0).at[1, kind + 1].set(12.0)
        made = model.simulate(jax.random.key(0), theta, {}, 4000)
        assert np.array_equal(np.isnan(made["pay"]), made["pay (why missing)"] >= 0)
        kinds = pd.crosstab(made["gender"], made["pay (why missing)"])
        assert kinds.loc[0, 0] > 5 * kinds.loc[0, 1]
        assert kinds.loc[1, 1] > 5 * kinds.loc[1, 0]

    @pytest.mark.slow
    def test_a_spike_stands_out(self):
        """Most work 52 weeks or none, and who works 52 is more often a man."""
        generator = np.random.default_rng(0)
        gender = generator.integers(2, size=2000)
        weeks = generator.integers(1, 52, 2000).astype(float)
        kind = generator.random(2000)
        weeks[kind < 0.3 + 0.4 * gender] = 52
        weeks[kind > 0.9] = 0
        model = us.joint(schema(gender=GENDER, weeks=WEEKS))
        theta = fitted(model, {"gender": gender, "weeks": weeks})
        made = model.simulate(jax.random.key(0), theta, {}, 20_000)
        for value in (0, 52):
            assert np.mean(made["weeks"] == value) == pytest.approx(
                np.mean(weeks == value), abs=0.03
            )
        assert np.mean((made["weeks"] > 45) & (made["weeks"] < 52)) < 0.12
        most = [np.mean(made["weeks"][made["gender"] == code] == 52) for code in range(2)]
        assert most[1] - most[0] > 0.25

    @pytest.mark.slow
    def test_amounts_heap_on_a_grid(self):
        generator = np.random.default_rng(1)
        pay = 50 * generator.beta(2, 4, 2000)
        rounded = generator.random(2000) < 0.6
        pay[rounded] = np.rint(pay[rounded])
        model = us.joint(schema(pay=PAY | {"grid": 1}))
        theta = fitted(model, {"pay": pay})
        made = model.simulate(jax.random.key(0), theta, {}, 20_000)["pay"]
        assert np.mean(made == np.rint(made)) == pytest.approx(0.6, abs=0.05)
        assert (
            np.abs(np.quantile(made, [0.25, 0.5, 0.75]) - np.quantile(pay, [0.25, 0.5, 0.75])).max()
            < 1.5
        )


class TestStructure:
    MODEL = us.joint(MIXED, **STRUCTURE)

    def test_columns_depend_on_their_parents_by_groups(self):
        shapes = {p.name: p.shape for p in self.MODEL.parameters}
        assert shapes["gender by age"] == (2, 2)
        assert shapes["pay by gender"] == (2, 4)  # Three groups, and a line over them.
        assert shapes["pay groups"] == (1, 3)
        assert not {"pay by age", "age by gender"} & shapes.keys()

    def test_densities_integrate_to_one(self):
        theta = theta_of(self.MODEL)
        found = integral(self.MODEL, theta, gender=range(2), age=np.arange(25.0, 29))
        assert found == pytest.approx(1)

    def test_probabilities_sum_to_one_given_public_columns(self):
        given = schema(region=GENDER | {"role": "public"}, gender=GENDER, weeks=WEEKS | CODES)
        groups = {"weeks": [k // 18 for k in range(53)] + [3, 2]}
        parents = {"gender": ["region"], "weeks": ["gender"]}
        model = us.joint(given, groups=groups, parents=parents)
        weeks = domain_of(model.in_turn.variables["weeks"])
        records = crossed({"region": np.arange(2)}, {"gender": np.arange(2)}, weeks)
        shares = np.exp(loglik(model, theta_of(model), records))
        for region in range(2):
            assert shares[records["region"] == region].sum() == pytest.approx(1)

    def test_balanced_rows_agree_with_the_model_and_vary_less(self):
        check_balanced_rows(self.MODEL, with_wide_pay(self.MODEL, seed=4), 0.4)

    def test_given_its_parents_a_column_is_free_of_the_others(self):
        theta = theta_of(self.MODEL)
        theta["pay by gender"] = theta["pay by gender"].at[1, 0].set(5.0)
        records = every_record(gender=range(2), age=np.arange(25.0, 29), pay=middles(50, 50.0))
        heights = loglik(self.MODEL, theta, records).reshape(2, 4, 50)
        given_gender = heights - heights[:, :, :1]
        assert np.ptp(given_gender, axis=1).max() < 1e-9
        assert np.ptp(given_gender, axis=0).max() > 0.1

    @pytest.mark.parametrize(
        "structure",
        [STRUCTURE, {"parents": STRUCTURE["parents"], "order": STRUCTURE["order"]}, {}],
        ids=["all", "parents alone", "none"],
    )
    def test_it_is_rebuilt_from_its_spec(self, structure):
        model = us.joint(MIXED, **structure)
        again = rebuild_model(json.loads(json.dumps(model.spec)), schema=MIXED)
        assert again.spec == model.spec
        assert again.parameters == model.parameters
        records = every_record(gender=range(2), age=np.arange(25.0, 29), pay=middles(5, 50.0))
        theta = theta_of(model)
        assert np.array_equal(loglik(again, theta, records), loglik(model, theta, records))

    @pytest.mark.parametrize(
        ("place", "damage", "sentence"),
        [
            (("groups", "age"), [0, 1, 1], "groups of 'age'"),
            (("groups", "age"), [0, 0, 2, 2], "groups of 'age'"),
            (("groups", "age"), [0, 0, -1, 1], "groups of 'age'"),
            (("groups", "age"), [0, 0, 10**15, 1], "groups of 'age'"),
            (("groups", "age"), [0, 0, 10**40, 1], "groups of 'age'"),
            (("groups", "age"), [0.0, 0.0, 1.0, 1.0], "groups of 'age'"),
            (("groups", "age"), [False, False, True, True], "groups of 'age'"),
            (("groups", "age"), [[0], [0, 1], 1, 1], "groups of 'age'"),
            (("groups", "age"), [0, None, {}, "1"], "groups of 'age'"),
            (("groups", "age"), "0011", "groups of 'age'"),
            (("groups", "age"), {"0": 1}, "groups of 'age'"),
            (("groups", "age"), None, "groups of 'age'"),
            (("groups", "agee"), [0, 0, 1, 1], "groups of 'agee'"),
            (("groups",), [0, 0, 1, 1], "cannot be read"),
            (("parents", "gender"), ["pay"], "parents of 'gender'"),
            (("parents", "gender"), ["gender"], "parents of 'gender'"),
            (("parents", "gender"), ["age", "age"], "parents of 'gender'"),
            (("parents", "gender"), ["region"], "parents of 'gender'"),
            (("parents", "gender"), [["age"], {}], "parents of 'gender'"),
            (("parents", "gender"), "age", "parents of 'gender'"),
            (("parents", "gender"), 5, "parents of 'gender'"),
            (("parents", "gender"), None, "parents of 'gender'"),
            (("parents", "region"), ["age"], "not confidential"),
            (("parents",), None, "cannot be read"),
            (("order",), ["age", "gender"], "leaves out pay"),
            (("order",), ["age", "gender", "pya"], "did you mean 'pay'"),
            (("order",), ["age", "gender", {}], "not confidential"),
            (("order",), "age", "cannot be read"),
            (("order",), None, "cannot be read"),
            (("more",), 1, "cannot be read"),
        ],
    )
    def test_a_damaged_spec_is_refused(self, place, damage, sentence):
        spec = copy.deepcopy(self.MODEL.spec)
        inside = spec
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = damage
        assert sentence in refusal(rebuild_model, spec, schema=MIXED)

    def test_a_spec_that_lacks_a_part_is_refused(self):
        for part in ("order", "groups", "parents"):
            spec = {key: value for key, value in self.MODEL.spec.items() if key != part}
            assert "cannot be read" in refusal(rebuild_model, spec, schema=MIXED)

    def test_a_column_without_parents_depends_on_nothing(self):
        model = us.joint(MIXED, parents={})
        assert not [p.name for p in model.parameters if " by " in p.name]
        assert model.spec["parents"] == {"gender": [], "age": [], "pay": []}


class TestRefined:
    PUBLIC = schema(region=GENDER | {"role": "public"}, pay=PAY, gender=GENDER, age=AGE)

    def test_columns_have_those_before_them_as_parents_that_they_make_a_pair_with(self):
        sequential = us.joint(self.PUBLIC).in_turn
        groups = {"pay": np.arange(64) // 16, "age": np.array([0, 1, 1, 1])}
        pairs = [("pay", "region"), ("age", "pay"), ("gender", "region"), ("age", "gender")]
        refined = sequential.refined(groups, map(frozenset, pairs))
        assert refined.structure.order == sequential.structure.order == ("gender", "age", "pay")
        assert refined.structure.parents == {
            "gender": ("region",),
            "age": ("gender",),
            "pay": ("region", "age"),
        }
        assert refined.structure.groups["age"] == (0, 1, 1, 1)
        assert refined.grouped["pay"].count == 4
        assert refined.grouped["gender"].count == 2

    def test_it_is_the_model_of_that_structure(self):
        groups = {"pay": np.arange(64) // 16, "gender": np.arange(2)}
        model = us.joint(self.PUBLIC).in_turn.refined(groups, [frozenset(("age", "pay"))]).model()
        again = rebuild_model(json.loads(json.dumps(model.spec)), schema=self.PUBLIC)
        assert again.spec == model.spec
        assert again.parameters == model.parameters

    def test_with_all_pairs_and_the_same_groups_nothing_changes(self):
        model = us.joint(MIXED)
        groups = {name: each.groups for name, each in model.in_turn.grouped.items()}
        every = map(frozenset, itertools.combinations(MIXED.names, 2))
        refined = model.in_turn.refined(groups, every).model()
        assert refined.parameters == model.parameters
        records = every_record(gender=range(2), age=np.arange(25.0, 29), pay=middles(5, 50.0))
        theta = theta_of(model)
        assert np.array_equal(loglik(refined, theta, records), loglik(model, theta, records))


def test_columns_that_others_do_not_need_may_be_left_out():
    schema = us.Schema.from_dict(
        {
            "columns": {
                name: {"role": "confidential", "type": "binary", "levels": ["n", "y"]}
                for name in "abcd"
            }
        }
    )
    parents = {"a": [], "b": ["a"], "c": ["a"], "d": ["c"]}
    model = us.joint(schema, order=list("abcd"), parents=parents)
    reduced = model.in_turn.reaching(["d"])
    assert reduced.structure.order == ("a", "c", "d")
    assert model.in_turn.reaching("b").structure.order == ("a", "b")
    assert model.in_turn.reaching([]).structure.order == ()
    z = np.random.default_rng(1).normal(size=model.dimension)
    theta = model.constrain(jnp.asarray(z))
    both = [
        each.simulate(jax.random.key(k), theta, {}, 20_000)
        for k, each in enumerate((model, reduced.model()))
    ]
    assert set(both[1]) == {"a", "c", "d"}
    shares = [np.mean(each["c"] == each["d"]) for each in both]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_columns_are_related_where_both_depend_on_a_third_or_on_public_ones():
    columns = {"p": GENDER | {"role": "public"}, "q": GENDER | {"role": "public"}}
    columns |= {name: AGE for name in "abcde"}
    pairs = [("p", "a"), ("q", "b"), ("c", "d"), ("c", "e")]
    sequential = us.joint(schema(**columns)).in_turn
    related = sequential.refined({}, map(frozenset, pairs)).related
    assert related("d", "e")
    assert related("c", "e")
    assert related("a", "b"), "rows of public columns belong together"
    assert related("a", "q")
    assert not related("a", "c")
    assert not related("d", "q")
    assert all(sequential.related(one, other) for one in columns for other in columns)
