"""Summaries: what they cost, what they publish, and that nothing but noisy sums sees the table."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import BETA, CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.errors import BadInput
from understudy.inference import contribution
from understudy.mechanisms import Summary, summary
from understudy.privacy.guarantee import Adjacency
from understudy.synthesis.preparation import prepare
from understudy.utility import max_ecdf

TABLE = pd.DataFrame({"x": np.random.default_rng(1).beta(0.8, 5, 2000)})
ANCHOR = {"phi": 0.14, "lambda": 5.5}


@pytest.fixture(scope="module")
def release():
    return us.synthesize(BETA, TABLE, Summary(epsilon=1.0), seed=1)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 5.0, 1e-6])
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("anchor", [None, ANCHOR])
def test_rounds_together_cost_no_more_than_was_asked_for(epsilon, adjacency, anchor):
    mechanism = Summary(epsilon=epsilon, adjacency=adjacency, anchor=anchor)
    rounds = mechanism.rounds(BETA, 2000)
    together = sum(Fraction(each) for each in rounds)
    assert adjacency.steps * together <= Fraction(repr(epsilon))
    assert adjacency.steps * together > Fraction(epsilon) * Fraction(1 - 1e-9)
    cost = mechanism.plan(prepare(BETA, TABLE, mechanism)).cost
    assert cost[adjacency].epsilon == epsilon
    assert cost[Adjacency.REPLACE_ONE].epsilon == pytest.approx(
        2 * cost[Adjacency.ADD_REMOVE].epsilon
    )
    squares = sum((adjacency.steps * each) ** 2 / 2 for each in rounds)
    assert cost[adjacency].rho == pytest.approx(squares)


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
    defined = scores["definition"]
    again = contribution.ScoreContribution(
        BETA,
        np.array(defined["z"]),
        np.array(defined["directions"]),
        np.array(defined["centre"]),
        defined["length"],
        defined["count"],
    )
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


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"columns": {"id": {"role": "unit"}}, "table": {"rows_per_unit": 3}}, "several rows"),
        (
            {
                "columns": {
                    "w": {
                        "role": "survey-weight",
                        "type": "continuous",
                        "bounds": [0, 9],
                        "average": 2,
                    }
                }
            },
            "survey weights",
        ),
        ({"rules": [{"if": "x > 0.5", "then": "x == 1"}]}, "structural rules"),
    ],
    ids=["unit", "weight", "rules"],
)
def test_records_that_are_not_simulated_as_they_are_declared_are_refused(extra, words):
    declared = BETA.schema.to_dict()
    for part, more in extra.items():
        declared[part] = declared.get(part, {}) | more if isinstance(more, dict) else more
    model = us.beta(us.Schema.from_dict(declared))
    request = replace(prepare(BETA, TABLE, Summary(epsilon=1.0)), schema=model.schema)
    with pytest.raises(BadInput, match=words):
        Summary(epsilon=1.0).plan(request)


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
