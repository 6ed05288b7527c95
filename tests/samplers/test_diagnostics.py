"""The gate: what it names as failing, and which quantities it looks at."""

import numpy as np
import pytest

from small_models import groups, two_components
from understudy.samplers.diagnostics import (
    DIVERGENT,
    Convergence,
    public_points,
    renumbered_sizes,
    rhat_and_ess,
)


class TestConvergence:
    def test_rhat_and_ess_of_independent_chains(self):
        values = np.random.default_rng(0).normal(size=(4, 1000, 2))
        rhat, ess = rhat_and_ess(values)
        assert np.all(rhat < 1.01)
        assert np.all(ess > 3000)

    def test_a_chain_that_sits_elsewhere_fails(self):
        values = np.random.default_rng(0).normal(size=(4, 1000, 1))
        values[0] += 3
        rhat, _ = rhat_and_ess(values)
        assert rhat[0] > 1.01

    def test_a_quantity_that_never_changes_passes(self):
        rhat, ess = rhat_and_ess(np.ones((4, 100, 1)))
        assert (rhat[0], ess[0]) == (1.0, 400.0)

    def test_the_gate_names_what_fails(self):
        rhat, ess = np.array([1.0, 1.5, 1.0]), np.array([500.0, 500.0, 10.0])
        convergence = Convergence(("a", "b", "c"), rhat, ess, 0, 4000)
        assert convergence.failing() == ("b", "c")
        assert convergence.failing(smallest_ess=5) == ("b",)

    @pytest.mark.parametrize(("divergences", "failing"), [(40, ()), (41, (DIVERGENT,))])
    def test_more_than_one_divergence_in_a_hundred_draws_fails(self, divergences, failing):
        convergence = Convergence(("a",), np.ones(1), np.array([500.0]), divergences, 4000)
        assert convergence.failing() == failing

    def test_components_can_be_renumbered_and_groups_cannot(self):
        grouped, mixture = groups(), two_components()
        assert renumbered_sizes(grouped, public_points(grouped)) == frozenset()
        assert renumbered_sizes(mixture, public_points(mixture)) == {2}
        uneven = two_components((0.35, 0.65))
        assert renumbered_sizes(uneven, public_points(uneven)) == frozenset()
        assert set(np.asarray(public_points(grouped)["g"])) == set(range(9))
