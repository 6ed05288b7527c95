"""Anchored censoring, the ladder and exact draws: against brute force, and for their worth."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from understudy._jax import jax, jnp
from understudy.mechanisms.anchored import Stage
from understudy.mechanisms.ladder import anchored_row
from understudy.samplers.exact import UNIT, chunked_loglik, exact_draw, summed_scores
from understudy.samplers.proposals import (
    Proposal,
    fisher_information,
    posterior_proposal,
    prior_proposal,
)
from understudy.samplers.quadrature import quadrature
from understudy.score import Row, score
from understudy.support.randomness import Source
from understudy.utility import max_ecdf

COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
N = 2000
SCHEMA = us.Schema.from_dict({"table": {"size": N}, "columns": {"x": COLUMN}})
MODEL = us.beta(SCHEMA)
VALUES = np.random.default_rng(3).beta(0.5, 3, N)
DATA = MODEL.prepare({"x": VALUES})
NEAR = np.array([-1.8, 1.2])


def rows_of(theta_z, bound=0.4, alpha=0.3):
    return anchored_row(MODEL, theta_z, DATA, Stage(alpha, bound / alpha))


class TestPlan:
    @given(st.floats(0.01, 20), st.integers(1, 10), st.integers(10, 10**7), st.sampled_from([0, 1]))
    def test_stages_share_the_budget_and_grow(self, epsilon, dimension, size, steps):
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
    def test_every_stage_of_chains_has_a_record_for_each_parameter(self, epsilon, dimension, size):
        mechanism = us.Anchored(epsilon=epsilon)
        stages = mechanism.ladder(size=size, dimension=dimension, exact=False)
        assert len(stages) == 1 or stages[0].alpha * size >= dimension
        assert 2 * sum(stage.bound for stage in stages) <= epsilon * (1 + 1e-12)
        more = us.Anchored(epsilon=epsilon, stages=len(stages) + 1)
        first = more.ladder(size=size, dimension=dimension, exact=False)[0]
        assert len(stages) == 12 or first.alpha * size < dimension

    def test_chains_with_an_anchor_need_no_ladder(self):
        mechanism = us.Anchored(epsilon=1.0, anchor={"phi": 0.5, "lambda": 2.0})
        assert len(mechanism.ladder(size=10**6, dimension=2, exact=False)) == 1

    def test_everything_can_be_set(self):
        mechanism = us.Anchored(epsilon=1.0, threshold=2.0, stages=3, growth=7.0, candidates=99)
        stages = mechanism.ladder(size=10, dimension=2)
        assert len(stages) == 3
        assert stages[-1].threshold == 2.0
        assert stages[1].alpha == pytest.approx(7 * stages[0].alpha)
        assert mechanism.candidate_count(2) == 99

    def test_an_anchor_and_a_reference_are_one_too_many(self):
        with pytest.raises(us.BadInput, match="leave out one"):
            us.Anchored(epsilon=1.0, anchor={"phi": 0.2}, reference=object())


class TestExact:
    Z = NEAR + 0.3 * np.random.default_rng(0).normal(size=(70, 2))

    def test_sums_are_those_of_rounded_scores(self):
        row = rows_of(NEAR)
        expected = []
        for z in self.Z:
            loglik = MODEL.record_loglik(MODEL.constrain(jnp.asarray(z)), DATA)
            expected.append(np.sum(np.asarray(score(loglik, row))))
        ours = summed_scores(MODEL, self.Z, DATA, row) / UNIT
        np.testing.assert_allclose(ours, expected, atol=N / UNIT)

    def test_one_record_changes_a_sum_by_at_most_the_bound_to_the_last_bit(self):
        """Wherever the record stands, and whichever chunks the others fall into."""
        bound = 0.4
        largest = math.floor(bound * UNIT)
        generator = np.random.default_rng(1)
        for extra in (0.0, 1.0, 1e-300, 1e-12, 0.99, 0.3):
            place = int(generator.integers(N + 1))
            more = MODEL.prepare({"x": np.insert(VALUES, place, extra)})
            stage = Stage(0.3, bound / 0.3)
            before = summed_scores(MODEL, self.Z, DATA, anchored_row(MODEL, NEAR, DATA, stage))
            after = summed_scores(MODEL, self.Z, more, anchored_row(MODEL, NEAR, more, stage))
            alone = MODEL.prepare({"x": np.array([extra])})
            own = summed_scores(MODEL, self.Z, alone, anchored_row(MODEL, NEAR, alone, stage))
            assert np.all(np.abs(own) <= largest)
            assert np.array_equal(after - before, own)

    def test_order_and_chunks_do_not_matter(self):
        shuffled = np.random.default_rng(2).permutation(np.tile(VALUES, 3))
        tripled = MODEL.prepare({"x": shuffled})
        stage = Stage(0.3, 1.3)
        three = summed_scores(MODEL, self.Z, tripled, anchored_row(MODEL, NEAR, tripled, stage))
        one = summed_scores(MODEL, self.Z, DATA, anchored_row(MODEL, NEAR, DATA, stage))
        assert np.array_equal(three, 3 * one)

    @pytest.mark.parametrize("seed", [None, 1], ids=["opendp", "seeded"])
    def test_candidates_are_picked_in_proportion_to_the_exponential_of_their_scores(self, seed):
        from understudy.samplers.exact import _pick

        scores = np.array([0, UNIT, -UNIT, 2 * UNIT])
        expected = np.exp(scores / UNIT) / np.exp(scores / UNIT).sum()
        source = Source(seed)
        picks = np.bincount([_pick(scores, source) for _ in range(4000)], minlength=4)
        # Four standard errors and OpenDP's own randomness: a false alarm once in ten thousand runs.
        spread = np.sqrt(4000 * expected * (1 - expected))
        assert np.all(np.abs(picks - 4000 * expected) < 4.5 * spread)

    def test_many_candidates_give_the_target(self):
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

    def test_offsets_are_the_anchor_s_log_likelihood(self):
        expected = MODEL.record_loglik(MODEL.constrain(jnp.asarray(NEAR)), DATA)
        np.testing.assert_allclose(
            chunked_loglik(MODEL, NEAR, DATA), expected, rtol=1e-9, atol=1e-12
        )


class TestProposals:
    def test_the_density_belongs_to_the_draws(self):
        """Against SciPy's multivariate t, up to the constant that is left out."""
        root = np.array([[1.0, 0.0], [0.5, 2.0]])
        proposal = Proposal(np.array([1.0, -2.0]), root)
        z = proposal.draw(np.random.default_rng(0), 20_000)
        reference = scipy.stats.multivariate_t([1.0, -2.0], root @ root.T, df=5)
        difference = proposal.log_density(z) - reference.logpdf(z)
        np.testing.assert_allclose(difference, difference[0], atol=1e-9)
        ranks = scipy.stats.t(5).cdf((z[:, 0] - 1.0) / root[0, 0])
        assert scipy.stats.kstest(ranks, "uniform").pvalue > 0.001

    def test_the_prior_is_covered(self):
        proposal = prior_proposal(MODEL)
        z = proposal.draw(np.random.default_rng(0), 50_000)
        log_prior = np.asarray(jax.vmap(MODEL.log_prior_unconstrained)(jnp.asarray(z)))
        weights = np.exp(log_prior - proposal.log_density(z))
        weights /= weights.sum()
        assert 1 / np.sum(weights**2) > 5000
        phi = np.asarray(jax.vmap(MODEL.constrain)(jnp.asarray(z))["phi"])
        assert weights @ phi == pytest.approx(0.5, abs=0.02)

    def test_fisher_information_is_that_of_the_beta_model(self):
        """Against −E[∇² f], by differentiating the expected log-likelihood twice."""
        ours = fisher_information(MODEL, NEAR, {}, Source(1))
        theta = MODEL.constrain(jnp.asarray(NEAR))
        big = MODEL.prepare(MODEL.simulate(jax.random.key(0), theta, {}, 100_000))
        hessian = jax.hessian(lambda z: jnp.mean(MODEL.record_loglik(MODEL.constrain(z), big)))(
            jnp.asarray(NEAR)
        )
        np.testing.assert_allclose(ours, -np.asarray(hessian), rtol=0.15, atol=0.02)

    def test_a_proposal_is_as_wide_as_the_posterior_of_that_size(self):
        proposal = posterior_proposal(MODEL, NEAR, N, {}, Source(1))
        row = Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(math.inf))
        exact = quadrature(MODEL, DATA, row)
        widths = np.sqrt(np.diag(proposal.root @ proposal.root.T))
        np.testing.assert_allclose(widths, 1.3 * exact.sd(exact.nodes), rtol=0.2)


