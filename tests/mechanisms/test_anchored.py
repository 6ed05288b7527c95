"""How the stages of anchored share ε, and from where they start."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from skewed import MODEL, TABLE


@given(st.floats(0.01, 20), st.integers(1, 10), st.integers(10, 10**7), st.sampled_from([0, 1]))
def test_stages_share_the_budget_and_grow(epsilon, dimension, size, steps):
    mechanism = us.Anchored(epsilon=epsilon, adjacency=["add-remove", "replace-one"][steps])
    stages = mechanism.ladder(size=size, dimension=dimension)
    spent = 2 * (1 + steps) * sum(stage.bound for stage in stages)
    assert spent <= epsilon * (1 + 1e-12)
    assert spent == pytest.approx(epsilon) or stages[-1].alpha == 1.0
    growth = mechanism.growth_for(dimension, exact=True)
    for before, after in itertools.pairwise(stages):
        assert after.alpha == pytest.approx(growth * before.alpha)
        assert after.threshold <= before.threshold <= 4


@given(st.floats(0.01, 20), st.integers(1, 500), st.integers(10, 10**7))
def test_every_stage_of_chains_has_a_record_for_each_parameter(epsilon, dimension, size):
    mechanism = us.Anchored(epsilon=epsilon)
    stages = mechanism.ladder(size=size, dimension=dimension, exact=False)
    assert len(stages) == 1 or stages[0].alpha * size >= dimension
    assert 2 * sum(stage.bound for stage in stages) <= epsilon * (1 + 1e-12)
    more = us.Anchored(epsilon=epsilon, stages=len(stages) + 1)
    first = more.ladder(size=size, dimension=dimension, exact=False)[0]
    assert len(stages) == 12 or first.alpha * size < dimension


def test_chains_with_an_anchor_need_no_ladder():
    mechanism = us.Anchored(epsilon=1.0, anchor={"phi": 0.5, "lambda": 2.0})
    assert len(mechanism.ladder(size=10**6, dimension=2, exact=False)) == 1


def test_everything_can_be_set():
    mechanism = us.Anchored(epsilon=1.0, threshold=2.0, stages=3, growth=7.0, candidates=99)
    stages = mechanism.ladder(size=10, dimension=2)
    assert len(stages) == 3
    assert stages[-1].threshold == 2.0
    assert stages[1].alpha == pytest.approx(7 * stages[0].alpha)
    assert mechanism.candidate_count(2) == 99


def test_an_anchor_and_a_reference_are_one_too_many():
    with pytest.raises(us.BadInput, match="leave out one"):
        us.Anchored(epsilon=1.0, anchor={"phi": 0.2}, reference=object())


@pytest.mark.parametrize(
    "anchor", [{"phi": 0.2}, {"phi": 2.0, "lambda": 3.0}, {"phi": "x", "lambda": 3.0}]
)
def test_an_anchor_that_is_no_value_of_the_parameters_is_refused(anchor):
    with pytest.raises(us.BadInput, match="not a value of the model's parameters"):
        us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0, anchor=anchor))
