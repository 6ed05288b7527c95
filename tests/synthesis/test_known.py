"""What is known from a release: whose rows it has, and how much they tell of others."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import SHARE, schema_of
from synthesis.test_answering import REGRESSION, N, people
from understudy.questions import asked
from understudy.support.randomness import Source
from understudy.synthesis.known import Known
from understudy.synthesis.opening import opened

AGE = asked("mean(age)", REGRESSION.schema)


def known(release, **given):
    return Known.of(opened(release), given=given.get("given", False), source=Source(2))


@pytest.mark.parametrize(
    ("options", "predictors"),
    [({}, "own"), ({"rows": 500}, "drawn"), ({"tables": 2, "rows": N}, "reweighted")],
)
def test_public_rows_tell_no_more_of_the_population_than_the_records_do(options, predictors):
    """Nor more than there are: 1/n and what drawing them adds."""
    release = us.synthesize(REGRESSION, people(1), us.Summary(epsilon=1.0), seed=1, **options)
    assert release.parameters[0]["population"] == {"size": N, "predictors": predictors}
    found = known(release).ask(AGE)
    more = {"own": 1 / N, "drawn": 1 / N + 1 / 500, "reweighted": 1 / N + (2 / N) / 2}[predictors]
    spread = people(1)["age"].std() * np.sqrt(more)
    assert found.values.std() == pytest.approx(spread, rel=0.2)


def test_rows_from_elsewhere_are_taken_as_they_are():
    other = people(9, 700)[["g", "age"]]
    mechanism = us.Summary(epsilon=1.0)
    release = us.synthesize(REGRESSION, people(1), mechanism, predictors=other, seed=1)
    assert release.parameters[0]["population"]["predictors"] == "separate"
    here = known(release)
    assert "if the records' are distributed alike" in here.about
    with pytest.raises(us.Refused, match="own public rows"):
        here.of_records(AGE, here.ask(AGE))
    assert here.ask(AGE).values.std() == pytest.approx(0, abs=1e-9)


def test_tables_are_simulated_beside_the_rows_that_are_given():
    release = us.synthesize(REGRESSION, people(1), us.Summary(epsilon=1.0), seed=1)
    here = known(release, given=True)
    made = here.simulated(here.thetas[0], here.whom.public, N)
    assert np.array_equal(made["age"], here.whom.public["age"])
    assert ((made["x"] >= 0) & (made["x"] <= 1)).all()
    assert here.about == "people with the predictors of the release"


BETA = us.beta(schema_of(N, x=SHARE))
RECORDS = pd.DataFrame({"x": np.random.default_rng(4).beta(2, 5, N)})
QUESTION = asked("mean(x)", BETA.schema)


def test_a_histogram_says_how_far_it_is_off():
    release = us.synthesize(BETA.schema, RECORDS, us.PerturbedHistogram(epsilon=0.2), seed=1)
    here = known(release)
    found = here.ask(QUESTION)
    (share,) = here.shares(QUESTION, found)
    assert abs(found.values.mean() - 2 / 7) < 4 * found.values.std()
    assert found.values.std() > 1.2 * RECORDS["x"].std() / np.sqrt(N)
    assert 0.1 < share < 1
    with pytest.raises(us.Refused, match="only summary"):
        here.of_records(QUESTION, found)


@pytest.mark.slow
def test_an_exact_draw_says_how_far_it_is_off():
    anchored = us.Anchored(epsilon=1.0)
    release = us.synthesize(BETA, RECORDS, anchored, sampler="exact", seed=1)
    here = known(release)
    found = here.ask(QUESTION)
    (share,) = here.shares(QUESTION, found)
    assert abs(found.values.mean() - 2 / 7) < 4 * found.values.std()
    assert 0.1 < share < 1


def test_mechanisms_whose_draws_say_nothing_are_refused():
    release = us.synthesize(BETA, RECORDS, us.Summary(epsilon=1.0), seed=1)
    (contents,) = release.parameters
    for name, words in (("censor-uw", "no intervals are known"), ("anchored", "does not say")):
        other = us.Release(release.guarantee, release.tables, (contents | {"mechanism": name},))
        with pytest.raises(us.Refused, match=words):
            known(other)
