"""A replicate: its fits against the library, its numbers against the paper's."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.mechanisms import CensorUw, CensorW, Weighted, WeightedE
from understudy.mechanisms.fitting import DRAWS
from understudy.samplers.lipschitz import censored_records, lipschitz_bound, reach
from understudy.samplers.quadrature import quadrature, target_heights
from understudy.score import Row
from understudy.study import paper
from understudy.study.replicate import begun, explore, heights, paper_rows, replicate, risks
from understudy.study.synthesisers import study_model
from understudy.support.randomness import Source

R = 8
SEED = 11
MODEL = study_model()
DATA = MODEL.prepare({"x": np.random.default_rng(0).beta(0.5, 3, 300)})


def of(replicates, mechanism, statistic, *, epsilon=None, c1=None):
    """The values of one statistic of one arm, in the order of the replicates."""
    chosen = replicates[(replicates.mechanism == mechanism) & (replicates.statistic == statistic)]
    if epsilon is not None:
        chosen = chosen[chosen.epsilon == epsilon]
    if c1 is not None:
        chosen = chosen[chosen.c1 == c1]
    assert len(chosen) == R
    return chosen.sort_values("replicate")["value"].to_numpy()


def test_bounds_and_counts_are_those_of_the_library():
    values = np.random.default_rng(3).beta(0.5, 3, paper.N)
    data = MODEL.prepare({"x": values})
    mechanisms = [Weighted(), CensorW(epsilon=4.0), CensorUw(epsilon=3.0)]
    for fit in explore(values, mechanisms, Source(1), "quadrature"):
        seen = reach(MODEL, jnp.asarray(fit.draws), data, fit.row)
        assert fit.reached.max() == pytest.approx(lipschitz_bound(seen), rel=1e-12)
        counted = np.sum(fit.reached >= float(fit.row.bound))
        # A record within rounding of the bound may fall on either side of it.
        assert abs(counted - censored_records(seen, fit.row)) <= 1


def test_a_search_that_begins_nearby_ends_where_a_search_from_far_away_does():
    values = np.random.default_rng(4).beta(0.5, 3, paper.N)
    data = MODEL.prepare({"x": values})
    mechanisms = [WeightedE(epsilon=3.0), CensorUw(epsilon=3.0), CensorW(epsilon=3.0)]
    for fit in explore(values, mechanisms, Source(1), "quadrature")[1:]:
        truth = quadrature(MODEL, data, fit.row)
        sd = truth.sd(truth.nodes)
        # Four standard errors of a mean of 1000 draws.
        off = np.abs(fit.draws.mean(axis=0) - truth.mean(truth.nodes))
        assert np.all(off < 4 * sd / math.sqrt(len(fit.draws)))
        assert np.all(np.abs(fit.draws.std(axis=0) / sd - 1) < 4 / math.sqrt(2 * 1000) + 0.01)


class TestAgainstThePaper:
    """Tolerances are four standard errors of a mean over R replicates, from the paper's sds."""

    def test_lipschitz_bounds_lie_in_the_paper_s_ranges(self, replicates):
        unweighted = of(replicates, "unweighted", "lipschitz_bound")
        weighted = of(replicates, "weighted", "lipschitz_bound", c1=1.0)
        assert 6 < unweighted.min() <= unweighted.max() < 17
        assert 1.7 < weighted.min() <= weighted.max() < 3.8

    @pytest.mark.parametrize(
        ("mechanism", "epsilon"),
        [key for key in paper.TABLE_1 if key[0] != "censor-w"],
        ids=str,
    )
    def test_counts_have_the_means_of_table_1(self, replicates, mechanism, epsilon):
        printed = paper.TABLE_1[mechanism, epsilon]
        c1 = 1.0 if mechanism == "weighted-e" else None
        ours = of(replicates, mechanism, "records", epsilon=epsilon, c1=c1)
        assert abs(ours.mean() - printed.mean) < 4 * printed.sd / math.sqrt(R)

    @pytest.mark.parametrize("epsilon", paper.EPSILONS)
    def test_censoring_bounds_are_never_passed(self, replicates, epsilon):
        for mechanism, c1 in (("censor-w", 1.0), ("censor-uw", None)):
            bounds = of(replicates, mechanism, "lipschitz_bound", epsilon=epsilon, c1=c1)
            assert np.all(bounds <= epsilon / 2)

    @pytest.mark.parametrize("epsilon", paper.EPSILONS)
    def test_utility_falls_from_weighted_to_censor_w_to_censor_uw(self, replicates, epsilon):
        """On average; Weighted and Censor_w at ε = 5 are nearly the same, so their difference is
        allowed four standard errors."""
        weighted = of(replicates, "weighted", "max_ecdf", c1=1.0)
        censor_w = of(replicates, "censor-w", "max_ecdf", epsilon=epsilon, c1=1.0)
        censor_uw = of(replicates, "censor-uw", "max_ecdf", epsilon=epsilon)
        error = (censor_w - weighted).std(ddof=1) / math.sqrt(R)
        assert weighted.mean() <= censor_w.mean() + 4 * error
        assert np.median(censor_w) < np.median(censor_uw)

    def test_downscaling_lowers_lipschitz_bounds_in_every_replicate(self, replicates):
        for mechanism, epsilon in (("weighted", None), ("weighted-e", 4.0), ("censor-w", 4.0)):
            full = of(replicates, mechanism, "lipschitz_bound", epsilon=epsilon, c1=1.0)
            less = of(replicates, mechanism, "lipschitz_bound", epsilon=epsilon, c1=0.8)
            assert np.all(less <= full)
            assert less.mean() < full.mean()

    def test_anchored_is_as_good_as_no_privacy_and_ph_with_few_bins_the_worst_but_one(
        self, replicates
    ):
        without = of(replicates, "unweighted", "max_ecdf")
        error = without.std(ddof=1) / math.sqrt(R)
        for epsilon in paper.EPSILONS:
            for mechanism in ("anchored-history", "anchored-ladder", "summary"):
                ours = of(replicates, mechanism, "max_ecdf", epsilon=epsilon).mean()
                assert ours < without.mean() + 4 * math.sqrt(2) * error
            assert of(replicates, "ph", "max_ecdf", epsilon=epsilon).mean() > 0.1


