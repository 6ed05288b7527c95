"""Summaries: what they cost, what they publish, and that nothing but noisy sums sees the table."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import BETA, CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.errors import BadInput
from understudy.inference import contribution
from understudy.inference.allowance import Allowance
from understudy.inference.cells import coarse
from understudy.inference.tables import table_plan
from understudy.mechanisms import Summary, one_round, summary
from understudy.privacy.accounting import Cost, epsilon_at, rho_within
from understudy.privacy.guarantee import Adjacency
from understudy.privacy.rounding import at_most
from understudy.synthesis.preparation import prepare
from understudy.utility import max_ecdf

TABLE = pd.DataFrame({"x": np.random.default_rng(1).beta(0.8, 5, 2000)})
ANCHOR = {"phi": 0.14, "lambda": 5.5}
YES = CONFIDENTIAL | {"type": "binary", "levels": ["no", "yes"]}


@pytest.fixture(scope="module")
def release():
    return us.synthesize(BETA, TABLE, Summary(epsilon=1.0), seed=1)


@pytest.fixture(scope="module")
def normal():
    return us.synthesize(BETA, TABLE, Summary(epsilon=1.0, delta=1e-6))


def score_contribution(defined):
    return contribution.ScoreContribution(
        BETA,
        np.array(defined["z"]),
        np.array(defined["directions"]),
        np.array(defined["centre"]),
        defined["length"],
        defined["count"],
        norm=defined["norm"],
    )


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 5.0, 1e-6])
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("anchor", [None, ANCHOR])
def test_rounds_together_cost_no_more_than_was_asked_for(epsilon, adjacency, anchor):
    mechanism = Summary(epsilon=epsilon, adjacency=adjacency, anchor=anchor)
    shares = mechanism.rounds(BETA, 2000)
    together = sum(Fraction(each.epsilon) for each in shares)
    assert adjacency.steps * together <= Fraction(repr(epsilon))
    assert adjacency.steps * together > Fraction(epsilon) * Fraction(1 - 1e-9)
    cost = mechanism.plan(prepare(BETA, TABLE, mechanism)).cost
    assert cost[adjacency].epsilon == epsilon
    assert cost[Adjacency.REPLACE_ONE].epsilon == pytest.approx(
        2 * cost[Adjacency.ADD_REMOVE].epsilon
    )
    squares = sum((adjacency.steps * each.epsilon) ** 2 / 2 for each in shares)
    assert cost[adjacency].rho == pytest.approx(squares)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 1e-6])
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("anchor", [None, ANCHOR])
def test_with_a_delta_the_rounds_share_a_rho_that_is_within_it(epsilon, delta, adjacency, anchor):
    mechanism = Summary(epsilon=epsilon, delta=delta, adjacency=adjacency, anchor=anchor)
    shares = mechanism.rounds(BETA, 2000)
    assert all(each.epsilon is None and each.norm == 2 for each in shares)
    rho = sum(Fraction(each.rho) for each in shares)
    plan = mechanism.plan(prepare(BETA, TABLE, mechanism))
    for relation, cost in plan.cost.items():
        assert cost.epsilon is None
        assert Fraction(repr(cost.rho)) >= relation.steps**2 * rho
        assert cost.rho == pytest.approx(float(relation.steps**2 * rho), rel=1e-12)
        assert epsilon_at(cost, delta=delta) <= plan.epsilon[relation]
    assert plan.delta == delta
    # As asked under the adjacency that was asked for, and hardly any room is left below that.
    assert plan.epsilon[adjacency] == epsilon
    more = Cost(None, plan.cost[adjacency].rho * (1 + 1e-9))
    assert epsilon_at(more, delta=delta) > epsilon
    other = next(each for each in Adjacency if each is not adjacency)
    assert plan.epsilon[other] == pytest.approx(epsilon_at(plan.cost[other], delta=delta))


def test_a_replacement_costs_what_four_times_rho_comes_to_and_not_twice_epsilon(normal):
    stated = normal.guarantee.to_dict()
    assert stated["kind"] == "strict"
    assert stated["delta"] == 1e-6
    assert stated["epsilon"]["add-remove"] == 1.0
    assert at_most(stated["epsilon"]["replace-one"], 3) == "2.12"
    assert stated["rho"]["replace-one"] == pytest.approx(4 * stated["rho"]["add-remove"])
    assert stated["rho"]["add-remove"] == pytest.approx(rho_within(1.0, delta=1e-6))
    assert any("no ε holds without a δ" in sentence for sentence in stated["assumptions"])


def test_rounds_with_normal_noise_are_enough_to_infer_again(normal):
    published = normal.parameters[0]
    assert published["estimate"]["phi"] == pytest.approx(0.8 / 5.8, abs=0.02)
    table, scores = published["rounds"]
    assert table["epsilon"] is scores["epsilon"] is None
    assert table["rho"] + scores["rho"] == pytest.approx(rho_within(1.0, delta=1e-6))
    assert scores["noise"]["distribution"] == "discrete-gaussian"
    again = score_contribution(scores["definition"])
    assert again.norm == scores["definition"]["norm"] == 2
    noise = np.array(scores["noisy"]) - again.total({"x": TABLE["x"].to_numpy()})
    assert np.abs(noise).max() < 8 * scores["noise"]["scale"]
    sigma = scores["noise"]["scale"]
    assert again.bound**2 / (2 * sigma**2) == pytest.approx(scores["rho"])


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_whole_table_shares_rho_as_its_cells_deserve(adjacency):
    columns = {f"x{k}": SHARE for k in range(4)}
    joint = us.joint(schema_of(size=3000, **columns))
    single, double = Summary(epsilon=1.0, delta=1e-6, adjacency=adjacency).rounds(joint, 3000)
    together = (single.rho + double.rho) * adjacency.steps**2
    assert together == pytest.approx(rho_within(1.0, delta=1e-6))
    groups = table_plan(joint, Allowance(rho=single.rho + double.rho), 3000).groups
    # Each table alone would get ρ in proportion to its cells to the power of ⅔; those of single
    # columns are twice as accurate, and their cells count as 32 at most.
    expected = 4 * 2**2 * 32 ** (2 / 3) / (6 * groups ** (4 / 3))
    assert single.rho / double.rho == pytest.approx(expected)


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 1e-6])
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("columns", [1, 4, 13, 40])
def test_rounds_of_a_whole_table_cost_no_more_than_was_asked_for(
    epsilon, delta, adjacency, columns
):
    joint = us.joint(schema_of(size=3000, **{f"y{k}": YES for k in range(columns)}))
    mechanism = Summary(epsilon=epsilon, delta=delta, adjacency=adjacency)
    shares = mechanism.rounds(joint, 3000)
    assert len(shares) == {1: 1, 4: 2}.get(columns, 7)
    spent = sum(Fraction(each.amount) for each in shares)
    if delta is None:
        allowed = Fraction(repr(epsilon)) / adjacency.steps
    else:
        allowed = Fraction(rho_within(epsilon, delta=delta)) / adjacency.steps**2
    assert spent <= allowed
    assert spent > allowed * Fraction(1 - 1e-9)


def test_it_follows_theta_and_of_a_whole_table_its_groups():
    joint = us.joint(schema_of(size=30, x=SHARE, y=YES))
    theta = {p.name: np.zeros(p.shape).tolist() for p in joint.parameters}
    mechanism = Summary(epsilon=1.0)
    assert mechanism.following(ANCHOR, BETA).anchor == ANCHOR
    assert mechanism.following(theta, joint).anchor == theta
    table = pd.DataFrame({"x": np.linspace(0.01, 0.2, 30), "y": ["no", "yes"] * 15})
    release = us.synthesize(joint, table, mechanism, seed=1)
    contents = release.parameters[0]
    anchored = mechanism.following(contents["parameters"], release.model)
    assert anchored.anchor == {k: contents[k] for k in ("model", "parameters")}
    assert us.synthesize(joint, table, anchored, seed=1).guarantee.epsilon["add-remove"] == 1.0


def test_contributions_are_never_bounded_by_another_norm_than_noise_is_for():
    request = prepare(BETA, TABLE, Summary(epsilon=1.0), seed=1)
    cells = (coarse(BETA.schema.confidential[0], 1e5),)
    for norm, allowance in ((1, Allowance(rho=1.0)), (2, Allowance(epsilon=1.0))):
        table = contribution.TableContribution(BETA, cells, norm=norm)
        with pytest.raises(ValueError, match="does not fit the norm"):
            one_round.measure_sum(request, table, allowance, "Table")


@pytest.mark.parametrize("delta", [0, 1, 2, -0.1, math.nan, "1e-6", True])
def test_a_delta_that_is_no_probability_is_refused(delta):
    with pytest.raises(BadInput, match="`delta` must be a number between 0 and 1"):
        Summary(epsilon=1.0, delta=delta)


@pytest.mark.parametrize(
    ("information", "share"), [(1e-3, 0.5), (250, 0.5), (500, 0.4), (1000, 0.3), (1e9, 0.3)]
)
def test_the_coarse_table_gets_more_where_there_is_more_noise(information, share):
    assert summary.coarse_share(information) == pytest.approx(share)


def test_more_tables_cost_nothing_more():
    mechanism = Summary(epsilon=1.0)
    one, five = (mechanism.plan(prepare(BETA, TABLE, mechanism, tables=t)).cost for t in (1, 5))
    assert one == five


def test_the_guarantee_is_strict_and_speaks_of_no_chain(release):
    assert release.guarantee.kind == "strict"
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == 1.0
    assert release.guarantee.stages == 2
    assert release.guarantee.sampler == "none"
    assert "converge" not in str(release.guarantee).lower()


def test_what_is_published_is_enough_to_infer_again(release):
    published = release.parameters[0]
    assert published["parameters"] == published["estimate"]
    assert published["estimate"]["phi"] == pytest.approx(0.8 / 5.8, abs=0.02)
    assert len(published["draws"]) == summary.DRAWS
    table, scores = published["rounds"]
    assert (table["kind"], scores["kind"]) == ("table", "score")
    assert table["epsilon"] + scores["epsilon"] == pytest.approx(1.0)
    # w, computed again from its published definition, gives the very sum that noise was added to.
    again = score_contribution(scores["definition"])
    noise = np.array(scores["noisy"]) - again.total({"x": TABLE["x"].to_numpy()})
    assert np.abs(noise).max() < 15 * scores["noise"]["scale"]
    assert again.bound / scores["noise"]["scale"] == pytest.approx(scores["epsilon"])


def test_adding_a_record_moves_a_sum_by_what_it_contributes_and_no_more(release):
    definition = release.parameters[0]["rounds"][1]["definition"]
    scores = contribution.ScoreContribution(
        BETA,
        np.array(definition["z"]),
        np.array(definition["directions"]),
        np.array(definition["centre"]),
        definition["length"],
    )
    values = TABLE["x"].to_numpy()
    before = scores.total({"x": values})
    for record in (0.0, 1.0, 1e-300, 0.5):
        for place in (0, 700, 2000):
            after = scores.total({"x": np.insert(values, place, record)})
            np.testing.assert_array_equal(after - before, scores.each({"x": np.array([record])})[0])
            assert np.abs(after - before).sum() <= scores.bound


def test_the_table_is_read_by_sums_alone(monkeypatch):
    """Everything after the sums is the same for tables whose noisy sums are the same."""
    totals = {"table": np.arange(24) * 7, "score": np.array([1000, -2000])}

    def fixed(self, columns):
        return totals[self.kind][: self.width]

    monkeypatch.setattr(contribution.TableContribution, "total", fixed)
    monkeypatch.setattr(contribution.ScoreContribution, "total", fixed)
    others = pd.DataFrame({"x": np.linspace(0, 1, 2000)})
    one, two = (us.synthesize(BETA, t, Summary(epsilon=1.0), seed=4) for t in (TABLE, others))
    assert one.parameters == two.parameters
    pd.testing.assert_frame_equal(one.synthetic, two.synthetic)


@pytest.mark.slow
def test_several_tables_come_from_draws_of_their_own():
    release = us.synthesize(BETA, TABLE, Summary(epsilon=1.0), seed=5, tables=3)
    thetas = [each["parameters"] for each in release.parameters]
    assert len({theta["phi"] for theta in thetas}) == 3
    assert thetas == release.parameters[0]["draws"][:3]
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == 1.0


def test_an_anchor_takes_the_place_of_the_first_round():
    release = us.synthesize(BETA, TABLE, Summary(epsilon=1.0, anchor=ANCHOR), seed=6)
    (scores,) = release.parameters[0]["rounds"]
    assert scores["kind"] == "score"
    assert scores["definition"]["count"] > 0
    assert release.parameters[0]["estimate"]["phi"] == pytest.approx(0.8 / 5.8, abs=0.02)
    assert release.guarantee.stages == 1


def test_an_anchor_that_is_no_value_of_the_model_is_refused():
    with pytest.raises(BadInput, match="not a value of the model"):
        us.synthesize(BETA, TABLE, Summary(epsilon=1.0, anchor={"phi": 2.0}), seed=6)


@pytest.mark.slow
def test_known_predictors_are_not_counted():
    schema = schema_of(x=SHARE, g=PUBLIC)
    model = us.formula("x ~ g", family="beta", schema=schema)
    levels = np.array(["a", "b"])[np.arange(2000) % 2]
    release = us.synthesize(model, TABLE.assign(g=levels), Summary(epsilon=1.0), seed=7)
    assert not release.guarantee.membership
    assert release.parameters[0]["rounds"][1]["definition"]["count"] == 0


@pytest.mark.slow
def test_several_outcomes_begin_with_a_table_of_each():
    import numpyro
    import numpyro.distributions as dist

    def pair(x, y, n):
        centre = numpyro.sample("centre", dist.Normal(0, 1))
        slope = numpyro.sample("slope", dist.Normal(0, 1))
        with numpyro.plate("records", n):
            first = numpyro.sample("x", dist.Normal(centre, 1), obs=x)
            numpyro.sample("y", dist.Bernoulli(logits=slope * first), obs=y)

    number = CONFIDENTIAL | {"type": "continuous", "bounds": [-10, 10]}
    binary = CONFIDENTIAL | {"type": "binary", "levels": ["no", "yes"]}
    schema = schema_of(size=1000, x=number, y=binary)
    model = us.from_numpyro(pair, schema=schema)
    generator = np.random.default_rng(8)
    x = generator.normal(0.5, 1, 1000)
    y = np.array(["no", "yes"])[(generator.random(1000) < 1 / (1 + np.exp(-x))).astype(int)]
    release = us.synthesize(model, pd.DataFrame({"x": x, "y": y}), Summary(epsilon=2.0), seed=9)
    published = release.parameters[0]
    assert [t["column"] for t in published["rounds"][0]["definition"]["tables"]] == ["x", "y"]
    assert published["estimate"]["centre"] == pytest.approx(0.5, abs=0.15)
    assert published["estimate"]["slope"] == pytest.approx(1.0, abs=0.5)


def declared(size, rows_per_unit=None, rules=(), **columns):
    table = {"size": size} | ({"rows_per_unit": rows_per_unit} if rows_per_unit else {})
    return us.Schema.from_dict({"table": table, "columns": columns, "rules": list(rules)})


@pytest.mark.slow
def test_weights_that_depend_on_the_outcome_leave_no_bias():
    """Records with large values are sampled more often, and weights make up for it."""
    generator = np.random.default_rng(11)
    people = generator.beta(2, 5, 60_000)
    chance = (0.02 + people) / (0.02 + people).sum() * 4000
    sampled = generator.random(60_000) < chance
    table = pd.DataFrame({"x": people[sampled], "v": 1 / chance[sampled]})
    weight = {"role": "survey-weight", "bounds": [0, 400], "average": 15}
    weighted, plain = (
        us.synthesize(
            us.beta(declared(4000, x=SHARE, v=role)), table, Summary(epsilon=20.0), seed=3
        ).parameters[0]
        for role in (weight, {"role": "ignore"})
    )
    assert weighted["estimate"]["phi"] == pytest.approx(2 / 7, abs=0.015)
    assert plain["estimate"]["phi"] > 0.35
    assert not weighted["intervals"]["valid"]
    assert plain["intervals"] == {"valid": True, "reason": None}


@pytest.mark.slow
def test_weights_that_depend_on_a_public_column_leave_no_bias():
    generator = np.random.default_rng(12)
    group = generator.random(5000) < 0.3
    x = np.where(group, generator.beta(6, 2, 5000), generator.beta(1.6, 6.4, 5000))
    table = pd.DataFrame({"x": x, "g": np.where(group, "b", "a"), "v": np.where(group, 20.0, 2.0)})
    weight = {"role": "survey-weight", "bounds": [0, 50], "average": 7.4}
    schema = declared(5000, x=SHARE, g=PUBLIC, v=weight)
    model = us.formula("x ~ g", family="beta", schema=schema)
    release = us.synthesize(model, table, Summary(epsilon=20.0), seed=3)
    estimate = release.parameters[0]["estimate"]
    assert estimate["Intercept"] == pytest.approx(math.log(0.25), abs=0.1)
    assert estimate["g[T.b]"] == pytest.approx(math.log(12), abs=0.15)
    assert release.guarantee.stages == len(release.parameters[0]["rounds"]) == 3
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == 20.0


@pytest.mark.slow
def test_units_are_protected_with_all_their_rows():
    table = TABLE.assign(person=np.arange(2000) // 2)
    schema = declared(2000, 2, x=SHARE, person={"role": "unit"})
    release = us.synthesize(us.beta(schema), table, Summary(epsilon=20.0), seed=3)
    published = release.parameters[0]
    assert published["estimate"]["phi"] == pytest.approx(0.8 / 5.8, abs=0.01)
    assert published["estimate"]["lambda"] == pytest.approx(5.8, abs=0.6)
    assert "'person'" in published["intervals"]["reason"]
    assert release.guarantee.unit == "person"
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == 20.0
    assert "hang together" in release.card()
    assert "hang together" in release.internal.report()


def test_a_unit_with_too_many_rows_is_refused():
    schema = declared(2000, 2, x=SHARE, person={"role": "unit"})
    with pytest.raises(BadInput, match="more than rows_per_unit = 2"):
        us.synthesize(us.beta(schema), TABLE.assign(person=0), Summary(epsilon=1.0))


@pytest.mark.slow
def test_values_that_a_rule_fixes_tell_nothing_of_the_others():
    generator = np.random.default_rng(13)
    idle = generator.random(3000) < 0.4
    table = pd.DataFrame(
        {"x": np.where(idle, 0.0, generator.beta(2, 5, 3000)), "g": np.where(idle, "b", "a")}
    )
    schema = declared(3000, rules=[{"if": "g == 'b'", "then": "x == 0"}], x=SHARE, g=PUBLIC)
    release = us.synthesize(us.beta(schema), table, Summary(epsilon=20.0), seed=3)
    assert release.parameters[0]["estimate"]["phi"] == pytest.approx(2 / 7, abs=0.01)
    assert release.internal.diagnostics["misfit"]["p_value"] > 1e-3
    assert (release.synthetic["x"][release.synthetic["g"] == "b"] == 0).all()


@pytest.mark.slow
def test_what_an_earlier_release_knew_is_carried_over(tmp_path):
    earlier = us.synthesize(BETA, TABLE, Summary(epsilon=5.0))
    public = earlier.write(tmp_path / "out") / "public"
    anchor, draws = us.read_anchor(public, BETA), us.read_draws(public, BETA)
    other = pd.DataFrame({"x": np.random.default_rng(14).beta(0.8, 5, 2000)})
    with_it, without = (
        us.synthesize(BETA, other, Summary(epsilon=1.0, anchor=anchor, carried=carried), seed=2)
        for carried in (draws, None)
    )
    spreads = [np.std([d["phi"] for d in r.parameters[0]["draws"]]) for r in (with_it, without)]
    assert spreads[0] < 0.85 * spreads[1]
    assert "have not changed" in with_it.parameters[0]["prior"]["assumes"]
    assert "prior" not in without.parameters[0]
    assert with_it.guarantee.epsilon == without.guarantee.epsilon
    assert "have not changed since" in with_it.card()
    assert "have not changed since" not in without.card()


def test_nothing_is_carried_over_without_an_anchor():
    with pytest.raises(BadInput, match="together with its anchor"):
        us.synthesize(BETA, TABLE, Summary(epsilon=1.0, carried=[ANCHOR]))
    with pytest.raises(BadInput, match="1 draws, and 10 are needed"):
        us.synthesize(BETA, TABLE, Summary(epsilon=1.0, anchor=ANCHOR, carried=[ANCHOR]))


def spread_of(release, name):
    """Return the standard deviation of an element over the published draws."""
    draws = [np.ravel(draw[name]) for draw in release.parameters[0]["draws"]]
    assert np.isfinite(draws).all()
    return np.std(draws, axis=0)


@pytest.mark.slow
def test_thirty_records_end_with_a_release_that_knows_little():
    """At ε = 0.1 the noise is as large as the table, and the draws must say so."""
    model = us.beta(schema_of(size=30, x=SHARE))
    table = pd.DataFrame({"x": np.random.default_rng(2).beta(2, 6, 30)})
    without = np.sqrt(0.25 * 0.75 / 9 / 30)
    spreads = {}
    for epsilon in (0.1, 5.0):
        release = us.synthesize(model, table, Summary(epsilon=epsilon), seed=3)
        assert len(release.synthetic) == 30
        (spreads[epsilon],) = spread_of(release, "phi")
    assert spreads[5.0] > 0.9 * without
    assert spreads[0.1] > 3 * without


@pytest.mark.slow
@pytest.mark.parametrize("side", [0.0, 1.0])
def test_a_regression_of_records_at_a_bound_ends_with_a_release(side):
    schema = schema_of(size=200, x=SHARE, g=PUBLIC)
    model = us.formula("x ~ g", family="beta", schema=schema)
    table = pd.DataFrame({"x": np.full(200, side), "g": ["a", "b"] * 100})
    release = us.synthesize(model, table, Summary(epsilon=1.0), seed=3)
    assert abs(release.synthetic["x"].median() - side) < 0.2
    for parameter in model.parameters:
        assert (spread_of(release, parameter.name) > 0).all()


@pytest.mark.slow
def test_constant_levels_and_counts_end_with_a_release():
    yes = CONFIDENTIAL | {"type": "binary", "levels": ["no", "yes"]}
    count = CONFIDENTIAL | {"type": "count", "bounds": [0, 50]}
    for column, family, value in ((yes, "bernoulli", "yes"), (count, "poisson", 0)):
        schema = schema_of(size=200, y=column)
        model = us.formula("y ~ 1", family=family, schema=schema)
        table = pd.DataFrame({"y": [value] * 200})
        release = us.synthesize(model, table, Summary(epsilon=1.0), seed=3)
        assert (release.synthetic["y"] == value).mean() > 0.85
        assert (spread_of(release, "Intercept") > 0).all()


@pytest.mark.slow
def test_bounds_a_thousand_times_too_wide_end_with_a_release_that_is_nearly_as_close():
    """Salaries of some tens of thousands, declared to lie between 0 and 10⁹."""
    generator = np.random.default_rng(4)
    levels = np.array(["a", "b"])[np.arange(1500) % 2]
    pay = np.exp(generator.normal(11, 0.5, 1500) + 0.2 * (levels == "b"))
    table = pd.DataFrame({"x": np.minimum(pay, 1e6), "g": levels})
    distances = {}
    for top in (1e6, 1e9):
        wide = CONFIDENTIAL | {"type": "continuous", "bounds": [0, top]}
        schema = schema_of(size=1500, x=wide, g=PUBLIC)
        model = us.formula("x ~ g", family="lognormal", schema=schema)
        release = us.synthesize(model, table, Summary(epsilon=1.0), seed=5)
        distances[top] = max_ecdf(table["x"].to_numpy(), release.synthetic["x"].to_numpy())
        for parameter in model.parameters:
            assert (spread_of(release, parameter.name) > 0).all()
    assert distances[1e9] < 0.1, distances


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(200),
        pytest.param(np.full(200, 0.3), marks=pytest.mark.slow),
        pytest.param(np.ones(200), marks=pytest.mark.slow),
    ],
)
def test_constant_columns_and_records_at_a_bound_end_with_a_release(values):
    table = pd.DataFrame({"x": values})
    release = us.synthesize(
        us.beta(schema_of(size=200, x=SHARE)), table, Summary(epsilon=1.0), seed=3
    )
    spread = [release.parameters[0]["draws"][k]["phi"] for k in range(100)]
    assert np.isfinite(spread).all()
    assert abs(release.parameters[0]["estimate"]["phi"] - values[0]) < 0.2
    assert math.isfinite(release.internal.diagnostics["misfit"]["chi2"])


def test_an_empty_table_is_released_like_any_other():
    """Under add-remove it is a neighbour of a table with one record."""
    for rows in (0, 1):
        table = pd.DataFrame({"x": np.full(rows, 0.4)})
        release = us.synthesize(BETA, table, Summary(epsilon=1.0), seed=1)
        assert len(release.synthetic) == 2000
        assert release.internal.report()


def test_a_record_at_a_pole_of_the_formula_does_not_end_a_run_whose_predictors_are_separate():
    number = {"role": "public", "type": "continuous", "bounds": [0, 1]}
    schema = schema_of(size=5, y=SHARE, x=number)
    model = us.formula("y ~ {1/(x-0.123456)}", family="beta", schema=schema)
    elsewhere = pd.DataFrame({"x": [0.1, 0.2, 0.9, 0.8, 0.5]})
    for x in (0.3, 0.123456):
        table = pd.DataFrame({"y": [0.2, 0.5, 0.6], "x": [0.2, x, 0.7]})
        made = us.synthesize(model, table, Summary(epsilon=1.0), predictors=elsewhere, seed=1)
        assert len(made.synthetic) == 5
    with pytest.raises(BadInput, match="formula"):
        us.synthesize(model, table, Summary(epsilon=1.0), seed=1)


@pytest.mark.parametrize("epsilon", [100.0, 1e6])
def test_hardly_any_noise_still_ends_with_a_release(epsilon):
    table = pd.DataFrame({"x": [0.1, 0.4, 0.8]})
    theta = us.synthesize(BETA, table, Summary(epsilon=epsilon), seed=1).parameters[0]["estimate"]
    assert 0 < theta["phi"] < 1


def test_records_at_bounds_that_are_large_and_close_have_finite_scores():
    column = SHARE | {"bounds": [20000, 20001]}
    model = us.formula("x ~ 1", family="beta", schema=schema_of(size=200, x=column))
    table = pd.DataFrame({"x": [20000.0, 20001.0, 20000.5, 20000.25] * 50})
    release = us.synthesize(model, table, Summary(epsilon=1.0), seed=1)
    assert np.isfinite(release.parameters[0]["estimate"]["Intercept"])
