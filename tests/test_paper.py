"""The paper's simulation (sections 4.1 and 4.2) on a few replicates, against its printed numbers.

Tolerances are four standard errors of a mean over R replicates, from the standard deviations in the
paper's Table 1. Fits are by quadrature.
"""

import math

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.fitting import DRAWS, first_row
from understudy.lipschitz import censored_records, lipschitz_bound, reach
from understudy.mechanisms import CensorUw, Unweighted, Weighted, WeightedE
from understudy.models.beta import beta
from understudy.samplers.quadrature import quadrature
from understudy.schema import Schema

R = 8
N = 2000
MODEL = beta(
    Schema.from_dict(
        {"columns": {"x": {"role": "confidential", "type": "continuous", "bounds": [0, 1]}}}
    )
)


def explored(data, row, seed):
    fit = quadrature(MODEL, data, row, points=65)
    draws = jnp.asarray(fit.draws(np.random.default_rng(seed), DRAWS))
    return reach(MODEL, draws, data, row)


@pytest.fixture(scope="module")
def replicates():
    """Lipschitz bounds and counts of each replicate, by mechanism."""
    found = []
    for r in range(R):
        data = MODEL.prepare({"x": np.random.default_rng(100 + r).beta(0.5, 3, N)})
        plain = first_row(MODEL, data, Unweighted())
        unweighted = explored(data, plain, r)
        weighted = explored(data, plain._replace(alpha=Weighted().alpha(unweighted.risk)), r)
        numbers = {
            "unweighted": lipschitz_bound(unweighted),
            "weighted": lipschitz_bound(weighted),
        }
        for epsilon in (5.0, 4.0, 3.0):
            row = first_row(MODEL, data, CensorUw(epsilon=epsilon))
            numbers["censored", epsilon] = censored_records(explored(data, row, r), row)
            dropped = WeightedE(epsilon=epsilon).alpha(unweighted.risk) == 0
            zero_already = Weighted().alpha(unweighted.risk) == 0
            numbers["truncated", epsilon] = int(jnp.sum(dropped & ~zero_already))
        found.append(numbers)
    return found


def test_lipschitz_bounds_lie_in_the_paper_s_ranges(replicates):
    assert all(6 < numbers["unweighted"] < 17 for numbers in replicates)
    assert all(1.7 < numbers["weighted"] < 3.8 for numbers in replicates)


@pytest.mark.parametrize(
    ("epsilon", "mean", "sd"), [(5, 247, 17.44), (4, 419, 26.73), (3, 809, 32.85)]
)
def test_censor_uw_censors_as_many_records_as_the_paper_s_table_1_says(
    replicates, epsilon, mean, sd
):
    ours = np.mean([numbers["censored", float(epsilon)] for numbers in replicates])
    assert abs(ours - mean) < 4 * sd / math.sqrt(R)


@pytest.mark.parametrize(
    ("epsilon", "mean", "sd"), [(5, 29, 48.8), (4, 195, 103.48), (3, 573, 60.62)]
)
def test_weighted_e_truncates_about_as_many_records_as_the_paper_s_table_1_says(
    replicates, epsilon, mean, sd
):
    ours = np.mean([numbers["truncated", float(epsilon)] for numbers in replicates])
    assert abs(ours - mean) < 4 * sd / math.sqrt(R)
