import math

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.errors import BadInput
from understudy.mechanisms import (
    BY_NAME,
    CensorUw,
    CensorW,
    PerturbedHistogram,
    Unweighted,
    Weighted,
    WeightedE,
    make_mechanism,
)
from understudy.mechanisms.weights import truncated, weights_from_risk
from understudy.privacy.guarantee import Adjacency, Kind, Weights

RISK = jnp.asarray([0.5, 1.0, 2.0, 6.0, jnp.inf])


@pytest.mark.parametrize(
    ("mechanism", "kind", "weights", "bound"),
    [
        (Unweighted(), Kind.NONE, Weights.NONE, math.inf),
        (Weighted(), Kind.ASYMPTOTIC, Weights.SAME_DATA, math.inf),
        (WeightedE(epsilon=4.0), Kind.ASYMPTOTIC, Weights.SAME_DATA, math.inf),
        (CensorUw(epsilon=4.0), Kind.STRICT, Weights.NONE, 2.0),
        (CensorUw(epsilon=4.0, adjacency="replace-one"), Kind.STRICT, Weights.NONE, 1.0),
        (CensorW(epsilon=4.0), Kind.ASYMPTOTIC, Weights.SAME_DATA, 2.0),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_each_mechanism_is_its_row_of_the_table(mechanism, kind, weights, bound):
    assert (mechanism.kind, mechanism.weights, mechanism.bound) == (kind, weights, bound)


def test_unweighted_rows_count_every_record_in_full():
    for mechanism in (Unweighted(), CensorUw(epsilon=1.0)):
        assert np.asarray(mechanism.alpha(RISK)).tolist() == [1.0] * 5


def test_weighted_rows_scale_and_shift_the_risk():
    expected = np.asarray(weights_from_risk(RISK, c1=0.8, c2=0.1))
    for mechanism in (Weighted(c1=0.8, c2=0.1), CensorW(epsilon=1.0, c1=0.8, c2=0.1)):
        assert np.array_equal(mechanism.alpha(RISK), expected)


@pytest.mark.parametrize(("adjacency", "threshold"), [("add-remove", 1.5), ("replace-one", 0.75)])
def test_weighted_e_drops_records_at_half_of_epsilon(adjacency, threshold):
    mechanism = WeightedE(epsilon=3.0, adjacency=adjacency)
    weighted = weights_from_risk(RISK, c1=1.0, c2=0.0)
    expected = truncated(weighted, RISK, bound=threshold)
    assert np.array_equal(mechanism.alpha(RISK), expected)


def test_every_mechanism_that_is_not_strict_says_why_in_one_sentence():
    for mechanism in (Unweighted(), Weighted(), WeightedE(epsilon=1.0), CensorW(epsilon=1.0)):
        assert mechanism.reason.endswith(".")
        assert mechanism.reason.count(". ") == 0
    assert CensorUw.reason is None


def test_privacy_arguments_are_keyword_only():
    for mechanism in (CensorUw, CensorW, WeightedE, PerturbedHistogram):
        with pytest.raises(TypeError):
            mechanism(1.0)


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("censor-uv", {"epsilon": 1.0}, r"no mechanism 'censor-uv' \(did you mean 'censor-uw'\?\)"),
        ("Censor_W", {"epsilon": 1.0}, "did you mean 'censor-w'"),
        ("censor-uw", {}, "needs `epsilon`"),
        ("censor-uw", {"epsilon": 1.0, "c1": 0.5}, "no option 'c1'"),
        ("unweighted", {"bins": "ln"}, "no option 'bins'"),
        ("censor-w", {"epsilon": 1.0, "c1": math.nan}, "c1 must be a finite number"),
        ("censor-w", {"epsilon": 1.0, "c1": -1.0}, "c1 must not be negative"),
        ("censor-w", {"epsilon": 1.0, "c2": math.inf}, "c2 must be a finite number"),
        ("ph", {"epsilon": 1.0, "bins": "log"}, "bins must be 'sqrt', 'ln' or a number"),
        ("ph", {"epsilon": 1.0, "bins": "0"}, "bins must be"),
        ("ph", {"epsilon": 1.0, "adjacency": "swap"}, "adjacency must be"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(name, arguments, reason):
    with pytest.raises(BadInput, match=reason):
        make_mechanism(name, **arguments)


def test_mechanisms_without_a_target_take_no_notice_of_epsilon():
    assert make_mechanism("unweighted", epsilon=3.0) == Unweighted()
    assert make_mechanism("weighted", epsilon=3.0, c1=0.8) == Weighted(c1=0.8)


def test_every_name_makes_a_mechanism():
    for name in BY_NAME:
        mechanism = make_mechanism(name, epsilon=1.0, adjacency="replace-one")
        assert mechanism.name == name
        assert mechanism.adjacency is Adjacency.REPLACE_ONE
