"""Whole-number sums of anchored scores: one record's part of them, to the last bit."""

import math

import numpy as np
import pytest

from skewed import DATA, MODEL, NEAR, VALUES, N
from understudy.mechanisms.anchored import Stage
from understudy.mechanisms.ladder import anchored_row
from understudy.samplers.exact import UNIT, exact_draw, summed_scores
from understudy.samplers.proposals import (
    Proposal,
)
from understudy.samplers.quadrature import quadrature
from understudy.support.randomness import Source

Z = NEAR + 0.3 * np.random.default_rng(0).normal(size=(70, 2))


def test_one_record_changes_a_sum_by_at_most_the_bound_to_the_last_bit():
    """Wherever the record stands, and whichever chunks the others fall into."""
    bound = 0.4
    largest = math.floor(bound * UNIT)
    generator = np.random.default_rng(1)
    for extra in (0.0, 1.0, 1e-300, 1e-12, 0.99, 0.3):
        place = int(generator.integers(N + 1))
        more = MODEL.prepare({"x": np.insert(VALUES, place, extra)})
        stage = Stage(0.3, bound / 0.3)
        before = summed_scores(MODEL, Z, DATA, anchored_row(MODEL, NEAR, DATA, stage))
        after = summed_scores(MODEL, Z, more, anchored_row(MODEL, NEAR, more, stage))
        alone = MODEL.prepare({"x": np.array([extra])})
        own = summed_scores(MODEL, Z, alone, anchored_row(MODEL, NEAR, alone, stage))
        assert np.all(np.abs(own) <= largest)
        assert np.array_equal(after - before, own)


def test_order_and_chunks_do_not_matter():
    shuffled = np.random.default_rng(2).permutation(np.tile(VALUES, 3))
    tripled = MODEL.prepare({"x": shuffled})
    stage = Stage(0.3, 1.3)
    three = summed_scores(MODEL, Z, tripled, anchored_row(MODEL, NEAR, tripled, stage))
    one = summed_scores(MODEL, Z, DATA, anchored_row(MODEL, NEAR, DATA, stage))
    assert np.array_equal(three, 3 * one)


@pytest.mark.parametrize("seed", [None, 1], ids=["opendp", "seeded"])
def test_candidates_are_picked_in_proportion_to_the_exponential_of_their_scores(seed):
    from understudy.samplers.exact import _pick

    scores = np.array([0, UNIT, -UNIT, 2 * UNIT])
    expected = np.exp(scores / UNIT) / np.exp(scores / UNIT).sum()
    source = Source(seed)
    picks = np.bincount([_pick(scores, source) for _ in range(4000)], minlength=4)
    # Four standard errors and OpenDP's own randomness: a false alarm once in ten thousand runs.
    spread = np.sqrt(4000 * expected * (1 - expected))
    assert np.all(np.abs(picks - 4000 * expected) < 4.5 * spread)


def rows_of(theta_z, bound=0.4, alpha=0.3):
    return anchored_row(MODEL, theta_z, DATA, Stage(alpha, bound / alpha))


def test_many_candidates_give_the_target():
    """The weighted candidates have the moments that quadrature finds."""
    row = rows_of(NEAR)
    proposal = Proposal(NEAR, 0.3 * np.eye(2))
    chosen = exact_draw(MODEL, DATA, row, proposal, Source(5), candidates=20_000)
    exact = quadrature(MODEL, DATA, row)
    mean = chosen.probabilities @ chosen.candidates
    spread = exact.sd(exact.nodes)
    assert chosen.effective_candidates > 1000
    assert np.all(np.abs(mean - exact.mean(exact.nodes)) < 0.15 * spread)
    sd = np.sqrt(chosen.probabilities @ (chosen.candidates - mean) ** 2)
    np.testing.assert_allclose(sd, spread, rtol=0.15)
