"""Mechanisms by name."""

from types import SimpleNamespace

import pytest

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms import (
    BY_NAME,
    Anchored,
    CensorUw,
    PerturbedHistogram,
    Unweighted,
    Weighted,
    make_mechanism,
)
from understudy.mechanisms.registry import (
    no_combining,
    resolve_sampler,
    spec_of,
    without_model,
)
from understudy.privacy.guarantee import Adjacency


def test_mechanisms_without_a_target_take_no_notice_of_epsilon():
    assert make_mechanism("unweighted", epsilon=3.0) == Unweighted()
    assert make_mechanism("weighted", epsilon=3.0, c1=0.8) == Weighted(c1=0.8)


def test_every_name_makes_a_mechanism():
    for name in BY_NAME:
        mechanism = make_mechanism(name, epsilon=1.0, adjacency="replace-one")
        assert mechanism.name == name
        assert mechanism.adjacency is Adjacency.REPLACE_ONE


BETA = SimpleNamespace(dimension=2, spec={"name": "beta"})
LARGE = SimpleNamespace(dimension=11, spec={"formula": "y ~ x"})


@pytest.mark.parametrize(
    ("asked", "mechanism", "model", "sampler"),
    [
        ("auto", Anchored(epsilon=1.0), BETA, "exact"),
        ("auto", Anchored(epsilon=1.0), LARGE, "nuts"),
        ("auto", CensorUw(epsilon=1.0), BETA, "nuts"),
        ("exact", CensorUw(epsilon=1.0), BETA, "exact"),
        ("auto", PerturbedHistogram(epsilon=1.0), None, "none"),
    ],
)
def test_the_sampler_suits_mechanism_and_model(asked, mechanism, model, sampler):
    assert resolve_sampler(asked, mechanism, model) == sampler


@pytest.mark.parametrize(
    ("asked", "mechanism", "model", "reason"),
    [
        ("gibbs", Weighted(), BETA, "there is no sampler 'gibbs'"),
        ("nuts", PerturbedHistogram(epsilon=1.0), None, "leave out `sampler`"),
        ("auto", Weighted(), None, "needs a model, not a schema"),
        ("exact", Weighted(), BETA, "exact draws serve anchored and censor-uw with up to 10"),
        ("exact", Anchored(epsilon=1.0), LARGE, "this is anchored with 11"),
        ("exact", CensorUw(epsilon=2001.0), BETA, "an `epsilon` up to 2000"),
    ],
)
def test_a_sampler_that_cannot_serve_is_refused(asked, mechanism, model, reason):
    with pytest.raises(BadInput, match=reason):
        resolve_sampler(asked, mechanism, model)


def test_a_spec_names_the_model_or_a_mechanism_that_has_none():
    histogram = PerturbedHistogram(epsilon=1.0)
    assert spec_of(histogram, None) == {"name": "ph"}
    assert spec_of(Weighted(), BETA) == {"name": "beta"}
    assert without_model({"name": "ph"}) is PerturbedHistogram
    for other in ({"name": "beta"}, {"name": "weighted"}, {"name": "ph", "more": 1}, {}):
        assert without_model(other) is None


NUMBER = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
WEIGHT = {"role": "survey-weight", "bounds": [0, 9], "average": 1}


@pytest.mark.parametrize("name", BY_NAME)
def test_only_draws_from_a_posterior_are_combined(name):
    schema = Schema.from_dict({"columns": {"x": NUMBER}})
    reason = no_combining({"mechanism": name, "balanced": False}, schema)
    assert (reason is None) is (name in ("summary", "unweighted"))
    assert "balanced" in no_combining({"mechanism": name, "balanced": True}, schema)
    assert no_combining({"mechanism": name}, schema) is not None
    weighted = Schema.from_dict({"columns": {"x": NUMBER, "w": WEIGHT}})
    assert no_combining({"mechanism": name, "balanced": False}, weighted) is not None