def mean_max_ecdf(replicates, **settings):
    """Mean utility over replicates, as the benchmark computes it."""
    distances = []
    for r in range(replicates):
        table = pd.DataFrame({"x": np.random.default_rng(500 + r).beta(0.5, 3, N)})
        release = us.synthesize(MODEL, table, us.Anchored(**settings), seed=r)
        distances.append(max_ecdf(table["x"].to_numpy(), release.synthetic["x"].to_numpy()))
    return np.mean(distances), np.std(distances) / math.sqrt(replicates)


def test_the_ladder_from_nothing_is_close_to_the_confidential_posterior():
    """Required: at most 0.035 at ε = 1 (0.026 without privacy), up to three standard errors."""
    mean, error = mean_max_ecdf(20, epsilon=1.0)
    assert mean < 0.035 + 3 * error
    assert error < 0.004


def test_a_drifted_history_serves_as_an_anchor():
    """Required: at most 0.033 at ε = 1 with a history from Beta(0.55, 2.7)."""
    history = {"phi": 0.55 / 3.25, "lambda": 3.25}
    mean, error = mean_max_ecdf(20, epsilon=1.0, anchor=history)
    assert mean < 0.033 + 3 * error
    assert error < 0.004


TABLE = pd.DataFrame({"x": VALUES})


