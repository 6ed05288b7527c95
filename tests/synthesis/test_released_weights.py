"""A survey weight that is released: rows are like those of the sample, each with its weight."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.questions import asked
from understudy.report.card import render_card
from understudy.support.randomness import Source
from understudy.synthesis import known
from understudy.synthesis.known import Known
from understudy.synthesis.opening import opened
from understudy.utility import as_population, measure_table

N = 4000
REGIONS = np.array(["N", "S", "W"])
WEIGHT = {"role": "survey-weight", "type": "integer", "bounds": [0, 500], "release": True}
LAYOUT = {
    "table": {"size": N},
    "columns": {
        "weight": WEIGHT,
        "region": {"role": "confidential", "type": "categorical", "levels": REGIONS.tolist()},
        "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
    },
}
SCHEMA = us.Schema.from_dict(LAYOUT)


def sample(seed=1):
    """The north is rarely sampled, weighs most and is paid least."""
    generator = np.random.default_rng(seed)
    region = generator.choice(3, N, p=[0.2, 0.5, 0.3])
    weight = np.rint(np.array([300, 60, 20])[region] * generator.uniform(0.8, 1.2, N))
    pay = 100 * generator.beta(np.array([2, 4, 6])[region], 5)
    return pd.DataFrame({"weight": weight.astype(int), "region": REGIONS[region], "pay": pay})


TABLE = sample()


def totals(table):
    """Of people and of pay, in all and in each region."""
    people = table["weight"].groupby(table["region"]).sum()
    pay = (table["weight"] * table["pay"]).groupby(table["region"]).sum()
    return np.concatenate([[people.sum(), pay.sum()], people, pay])


@pytest.fixture(scope="module")
def release():
    return us.synthesize(us.joint(SCHEMA), TABLE, us.Summary(epsilon=100.0), seed=1)


def test_weighted_totals_are_those_of_the_table_at_large_epsilon(release):
    made = release.synthetic
    assert list(made.columns) == ["weight", "region", "pay"]
    assert len(made) == N
    assert made["weight"].dtype == np.int64
    np.testing.assert_allclose(totals(made), totals(TABLE), rtol=0.1)
    np.testing.assert_allclose(totals(made)[:2], totals(TABLE)[:2], rtol=0.05)


def test_unweighted_rows_are_those_of_the_sample(release):
    """Were records weighted, three of four rows would be of the north."""
    north = [(table["region"] == "N").mean() for table in (release.synthetic, TABLE)]
    assert north[0] == pytest.approx(north[1], abs=0.02)


def answered(release, question):
    known = Known.of(opened(release), given=False, source=Source(1))
    return known.ask(asked(question, SCHEMA)).values.mean(axis=0)


WEIGHTED = np.average(TABLE["pay"], weights=TABLE["weight"])


def mean_pay(table):
    """Of everybody alike; the table that an answer comes from holds no weights."""
    return {"mean": table["pay"].mean(), "weights": float("weight" in table.columns)}


def test_answers_are_about_the_population_and_not_about_the_sample(release):
    assert TABLE["pay"].mean() - WEIGHTED > 5
    assert answered(release, mean_pay) == pytest.approx([WEIGHTED, 0], abs=1.0)


@pytest.mark.slow
def test_every_kind_of_question_is_about_the_population(release):
    (mean,) = release.infer("mean(pay)", seed=1).estimates
    assert mean.estimate == pytest.approx(WEIGHTED, abs=1.0)
    north = TABLE["weight"][TABLE["region"] == "N"].sum() / TABLE["weight"].sum()
    assert answered(release, "share(region == 'N')") == pytest.approx(north, abs=0.03)
    (constant,) = answered(release, "pay ~ 1")
    assert constant == pytest.approx(WEIGHTED, abs=1.0)


def test_the_population_has_no_weights_to_ask_about(release):
    for question in ("mean(weight)", "share(weight > 3)", "pay ~ weight"):
        with pytest.raises(us.BadInput, match="names 'weight', the survey weight"):
            release.infer(question)


@pytest.mark.parametrize("about", ["finite", "given_predictors"])
def test_nothing_is_said_about_anybody_else(release, about):
    with pytest.raises(us.Refused, match="about the population that they stand for"):
        release.infer("mean(pay)", **{about: True})


def test_analyses_of_several_tables_are_not_combined():
    assert "add up to the population" in us.Summary.no_combining(SCHEMA)


@pytest.mark.slow
def test_several_tables_have_as_many_rows_as_the_sample_and_are_not_pooled():
    mechanism = us.Summary(epsilon=1.0)
    several = us.synthesize(us.joint(SCHEMA), TABLE, mechanism, tables=2, seed=1)
    assert [len(table) for table in several.tables] == [N, N]
    with pytest.raises(us.Refused, match="add up to the population"):
        us.pool(several, "mean(pay)")


def test_the_card_says_how_to_weigh_and_the_guarantee_what_it_rests_on(release):
    card = render_card(release.guarantee, SCHEMA, release.tables)
    assert "weighted sums estimate totals." in card
    assert "use no weights" not in card
    assert any("raked or calibrated" in each for each in release.guarantee.assumptions)
    fewer = render_card(release.guarantee, SCHEMA, [release.synthetic[:1000]])
    assert "totals when multiplied by 4, because the sample has 4,000 rows" in fewer
    first = render_card(release.guarantee, SCHEMA, [release.synthetic[:1000]], rows=N)
    assert "weighted sums estimate totals." in first


def test_a_weight_is_compared_like_any_other_column(release):
    assert as_population(coded := {"weight": np.arange(3)}, SCHEMA) is coded
    utility = measure_table(TABLE, release.synthetic, SCHEMA)
    assert utility.headlines()["weight: max-ECDF"] < 0.1
    assert ("weight", "pay") in [pair.columns for pair in utility.pairs]


@pytest.mark.slow
def test_mixture_synthesises_it_too():
    release = us.synthesize(us.mixture(SCHEMA), TABLE, us.Summary(epsilon=10.0), seed=1)
    assert totals(release.synthetic)[0] == pytest.approx(totals(TABLE)[0], rel=0.1)


ALONE = us.Schema.from_dict(
    {"table": {"size": N}, "columns": {n: LAYOUT["columns"][n] for n in ("weight", "pay")}}
)


@pytest.mark.parametrize(
    "build",
    [
        lambda: us.formula("pay ~ 1", family="beta", schema=ALONE),
        lambda: us.formula("weight ~ 1", family="gamma", schema=ALONE),
        lambda: us.beta(ALONE),
        lambda: us.synthesize(ALONE, TABLE[["weight", "pay"]], us.PerturbedHistogram(epsilon=1)),
    ],
)
def test_a_model_of_one_column_is_refused(build):
    with pytest.raises(us.BadInput, match="needs a model of whole tables"):
        build()


def test_only_columns_that_are_asked_about_are_simulated_where_there_are_many(release, monkeypatch):
    every = answered(release, mean_pay)
    monkeypatch.setattr(known, "_FEW", 0)
    here = Known.of(opened(release), given=False, source=Source(1))
    reduced = here._reaching(asked("share(region == 'N')", SCHEMA))
    assert {"weight", "region"} <= set(reduced.in_turn.structure.order)
    assert answered(release, mean_pay) == pytest.approx(every, abs=0.5)
