"""Draws of θ after tempering, against a posterior that is added up over every possible table."""

import numpy as np
import pytest
import scipy.stats

from summaries import LOGISTIC
from understudy._jax import jnp
from understudy.inference.moments import Population
from understudy.inference.stages import TemperedStage
from understudy.inference.tempered import _in_all_nothing, draws_after_tempering
from understudy.samplers.proposals import Proposal
from understudy.support.randomness import Source

SIZE = 300
GRID = np.linspace(-8, 8, 3201)
PRIOR = np.array([float(LOGISTIC.log_prior_unconstrained(jnp.array([z]))) for z in GRID])


def stage(alpha, threshold, anchor, width, drawn, candidates=2048):
    proposal = Proposal(np.array([anchor]), np.array([[width]]))
    return TemperedStage(alpha, threshold, proposal, candidates, np.array([drawn]))


def population(known):
    return Population(LOGISTIC, {"g": np.arange(SIZE) % 2}, SIZE, known)


def sums(each, z):
    """Return the sum of the scores of tables with 0, 1, ... yeses, at each of the points."""
    yeses = np.arange(SIZE + 1)[:, None]
    anchor, bound = each.proposal.centre[0], each.alpha * each.threshold
    yes = each.alpha * (np.logaddexp(0, -anchor) - np.logaddexp(0, -z))
    no = each.alpha * (np.logaddexp(0, anchor) - np.logaddexp(0, z))
    return yeses * np.clip(yes, -bound, bound) + (SIZE - yeses) * np.clip(no, -bound, bound)


def picked(each, generator, sets):
    """Return how likely the draw is for each number of yeses, over many sets of candidates."""
    total = np.zeros(SIZE + 1)
    for _ in range(sets):
        others = each.proposal.draw(generator, each.candidates - 1)[:, 0]
        z = np.append(each.drawn, others)
        constant = np.interp(z, GRID, PRIOR, left=-1e9, right=-1e9)
        logs = sums(each, z) + constant - each.proposal.log_density(z[:, None])
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        total += weights[:, 0] / weights.sum(axis=1)
    return total / sets


def exact_posterior(stages, sets=50):
    """Return the posterior on the grid: a sum over every table, and over what is drawn from it."""
    generator = np.random.default_rng(9)
    likely = np.prod([picked(each, generator, sets) for each in stages], axis=0)
    tables = scipy.stats.binom.pmf(np.arange(SIZE + 1), SIZE, 1 / (1 + np.exp(-GRID[:, None])))
    posterior = np.exp(PRIOR) * (tables @ likely)
    return posterior / posterior.sum()


CLIMB = (stage(0.02, 2.0, 0.0, 2.0, 0.9), stage(0.3, 1.5, 0.9, 0.5, 0.6))
LITTLE = (stage(0.05, 2.0, 0.0, 2.0, 2.0),)
UNTEMPERED = (stage(1.0, 2.0, 0.9, 0.3, 1.0),)
OFF = (stage(0.3, 1.0, 0.3, 0.6, 0.9),)


@pytest.mark.parametrize(
    ("stages", "known"),
    [
        pytest.param(CLIMB, True, id="climb"),
        pytest.param(CLIMB, False, id="climb, other rows", marks=pytest.mark.slow),
        pytest.param(LITTLE, False, id="little told", marks=pytest.mark.slow),
        pytest.param(UNTEMPERED, True, id="not tempered", marks=pytest.mark.slow),
        pytest.param(OFF, True, id="anchor off"),
    ],
)
def test_mean_spread_and_tails_are_those_of_the_exact_posterior(stages, known):
    exact = exact_posterior(stages)
    mean = exact @ GRID
    spread = np.sqrt(exact @ (GRID - mean) ** 2)
    draws = draws_after_tempering(population(known), stages, Source(3), count=4000)[:, 0]
    assert draws.mean() == pytest.approx(mean, abs=0.2 * spread)
    assert draws.std() == pytest.approx(spread, rel=0.12)
    below = np.cumsum(exact)
    for level, slack in ((0.025, 0.04), (0.5, 0.08), (0.975, 0.04)):
        place = GRID[np.searchsorted(below, level)]
        assert np.mean(draws < place) == pytest.approx(level, abs=slack)