def test_an_exact_release_assumes_no_convergence_and_reports_its_stages():
    release = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0), seed=1)
    guarantee = release.guarantee.to_dict()
    assert (guarantee["sampler"], guarantee["stages"], guarantee["kind"]) == ("exact", 4, "strict")
    assert guarantee["epsilon"] == {"add-remove": 1.0, "replace-one": 2.0}
    assert not any("converged" in sentence for sentence in guarantee["assumptions"])
    stages = release.internal.diagnostics["stages"]
    assert len(stages) == 4
    assert all(stage["effective_candidates"] > 1 for stage in stages)
    assert release.internal.diagnostics["lipschitz_bound"] <= stages[-1]["bound"]
    assert "Stages" in release.internal.report()


def test_chains_climb_too_and_say_so():
    release = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0), sampler="nuts", seed=1)
    assert release.guarantee.sampler == "nuts"
    assert any("converged" in sentence for sentence in release.guarantee.assumptions)
    assert max_ecdf(VALUES, release.synthetic["x"].to_numpy()) < 0.12


def test_censor_uw_can_be_drawn_exactly():
    release = us.synthesize(MODEL, TABLE, us.CensorUw(epsilon=5.0), sampler="exact", seed=1)
    assert release.guarantee.sampler == "exact"
    target = quadrature(MODEL, DATA, Row(jnp.ones(N), jnp.zeros(N), jnp.asarray(2.5)))
    theta = jax.vmap(MODEL.constrain)(jnp.asarray(target.nodes))
    summary = release.internal.diagnostics["parameters"]["phi"]
    values = np.asarray(theta["phi"])
    assert abs(summary["mean"] - target.mean(values)) < target.sd(values)


