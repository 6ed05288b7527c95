"""Guarantees on a grid: the largest log-ratio between posteriors of neighbouring tables.

The grid is fixed, so a posterior is a finite list of probabilities, and a guarantee is a statement
about the largest ratio between two such lists.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.mechanisms import CensorUw, CensorW, Unweighted
from understudy.mechanisms.fitting import DRAWS, first_row
from understudy.mechanisms.plan import staged
from understudy.models.beta import beta
from understudy.privacy.guarantee import Adjacency
from understudy.samplers.lipschitz import reach
from understudy.samplers.quadrature import quadrature
from understudy.score import Row, log_target

UNIT = Schema.from_dict(
    {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
)
MODEL = beta(UNIT)
SIDE = np.linspace(-8, 8, 81)
GRID = jnp.asarray(np.stack(np.meshgrid(SIDE, SIDE, indexing="ij"), axis=-1).reshape(-1, 2))


@jax.jit
def log_posterior(data, row):
    heights = jax.lax.map(lambda z: log_target(MODEL, z, data, row), GRID, batch_size=256)
    return heights - jax.scipy.special.logsumexp(heights)


def posterior(values, alpha, bound):
    row = Row(jnp.asarray(alpha), jnp.zeros(len(values)), jnp.asarray(float(bound)))
    return np.asarray(log_posterior(MODEL.prepare({"x": np.asarray(values)}), row))


def largest_log_ratio(one, other, bound):
    """Add-remove neighbours are padded with a record of weight zero, which scores nothing."""
    return np.max(np.abs(posterior(*one, bound) - posterior(*other, bound)))


RECORD = st.sampled_from([0.0, 1.0, 1e-300, 1e-12, 1 - 1e-12]) | st.floats(0, 1)


@given(st.lists(RECORD, min_size=9, max_size=9), RECORD, RECORD, st.sampled_from([0.25, 1.0, 2.5]))
def test_no_neighbour_of_any_table_breaks_the_theorem(others, old, new, bound):
    promised = staged((bound,), 1, asked=2 * bound, under=Adjacency.ADD_REMOVE)
    with_old = ([*others, old], np.ones(10))
    with_new = ([*others, new], np.ones(10))
    without = ([*others, old], np.r_[np.ones(9), 0.0])
    slack = 1e-9
    removed = largest_log_ratio(with_old, without, bound)
    replaced = largest_log_ratio(with_old, with_new, bound)
    assert removed <= promised[Adjacency.ADD_REMOVE].epsilon + slack
    assert replaced <= promised[Adjacency.REPLACE_ONE].epsilon + slack


def extreme_neighbours(bound):
    """Log-ratios for removing and for replacing a record that the rest of the table resembles."""
    others = np.random.default_rng(0).beta(0.2, 4, 2000)
    ones, absent = np.ones(2001), np.r_[np.ones(2000), 0.0]
    low, high = np.r_[others, 1e-12], np.r_[others, 1 - 1e-12]
    removed = largest_log_ratio((high, ones), (high, absent), bound)
    replaced = largest_log_ratio((low, ones), (high, ones), bound)
    return removed, replaced


@pytest.mark.parametrize("epsilon", [5.0, 1.0])
def test_both_constants_are_best_possible(epsilon):
    removed, replaced = extreme_neighbours(CensorUw(epsilon=epsilon).bound)
    assert removed == pytest.approx(epsilon, rel=1e-3)
    assert replaced == pytest.approx(2 * epsilon, rel=1e-3)


def test_asking_for_epsilon_under_replace_one_gives_it():
    removed, replaced = extreme_neighbours(CensorUw(epsilon=5.0, adjacency="replace-one").bound)
    assert removed == pytest.approx(2.5, rel=1e-3)
    assert replaced == pytest.approx(5.0, rel=1e-3)


def test_without_a_bound_one_record_can_do_anything():
    skewed = np.random.default_rng(0).beta(0.5, 3, 50)
    absent = np.r_[np.ones(50), 0.0]
    table = np.r_[skewed, 1 - 1e-12]
    assert largest_log_ratio((table, np.ones(51)), (table, absent), math.inf) > 100


@pytest.mark.slow
def test_weights_from_the_same_data_break_epsilon_although_every_score_is_bounded():
    """One extreme record moves every other record's weight, and with them the whole posterior.

    A ratio of at most e^3 would leave the two posteriors overlapping almost everywhere; their
    centres move apart by more than six standard deviations.
    """
    mechanism = CensorW(epsilon=3.0)
    table = np.random.default_rng(1).beta(0.5, 3, 2000)
    table = table[(table > 0.01) & (table < 0.7)]

    def target(values):
        data = MODEL.prepare({"x": values})
        plain = first_row(MODEL, data, Unweighted())
        draws = quadrature(MODEL, data, plain).draws(np.random.default_rng(5), DRAWS)
        alpha = mechanism.alpha(reach(MODEL, jnp.asarray(draws), data, plain).risk)
        return quadrature(MODEL, data, plain._replace(alpha=alpha, bound=mechanism.bound))

    one, other = target(table), target(np.r_[table, 1 - 1e-9])
    centres = [posterior.mean(posterior.nodes) for posterior in (one, other)]
    spread = np.maximum(one.sd(one.nodes), other.sd(other.nodes))
    assert np.max(np.abs(centres[0] - centres[1]) / spread) > 6
