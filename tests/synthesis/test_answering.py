"""Questions to a release: answers are near the truth, about the right people, or refused."""

import json

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import PUBLIC, SHARE, schema_of
from understudy.synthesis.answering import headlines

N = 2000
AGE = {"role": "public", "type": "integer", "bounds": [0, 99]}
SCHEMA = schema_of(N, x=SHARE, g=PUBLIC, age=AGE)
REGRESSION = us.formula("x ~ g", family="beta", schema=SCHEMA)
BETA = us.beta(schema_of(N, x=SHARE))


def people(seed, size=N):
    generator = np.random.default_rng(seed)
    g = generator.integers(2, size=size)
    return pd.DataFrame(
        {
            "x": generator.beta(2 + g, 5),
            "g": np.array(["a", "b"])[g],
            "age": generator.integers(20, 70, size),
        }
    )


@pytest.fixture(scope="module")
def release():
    return us.synthesize(REGRESSION, people(1), us.Summary(epsilon=1.0), seed=1)


@pytest.fixture(scope="module")
def alone():
    table = pd.DataFrame({"x": np.random.default_rng(1).beta(2, 5, N)})
    return us.synthesize(BETA, table, us.Summary(epsilon=1.0), seed=1)


def test_answers_are_near_the_truth_and_about_as_wide_as_they_must_be(release):
    many = people(2, 400_000)
    truth = many.groupby("g")["x"].mean()
    found = {each.name: each for each in release.infer("mean(x) by g", seed=1).estimates}
    assert list(found) == ["a", "b", "b − a"]
    for name, true in [("a", truth["a"]), ("b", truth["b"]), ("b − a", truth["b"] - truth["a"])]:
        each = found[name]
        assert abs(each.estimate - true) < 4 * each.deviation
        sampling = many["x"].std() * np.sqrt((4 if "−" in name else 2) / N)
        assert 0.8 * sampling < each.deviation < 1.5 * sampling
        assert 0 <= each.privacy_share < 0.5


def test_the_population_is_asked_unless_the_predictors_are_given(release):
    """Of a public column all is known, but only of those who are in the table."""
    (population,) = release.infer("mean(age)", seed=1).estimates
    (given,) = release.infer("mean(age)", given_predictors=True, seed=1).estimates
    ages = release.synthetic["age"].astype(float)
    assert given.lower == given.upper == pytest.approx(ages.mean())
    assert population.deviation == pytest.approx(ages.std() / np.sqrt(N), rel=0.15)
    assert population.privacy_share < 0.05


def test_a_directory_and_a_release_say_the_same(release, tmp_path):
    public = release.write(tmp_path / "out") / "public"
    here = release.infer("median(x)", seed=5)
    there = us.infer(public, "median(x)", seed=5)
    assert here.to_dict() == there.to_dict()
    assert here.about == "the population that the records are a sample of"


def test_a_higher_level_is_a_wider_interval(alone):
    (low,), (high,) = (alone.infer("mean(x)", level=p, seed=1).estimates for p in (0.5, 0.99))
    assert high.lower < low.lower < low.estimate < low.upper < high.upper
    # 2.58 and 0.67 standard deviations, as far as 400 draws tell.
    assert 2.9 < (high.upper - high.lower) / (low.upper - low.lower) < 5.3


def test_any_function_of_a_table_can_be_asked(alone):
    def middle(frame):
        assert list(frame.columns) == ["x"]
        return {"mean": frame["x"].mean(), "spread": frame["x"].std()}

    found = {each.name: each for each in alone.infer(middle, seed=1).estimates}
    (same,) = alone.infer("mean(x)", seed=1).estimates
    assert found["mean"].estimate == pytest.approx(same.estimate, abs=same.deviation / 3)
    assert abs(found["spread"].estimate - np.sqrt(10 / 49 / 8)) < 5 * found["spread"].deviation


def test_a_regression_is_that_of_the_population(release):
    found = release.infer("x ~ g", seed=1)
    assert found.regression
    names = [each.name for each in found.estimates]
    assert names == ["Intercept", "g[T.b]"]
    truth = people(2, 400_000).groupby("g")["x"].mean()
    slope = found.estimates[1]
    assert abs(slope.estimate - (truth["b"] - truth["a"])) < 4 * slope.deviation


def test_what_the_check_says_is_passed_on(alone):
    contents = alone.parameters[0]
    doubted = contents | {"check": contents["check"] | {"warning": "It does not fit."}}
    other = us.Release(alone.guarantee, alone.tables, (doubted,))
    assert alone.infer("mean(x)").warnings == ()
    assert us.infer(other, "mean(x)").warnings == ("It does not fit.",)


def test_a_group_that_no_table_has_is_told_of():
    schema = schema_of(N, x=SHARE, g=PUBLIC | {"levels": ["a", "b", "c"]}, age=AGE)
    model = us.formula("x ~ age", family="beta", schema=schema)
    release = us.synthesize(model, people(1), us.Summary(epsilon=1.0), seed=1)
    found = release.infer("mean(x) by g", seed=1)
    assert found.to_dict()["estimates"][2]["estimate"] is None
    assert any("'c' could not be told" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("mean(y)", "y"),
        ("share(g == 'z')", "no level 'z'"),
        ("__import__('os').getcwd()", "os"),
        ("x ~ __import__('os')", "os"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(release, question, words):
    with pytest.raises(us.BadInput, match=words):
        release.infer(question)


def test_what_makes_no_intervals_is_refused():
    table = people(1)[["x"]]
    with pytest.raises(us.Refused, match="no intervals are known"):
        us.synthesize(BETA, table, us.Unweighted(), seed=1, accept_poor_mixing=True).infer(
            "mean(x)"
        )
    schema = us.Schema.from_dict(
        {
            "table": {"size": 1000, "rows_per_unit": 2},
            "columns": {"x": SHARE, "who": {"role": "unit"}},
        }
    )
    units = table.assign(who=np.arange(N) // 2)
    release = us.synthesize(us.beta(schema), units, us.Summary(epsilon=1.0), seed=1)
    with pytest.raises(us.Refused, match="hang together"):
        release.infer("mean(x)")


@pytest.mark.parametrize("level", [0, 1, 95, "0.95", True, None])
def test_a_level_is_between_none_and_all(alone, level):
    with pytest.raises(us.BadInput, match="`level`"):
        alone.infer("mean(x)", level=level)


def test_two_questions_are_not_one(release):
    with pytest.raises(us.BadInput, match="leave out one"):
        release.infer("mean(x)", given_predictors=True, finite=True)


@pytest.mark.parametrize("key", ["draws", "estimate", "population", "rounds"])
def test_damage_is_told(alone, tmp_path, key):
    public = alone.write(tmp_path / "out") / "public"
    file = public / "parameters.json"
    contents = json.loads(file.read_text())
    contents[key] = [{"phi": 2.0}] if key != "population" else None
    file.write_text(json.dumps(contents))
    with pytest.raises(us.BadInput, match=r"damaged|make the release again"):
        us.infer(public, "mean(x)")


def test_a_release_with_too_few_draws_for_the_card_has_no_intervals_there(alone, monkeypatch):
    assert headlines(alone)
    monkeypatch.setitem(alone.parameters[0], "draws", alone.parameters[0]["draws"][:10])
    assert headlines(alone) == ()