def test_stages_chosen_by_the_true_size_admit_that_it_shows():
    sizeless = us.beta(us.Schema.from_dict({"columns": {"x": COLUMN}}))
    mechanism = us.Anchored(epsilon=1.0, adjacency="replace-one")
    release = us.synthesize(sizeless, TABLE, mechanism, rows=50, seed=1)
    assert not release.guarantee.membership
    assert any("shows the number of records" in s for s in release.guarantee.assumptions)


def test_the_size_must_be_declared_where_it_is_protected():
    sizeless = us.beta(us.Schema.from_dict({"columns": {"x": COLUMN}}))
    with pytest.raises(us.BadInput, match="declare size"):
        us.synthesize(sizeless, TABLE, us.Anchored(epsilon=1.0), rows=10)


@pytest.mark.parametrize(
    "anchor", [{"phi": 0.2}, {"phi": 2.0, "lambda": 3.0}, {"phi": "x", "lambda": 3.0}]
)
def test_an_anchor_that_is_no_value_of_the_parameters_is_refused(anchor):
    with pytest.raises(us.BadInput, match="not a value of the model's parameters"):
        us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0, anchor=anchor))


@pytest.fixture(scope="module")
def learned():
    history = pd.DataFrame({"x": np.random.default_rng(9).beta(0.55, 2.7, 500)})
    return us.reference(MODEL, history, confidential=True)


class TestReference:
    def test_weights_are_a_function_of_the_record_alone(self, learned):
        mechanism = us.CensorW(epsilon=3.0, reference=learned)
        together = np.asarray(mechanism.alpha(learned.risk(MODEL, DATA)))
        for k in (0, 7, 1999):
            alone = MODEL.prepare({"x": VALUES[k : k + 1]})
            weight = np.asarray(mechanism.alpha(learned.risk(MODEL, alone)))
            assert weight[0] == pytest.approx(together[k], abs=1e-12)
        assert 0 <= together.min() < together.max() <= 1

    def test_censor_w_then_states_epsilon_and_whom_it_does_not_protect(self, learned):
        release = us.synthesize(MODEL, TABLE, us.CensorW(epsilon=3.0, reference=learned), seed=1)
        guarantee = release.guarantee.to_dict()
        assert (guarantee["kind"], guarantee["weights"]) == ("conditional", "record-function")
        assert guarantee["epsilon"]["add-remove"] == 3.0
        assert any("not protected by this ε" in s for s in guarantee["assumptions"])
        assert any("in both tables" in s for s in guarantee["assumptions"])

    def test_the_table_itself_is_no_reference(self):
        own = us.reference(MODEL, TABLE, confidential=True)
        with pytest.raises(us.Refused, match="the confidential table itself"):
            us.synthesize(MODEL, TABLE, us.CensorW(epsilon=3.0, reference=own))
        with pytest.raises(us.Refused, match="the confidential table itself"):
            us.synthesize(MODEL, TABLE[::-1], us.CensorW(epsilon=3.0, reference=own))

    def test_an_anchored_draw_starts_at_the_reference(self, learned):
        mechanism = us.Anchored(epsilon=1.0, reference=learned)
        assert mechanism.start == learned.theta
        release = us.synthesize(MODEL, TABLE, mechanism, seed=1)
        assert release.guarantee.stages == 1
        assert any("reference" in s for s in release.guarantee.assumptions)

    def test_an_earlier_release_can_stand_in(self, tmp_path):
        first = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0))
        file = first.write(tmp_path / "out") / "public/parameters.json"
        learned = us.reference(MODEL, file, confidential=False)
        assert learned.theta == us.read_anchor(file, MODEL)
        assert learned.extent[0] < learned.extent[1]
        second = us.synthesize(
            MODEL, TABLE, us.Anchored(epsilon=1.0, anchor=us.read_anchor(file, MODEL)), seed=2
        )
        assert second.guarantee.stages == 1
        assert any("its ε adds to this one" in s for s in second.guarantee.assumptions)
        third = us.synthesize(MODEL, TABLE, us.CensorW(epsilon=1.0, reference=learned), seed=3)
        assert any("its ε adds to this one" in s for s in third.guarantee.assumptions)

    @pytest.mark.parametrize(
        ("mechanism", "options"),
        [
            (us.Unweighted(), {}),
            (us.Anchored(epsilon=1.0), {"seed": 1}),
            (us.CensorUw(epsilon=1.0), {"accept_poor_mixing": True}),
        ],
        ids=["no number", "seeded", "waived"],
    )
    def test_a_release_that_is_not_private_is_no_anchor(self, tmp_path, mechanism, options):
        release = us.synthesize(MODEL, TABLE, mechanism, **options)
        out = release.write(tmp_path / "out")
        with pytest.raises(us.BadInput, match="not released under a strict or conditional"):
            us.read_anchor(out / "public", MODEL)

    def test_an_anchor_from_another_model_or_schema_is_refused(self, tmp_path):
        release = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0))
        file = release.write(tmp_path / "out") / "public/parameters.json"
        other = us.beta(us.Schema.from_dict({"table": {"size": 7}, "columns": {"x": COLUMN}}))
        with pytest.raises(us.BadInput, match="another schema"):
            us.read_anchor(file, other)
        histogram = us.synthesize(SCHEMA, TABLE, us.PerturbedHistogram(epsilon=1.0))
        made = histogram.write(tmp_path / "ph") / "public/parameters.json"
        with pytest.raises(us.BadInput, match="another model"):
            us.read_anchor(made, MODEL)