@pytest.mark.slow
def test_earlier_stages_say_something_too():
    """The same last draw, with a stage before it that was drawn much higher."""
    higher = stage(0.3, 1.5, 0.0, 1.0, 1.2), CLIMB[-1]
    alone, both = (
        draws_after_tempering(population(True), stages, Source(3), count=2000)
        for stages in (higher[1:], higher)
    )
    assert both.mean() > alone.mean() + 0.1
    assert both.std() < 0.9 * alone.std()


@pytest.mark.slow
def test_without_noise_draws_spread_as_the_known_table_would_let_them():
    draws = draws_after_tempering(population(True), CLIMB, Source(3), count=4000, noise=False)
    share = 1 / (1 + np.exp(-draws.mean()))
    precision = SIZE * share * (1 - share) + 1 / 2.5**2
    assert draws.std() == pytest.approx(precision**-0.5, rel=0.06)


@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_chance_varies_as_records_do_and_leaves_their_number(repeats):
    """Of all records, or of each public row: then the records of a row compete with each other."""
    generator = np.random.default_rng(0)
    often = np.tile(generator.uniform(0.5, 1.5, 10), (40_000, 1))
    if repeats > 1:
        rows = often.reshape(-1, repeats, 10 // repeats)
        often = (rows / rows.sum(axis=1, keepdims=True)).reshape(often.shape)
    chance = _in_all_nothing(np.sqrt(often) * generator.normal(size=often.shape), often, repeats)
    if repeats == 1:
        np.testing.assert_allclose(chance.sum(axis=1), 0, atol=1e-9)
        expected = np.diag(often[0]) - np.outer(often[0], often[0]) / often[0].sum()
    else:
        grouped = chance.reshape(-1, repeats, 10 // repeats)
        np.testing.assert_allclose(grouped.sum(axis=1), 0, atol=1e-9)
        same = np.equal.outer(np.arange(10) % (10 // repeats), np.arange(10) % (10 // repeats))
        expected = np.diag(often[0]) - np.outer(often[0], often[0]) * same
        expected *= repeats / (repeats - 1)
    np.testing.assert_allclose(np.cov(chance, rowvar=False), expected, atol=0.05)


@pytest.mark.slow
def test_ranks_of_the_truth_are_even():
    """θ from the prior, a table, one pick among candidates, and draws: all by chance."""
    generator, ranks = np.random.default_rng(4), []
    for number in range(60):
        (z,) = generator.choice(GRID, size=1, p=np.exp(PRIOR) / np.exp(PRIOR).sum())
        yeses = generator.binomial(SIZE, 1 / (1 + np.exp(-z)))
        climb, anchor, width = [], 0.0, 2.5
        for alpha in (0.02, 0.1):
            each = stage(alpha, 2.0, anchor, width, 0.0, candidates=1000)
            points = each.proposal.draw(generator, 1000)
            logs = sums(each, points[:, 0])[yeses] - each.proposal.log_density(points)
            logs += np.interp(points[:, 0], GRID, PRIOR, left=-1e9, right=-1e9)
            anchor = float(points[np.argmax(logs + generator.gumbel(size=1000)), 0])
            climb.append(stage(alpha, 2.0, *each.proposal.centre, width, anchor, candidates=1000))
            width = 1.0
        draws = draws_after_tempering(population(False), climb, Source(number), count=500)
        ranks.append(np.mean(draws < z))
    assert scipy.stats.kstest(ranks, "uniform").pvalue > 0.001
    assert np.mean((np.array(ranks) > 0.025) & (np.array(ranks) < 0.975)) > 0.85
