"""Whose public rows a release has, and how much they tell of others."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import PUBLIC, SHARE, schema_of
from understudy.synthesis.whom import Whom

AGE = {"role": "public", "type": "integer", "bounds": [0, 99]}
SCHEMA = schema_of(1000, x=SHARE, g=PUBLIC, age=AGE)
N = 400


def whom(predictors, frames, size=N):
    contents = {"population": {"size": size, "predictors": predictors}}
    return Whom.of(
        SimpleNamespace(contents=contents, schema=SCHEMA, tables=tuple(frames), name="p.json")
    )


def people(generator, size=N):
    return pd.DataFrame(
        {"g": generator.choice(["a", "b"], size), "age": generator.integers(20, 70, size)}
    )


def reweighted(generator, frame, rows):
    return frame.sample(
        rows, replace=True, weights=generator.exponential(size=len(frame)), random_state=generator
    )


@pytest.mark.parametrize(
    ("predictors", "made"),
    [
        ("own", lambda g, frame: [frame]),
        ("drawn", lambda g, frame: [frame.sample(100, replace=True, random_state=g)]),
        ("reweighted", lambda g, frame: [reweighted(g, frame, 200) for _ in range(3)]),
    ],
)
def test_weights_vary_as_much_as_the_rows_are_off(predictors, made):
    """Of many samples: the error of their mean beside the spread that the weights give it."""
    generator = np.random.default_rng(1)
    errors, spreads = [], []
    for _ in range(60):
        here = whom(predictors, made(generator, people(generator)))
        ages = here.public["age"]
        errors.append(ages.mean() - 44.5)
        means = [
            here.rows(4000, generator, generator, given=False)["age"].mean() for _ in range(30)
        ]
        spreads.append(np.var(means))
    assert np.mean(np.square(errors)) == pytest.approx(np.mean(spreads), rel=0.45)


def test_rows_that_are_given_are_there_equally_often():
    generator = np.random.default_rng(2)
    frame = people(generator)
    for here, given in ((whom("own", [frame]), True), (whom("separate", [frame]), False)):
        rows = here.rows(1000, generator, generator, given=given)
        assert len(rows["age"]) == 3 * N
        assert rows["age"].mean() == pytest.approx(frame["age"].mean())


@pytest.mark.parametrize(
    "population",
    [
        {},
        {"size": "x", "predictors": "own"},
        {"size": 0, "predictors": "own"},
        {"size": -5, "predictors": "own"},
        {"size": 10**400, "predictors": "own"},
        {"size": float("nan"), "predictors": "own"},
        {"size": 1.5, "predictors": "own"},
        {"size": N, "predictors": None},
        {"size": N, "predictors": "magic"},
        {"size": N, "predictors": ["own"]},
        {"size": N + 1, "predictors": "own"},
        7,
        None,
    ],
)
def test_what_no_release_would_say_is_refused(population):
    frame = people(np.random.default_rng(3))
    published = SimpleNamespace(
        contents={"population": population}, schema=SCHEMA, tables=(frame,), name="p.json"
    )
    with pytest.raises(us.BadInput, match=r"damaged|make the release again"):
        Whom.of(published)