class TestLedger:
    def test_a_release_is_charged_before_it_is_drawn_and_published_after(self, tmp_path):
        book = us.Ledger.create(tmp_path / "l.db", budget=2.0, adjacency="replace-one")
        release = us.synthesize(
            MODEL, TABLE, us.Anchored(epsilon=1.0), ledger=tmp_path / "l.db", label="first"
        )
        assert "under way, or never finished" in book.show()
        assert book.spent().epsilon == 2.0
        release.write(tmp_path / "out")
        assert "published" in book.show()
        assert release.guarantee.charged.startswith("entry 1")
        with pytest.raises(us.Refused, match="more than the ledger allows"):
            us.synthesize(MODEL, TABLE, us.Anchored(epsilon=0.1), ledger=tmp_path / "l.db")

    def test_one_charge_pays_for_one_release(self, tmp_path):
        us.Ledger.create(tmp_path / "l.db", budget=9.0, adjacency="add-remove")
        mechanism = us.PerturbedHistogram(epsilon=1.0)
        release = us.synthesize(SCHEMA, TABLE, mechanism, ledger=tmp_path / "l.db")
        release.write(tmp_path / "out")
        with pytest.raises(us.BadInput, match="written already"):
            release.write(tmp_path / "again")
        assert not (tmp_path / "again").exists()

    def test_only_strict_and_unseeded_runs_are_charged(self, tmp_path):
        book = us.Ledger.create(tmp_path / "l.db", budget=9.0, adjacency="add-remove")
        with pytest.raises(us.Refused, match="strict"):
            us.synthesize(MODEL, TABLE, us.CensorW(epsilon=1.0), ledger=tmp_path / "l.db")
        with pytest.raises(us.Refused, match="fixed seed"):
            us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0), ledger=tmp_path / "l.db", seed=1)
        with pytest.raises(us.Refused, match="`accept_poor_mixing`"):
            us.synthesize(
                MODEL,
                TABLE,
                us.CensorUw(epsilon=1.0),
                ledger=tmp_path / "l.db",
                accept_poor_mixing=True,
            )
        assert book.entries() == ()