@pytest.mark.slow
def test_quadrature_and_nuts_agree_on_the_same_replicate():
    """The same table and the same rows; means within 0.2 sd, sds within 15 %."""
    values = np.random.default_rng(5).beta(0.5, 3, paper.N)
    mechanisms = [Weighted(), CensorUw(epsilon=3.0), CensorW(epsilon=4.0)]
    grids = explore(values, mechanisms, Source(1), "quadrature")
    chains = explore(values, mechanisms, Source(2), "nuts")
    for grid, chain in zip(grids, chains, strict=True):
        assert chain.converged
        sd = grid.draws.std(axis=0)
        assert np.all(np.abs(grid.draws.mean(axis=0) - chain.draws.mean(axis=0)) < 0.2 * sd)
        assert np.all(np.abs(chain.draws.std(axis=0) / sd - 1) < 0.15)
        assert chain.reached.max() == pytest.approx(grid.reached.max(), rel=0.05)


@pytest.mark.slow
def test_the_study_by_chains_sees_the_same_table_and_says_which_fits_converged():
    chains = replicate(3, seed=SEED, sampler="nuts")
    grids = replicate(3, seed=SEED)

    def data(rows):
        return [(row.statistic, row.value) for row in rows if row.mechanism == "data"]

    assert data(chains) == data(grids)
    assert len(grids) == len(chains) - 14
    assert {row.value for row in chains if row.statistic == "converged"} <= {0.0, 1.0}


def test_chains_that_failed_are_said_to_have_failed(monkeypatch):
    """The chains are made up, as real ones take a minute; the slow test above has those."""
    generator = np.random.default_rng(1)
    judged = iter([True, False] * 7)

    def chains(*_):
        failing = next(judged)
        draws = generator.normal([-1.7, 1.1], 0.02, size=(DRAWS, MODEL.dimension))
        return SimpleNamespace(
            convergence=SimpleNamespace(failing=lambda: ["phi"] if failing else []),
            thinned=lambda count: draws[:count],
        )

    monkeypatch.setattr("understudy.study.replicate.nuts", chains)
    rows = replicate(3, seed=SEED, sampler="nuts")
    assert [row.value for row in rows if row.statistic == "converged"] == [0.0, 1.0] * 7
    data = [row for row in replicate(3, seed=SEED) if row.mechanism == "data"]
    assert repr([row for row in rows if row.mechanism == "data"]) == repr(data)


def test_the_paper_has_eleven_bayesian_fits_a_replicate():
    source, values = begun(1, SEED)
    fits = explore(values, paper_rows(), source, "quadrature")
    assert len({(fit.mechanism.name, getattr(fit.mechanism, "target", None)) for fit in fits}) == 11


@pytest.mark.parametrize("bound", [math.inf, 2.5, 0.3])
def test_the_fast_heights_are_those_of_the_equation(bound):
    generator = np.random.default_rng(1)
    nodes = jnp.asarray(generator.normal(size=(37, 2)) * 2)
    row = Row(
        jnp.asarray(generator.uniform(size=300)),
        jnp.asarray(generator.normal(size=300)),
        jnp.asarray(bound),
    )
    fast = heights(MODEL, nodes, DATA, row)
    generic = target_heights(MODEL, nodes, DATA, row)
    np.testing.assert_allclose(fast, generic, rtol=1e-12, atol=1e-9)


def test_the_fast_risks_are_those_of_the_stream_over_draws():
    draws = jnp.asarray(np.random.default_rng(2).normal(size=(2, 50, 2)))
    plain = Row(jnp.ones(300), jnp.zeros(300), jnp.asarray(math.inf))
    for one, risk in zip(draws, risks(MODEL, draws, DATA), strict=True):
        np.testing.assert_allclose(risk, reach(MODEL, one, DATA, plain).risk, rtol=1e-12)
