"""A lower bound from runs alone."""

import math

import numpy as np
import pytest

from understudy.audit import empirical_audit
from understudy.errors import BadInput

ONES, NEIGHBOUR = [1.0] * 10, [1.0] * 11


def laplace(scale):
    return lambda table, generator: float(sum(table) + generator.laplace(scale=scale))


def test_runs_bound_the_epsilon_of_the_laplace_mechanism_from_below():
    bound = empirical_audit(laplace(1.0), ONES, NEIGHBOUR, runs=20_000)
    assert 0.5 < bound <= 1.0
    assert 0.5 < empirical_audit(laplace(1.0), NEIGHBOUR, ONES, runs=20_000) <= 1.0


def test_runs_catch_noise_that_is_too_small():
    assert empirical_audit(laplace(0.25), ONES, NEIGHBOUR, runs=20_000) > 1.0


def test_runs_that_tell_nothing_apart_bound_nothing():
    assert empirical_audit(laplace(1.0), ONES, ONES, runs=1000) == 0.0
    assert empirical_audit(lambda *_: 0.0, ONES, NEIGHBOUR, runs=1000) == 0.0


def test_runs_that_tell_everything_apart_bound_as_much_as_their_number_allows():
    """Without privacy: every one of 500 against none of 500, each limit at 2.5 %."""
    bound = empirical_audit(lambda table, _: float(len(table)), ONES, NEIGHBOUR, runs=1000)
    smallest, largest = 0.025 ** (1 / 500), 1 - 0.025 ** (1 / 500)
    assert bound == pytest.approx(math.log(smallest / largest))


def test_the_bound_is_too_large_as_rarely_as_it_says():
    """At confidence 0.5 most bounds still hold, over 60 audits of a mechanism at its very ε."""

    def flip(table, generator):
        return float(generator.random() < (0.75 if len(table) == 11 else 0.25))

    bounds = [
        empirical_audit(flip, ONES, NEIGHBOUR, runs=400, confidence=0.5, seed=seed)
        for seed in range(60)
    ]
    passed = np.mean(np.array(bounds) > math.log(3))
    # 60 audits that fail independently half of the time pass 0.7 with a probability of 0.001.
    assert passed <= 0.7
    assert np.median(bounds) > 0.8


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"runs": 10}, "runs must be"),
        ({"runs": 1000, "confidence": 1.0}, "confidence must lie"),
    ],
)
def test_runs_without_sense_are_refused(arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        empirical_audit(laplace(1.0), ONES, NEIGHBOUR, **arguments)
    with pytest.raises(BadInput, match="gave no number"):
        empirical_audit(lambda *_: math.nan, ONES, NEIGHBOUR, runs=100)
