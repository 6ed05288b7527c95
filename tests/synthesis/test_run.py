import json

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy._jax import jax
from understudy.domain.skeleton import skeleton_for
from understudy.privacy.guarantee import Adjacency, Kind

SIZE = 150
COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
GROUP = {"role": "public", "type": "categorical", "levels": ["a", "b"]}
ALONE = us.Schema.from_dict({"table": {"size": SIZE}, "columns": {"x": COLUMN}})
SIZELESS = us.Schema.from_dict({"columns": {"x": COLUMN}})
GROUPED = us.Schema.from_dict({"columns": {"x": COLUMN, "g": GROUP}})
VALUES = np.random.default_rng(0).beta(0.5, 3, SIZE)
TABLE = pd.DataFrame({"x": VALUES})
CODED = {"x": VALUES, "g": np.arange(SIZE) % 2}


class TestRows:
    """How many rows a synthetic table has, and when the true size may be used."""

    def test_the_declared_size_is_the_default(self):
        plan = skeleton_for(ALONE, {"x": VALUES[:90]}, Adjacency.ADD_REMOVE)
        assert (plan.rows, plan.true_size) == (SIZE, False)

    def test_asking_overrides_the_declared_size(self):
        assert skeleton_for(ALONE, {"x": VALUES}, Adjacency.ADD_REMOVE, rows=7).rows == 7

    def test_under_add_remove_the_true_size_is_never_used(self):
        with pytest.raises(us.BadInput, match="declare size"):
            skeleton_for(SIZELESS, {"x": VALUES}, Adjacency.ADD_REMOVE)

    def test_under_replace_one_the_true_size_is_public(self):
        plan = skeleton_for(SIZELESS, {"x": VALUES}, Adjacency.REPLACE_ONE)
        assert (plan.rows, plan.true_size) == (SIZE, True)

    def test_copied_public_columns_bring_their_number(self):
        plan = skeleton_for(GROUPED, CODED, Adjacency.ADD_REMOVE)
        assert (plan.rows, plan.copied) == (SIZE, True)
        drawn = plan.drawn(np.random.default_rng(0))["g"]
        assert np.array_equal(np.sort(drawn), np.sort(CODED["g"]))

    def test_the_table_s_own_rows_in_another_order_are_copied_all_the_same(self):
        separate = {"g": np.sort(CODED["g"])}
        plan = skeleton_for(GROUPED, CODED, Adjacency.ADD_REMOVE, separate=separate)
        assert plan.copied
        separate["g"] = np.where(np.arange(SIZE) == 0, 1 - separate["g"], separate["g"])
        assert not skeleton_for(GROUPED, CODED, Adjacency.ADD_REMOVE, separate=separate).copied

    def test_separate_predictors_replace_those_of_the_table(self):
        separate = {"g": np.array([1, 1, 1])}
        plan = skeleton_for(GROUPED, CODED, Adjacency.ADD_REMOVE, separate=separate)
        assert (plan.rows, plan.copied) == (3, False)

    def test_another_number_of_rows_draws_predictors_with_replacement(self):
        plan = skeleton_for(GROUPED, CODED, Adjacency.ADD_REMOVE, rows=5000)
        drawn = plan.drawn(np.random.default_rng(0))["g"]
        assert len(drawn) == 5000
        assert drawn.mean() == pytest.approx(0.5, abs=0.05)

    @pytest.mark.parametrize("rows", [0, -3, True, 2.5, 10**11])
    def test_a_number_of_rows_that_is_none_is_refused(self, rows):
        with pytest.raises(us.BadInput, match="positive whole number"):
            skeleton_for(ALONE, {"x": VALUES}, Adjacency.ADD_REMOVE, rows=rows)


@pytest.fixture(scope="module")
def releases():
    model = us.beta(ALONE)
    mechanisms = [
        us.Unweighted(),
        us.Weighted(),
        us.WeightedE(epsilon=3.0),
        us.CensorUw(epsilon=3.0),
        us.CensorW(epsilon=3.0),
    ]
    made = {m.name: us.synthesize(model, TABLE, m, seed=1) for m in mechanisms}
    made["ph"] = us.synthesize(ALONE, TABLE, us.PerturbedHistogram(epsilon=3.0), seed=1)
    return made


@pytest.mark.parametrize(
    ("name", "kind", "weights", "sampler", "epsilon"),
    [
        ("unweighted", "none", "none", "nuts", None),
        ("weighted", "asymptotic", "same-data", "nuts", None),
        ("weighted-e", "asymptotic", "same-data", "nuts", None),
        ("censor-uw", "conditional", "none", "nuts", 3.0),
        ("censor-w", "asymptotic", "same-data", "nuts", None),
        ("ph", "strict", "none", "none", 3.0),
    ],
)
def test_each_mechanism_claims_what_holds_and_no_more(
    releases, name, kind, weights, sampler, epsilon
):
    guarantee = releases[name].guarantee.to_dict()
    assert (guarantee["kind"], guarantee["weights"], guarantee["sampler"]) == (
        kind,
        weights,
        sampler,
    )
    assert guarantee["epsilon"]["add-remove"] == epsilon
    assert guarantee["epsilon"]["replace-one"] == (None if epsilon is None else 2 * epsilon)
    assumed = " ".join(guarantee["assumptions"])
    assert ("The Markov chains have converged" in assumed) == (kind == "conditional")
    assert ("whether one was refused" in assumed) == (sampler == "nuts")


def test_synthetic_tables_have_the_declared_size_and_domain(releases):
    for release in releases.values():
        assert list(release.synthetic.columns) == ["x"]
        assert len(release.synthetic) == SIZE
        assert release.synthetic["x"].between(0, 1).all()


def test_censoring_bounds_the_lipschitz_bound_and_unweighted_does_not(releases):
    bounds = {name: r.internal.diagnostics["lipschitz_bound"] for name, r in releases.items()}
    assert bounds["censor-uw"] == bounds["censor-w"] == 1.5
    assert bounds["unweighted"] > bounds["weighted"] > 1.5
    for name, release in releases.items():
        if name != "ph":
            assert release.internal.diagnostics["local_epsilon"] == 2 * bounds[name]
    assert releases["unweighted"].internal.diagnostics["censored_records"] == 0
    assert releases["censor-uw"].internal.diagnostics["censored_records"] > 10


def test_rows_come_from_the_published_parameters_alone(monkeypatch):
    """The rows of a release are what the published file gives, read back from its text."""
    from understudy.domain.skeleton import Skeleton
    from understudy.support.randomness import Source
    from understudy.synthesis import run as synthesis
    from understudy.synthesis import simulation

    monkeypatch.setattr(
        synthesis,
        "simulate",
        lambda published, plan, source, **settings: simulation.simulate(
            published, plan, Source(9), **settings
        ),
    )
    release = us.synthesize(us.beta(ALONE), TABLE, us.CensorUw(epsilon=3.0), seed=1)
    published = json.loads(json.dumps(release.parameters[0]))
    rows = simulation.simulate(published, Skeleton({}, SIZE), Source(9), model=us.beta(ALONE))
    pd.testing.assert_frame_equal(rows, release.synthetic)


def test_the_order_of_a_sorted_table_does_not_survive():
    """Copied public rows are shuffled, or a table sorted by salary would publish the ranks."""
    order = np.argsort(VALUES)
    table = pd.DataFrame({"x": VALUES[order], "g": np.where(np.arange(SIZE) < 75, "a", "b")})
    release = us.synthesize(GROUPED, table, us.PerturbedHistogram(epsilon=1.0, bins=5))
    copied = release.synthetic["g"]
    assert sorted(copied) == sorted(table["g"])
    assert copied.tolist() != table["g"].tolist()
    assert 20 < (copied[:75] == "a").sum() < 55


class Recording:
    """A source whose generators remember what was asked of them."""

    def __init__(self):
        self.asked = []

    def generator(self):
        number, real = len(self.asked), np.random.default_rng(len(self.asked))
        self.asked.append(set())
        asked = self.asked[number]

        class Generator:
            def __getattr__(self, name):
                asked.add(name)
                return getattr(real, name)

        return Generator()


@pytest.mark.parametrize("rules", [[], [{"if": "g == 'a'", "then": "x < 0.5"}]])
def test_what_hides_the_order_of_the_table_draws_nothing_that_is_published(rules):
    """From enough published uniforms the state of their generator, and the shuffle, follow."""
    from understudy.domain.skeleton import Skeleton
    from understudy.synthesis.simulation import simulate

    schema = GROUPED.to_dict() | {"rules": rules}
    published = {"model": {"name": "ph"}, "parameters": {"counts": [3, 4]}, "schema": schema}
    source = Recording()
    plan = Skeleton({"g": CODED["g"]}, SIZE, copied=True)
    simulate(published, plan, source, model=None)
    assert {"permutation"} in source.asked
    assert sum("permutation" in names for names in source.asked) == 1
    assert {"choice", "uniform"} in source.asked


def test_released_parameters_lie_on_the_public_grid(releases):
    from understudy.models.base import GRID

    theta = releases["censor-uw"].parameters[0]["parameters"]
    z = np.asarray(us.beta(ALONE).unconstrain(theta)) / GRID
    np.testing.assert_allclose(z, np.round(z), atol=1e-5)


def test_without_a_seed_no_two_releases_agree_and_with_one_they_do(releases):
    model = us.beta(ALONE)
    fresh = us.synthesize(model, TABLE, us.CensorUw(epsilon=3.0))
    again = us.synthesize(model, TABLE, us.CensorUw(epsilon=3.0), seed=1)
    seeded = releases["censor-uw"]
    assert fresh.parameters[0]["parameters"] != seeded.parameters[0]["parameters"]
    assert again.parameters == seeded.parameters
    pd.testing.assert_frame_equal(again.synthetic, seeded.synthetic)
    assert seeded.guarantee.seeded
    assert not fresh.guarantee.seeded


def test_several_tables_take_a_draw_each_and_cost_it():
    release = us.synthesize(us.beta(ALONE), TABLE, us.CensorUw(epsilon=1.0), tables=3)
    assert release.guarantee.draws == len(release.tables) == len(release.parameters) == 3
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == pytest.approx(3.0)
    draws = {json.dumps(theta["parameters"]) for theta in release.parameters}
    assert len(draws) == 3


def test_epsilon_under_replace_one_halves_the_bound():
    mechanism = us.CensorUw(epsilon=3.0, adjacency="replace-one")
    release = us.synthesize(us.beta(SIZELESS), TABLE, mechanism, seed=2)
    assert release.guarantee.epsilon == {Adjacency.ADD_REMOVE: 1.5, Adjacency.REPLACE_ONE: 3.0}
    assert release.guarantee.rho == {Adjacency.ADD_REMOVE: 0.28125, Adjacency.REPLACE_ONE: 1.125}
    assert release.internal.diagnostics["lipschitz_bound"] == 0.75
    assert any("shows the number of records" in s for s in release.guarantee.assumptions)
    assert not release.guarantee.membership


def test_assumptions_say_what_copying_public_columns_means():
    table = pd.DataFrame({"x": VALUES, "g": np.where(CODED["g"] == 0, "a", "b")})
    model = us.formula("x ~ g", family="beta", schema=GROUPED)
    copied = us.synthesize(model, table, us.CensorUw(epsilon=3.0), seed=1)
    others = pd.DataFrame({"g": ["a", "b"] * 20})
    separate = us.synthesize(model, table, us.CensorUw(epsilon=3.0), predictors=others, seed=1)
    same = us.synthesize(model, table, us.CensorUw(epsilon=3.0), predictors=table[["g"]], seed=1)
    for release in (copied, same):
        assert any("membership is not protected" in s for s in release.guarantee.assumptions)
        assert "values are blanked" in release.guarantee.headline
        assert not release.guarantee.to_dict()["membership_protected"]
    assert not any("membership" in s for s in separate.guarantee.assumptions)
    assert any("come from a public source" in s for s in separate.guarantee.assumptions)
    assert "added or removed" in separate.guarantee.headline
    assert separate.synthetic["g"].tolist() == others["g"].tolist()


def test_exact_zeros_and_ones_do_not_disturb_any_mechanism():
    table = pd.DataFrame({"x": np.r_[VALUES[:-3], 0.0, 1.0, 1e-300]})
    model = us.beta(ALONE)
    for mechanism in (us.Unweighted(), us.Weighted(), us.CensorUw(epsilon=2.0)):
        release = us.synthesize(model, table, mechanism, seed=1)
        assert release.guarantee.kind is mechanism.kind_with("nuts")
        dropped = release.internal.diagnostics["dropped_records"]
        assert (dropped == 0) if mechanism.kind is Kind.STRICT else (dropped >= 2)


def test_chains_that_do_not_converge_are_refused_unless_accepted_in_writing(monkeypatch):
    monkeypatch.setattr("understudy.mechanisms.fitting.SMALLEST_ESS", 10**9)
    model = us.beta(ALONE)
    with pytest.raises(us.Refused, match="have not converged"):
        us.synthesize(model, TABLE, us.CensorUw(epsilon=1.0), seed=1)
    release = us.synthesize(model, TABLE, us.CensorUw(epsilon=1.0), seed=1, accept_poor_mixing=True)
    assert any("was accepted in advance" in s for s in release.guarantee.assumptions)
    assert release.guarantee.delta is None
    assert "WHICH WAS NOT REQUIRED OF THEM" in release.guarantee.headline


@pytest.mark.parametrize(("tables", "smallest"), [(1, 400), (100, 1000)])
def test_the_report_shows_the_limits_that_the_gate_held_the_chains_to(tables, smallest):
    """Many tables take many draws that are nearly independent, so the gate asks for more."""
    from understudy.report.sections import convergence

    release = us.synthesize(us.beta(ALONE), TABLE, us.CensorUw(epsilon=1.0), tables=tables, seed=1)
    assert (
        release.internal.diagnostics["limits"].items()
        >= {"rhat": 1.01, "ess_bulk": smallest}.items()
    )
    shown = convergence(release.internal.diagnostics, "nuts")
    assert shown["marks"][:2] == [("R-hat at most", "1.01"), ("ESS at least", f"{smallest:,}")]
    assert not shown["failed"]
    assert f"{smallest:,}" in release.internal.report()


def test_a_climb_by_chains_shows_the_limits_of_its_gate():
    mechanism = us.Anchored(epsilon=1.0)
    release = us.synthesize(us.beta(ALONE), TABLE, mechanism, sampler="nuts", tables=2, seed=1)
    assert release.internal.diagnostics["limits"].items() >= {"rhat": 1.01, "ess_bulk": 400}.items()


def test_accepting_poor_mixing_is_written_down_even_when_the_chains_are_fine():
    """Whether they were fine is confidential."""
    release = us.synthesize(
        us.beta(ALONE), TABLE, us.CensorUw(epsilon=1.0), seed=1, accept_poor_mixing=True
    )
    assert any("was accepted in advance" in s for s in release.guarantee.assumptions)


@pytest.mark.parametrize("count", [0, -1, 101, 1.5, True])
def test_a_number_of_tables_that_makes_no_sense_is_refused(count):
    with pytest.raises(us.BadInput, match="tables must be a number from 1 to 100"):
        us.synthesize(us.beta(ALONE), TABLE, us.CensorUw(epsilon=1.0), tables=count)


def test_a_bayesian_mechanism_needs_a_model():
    with pytest.raises(us.BadInput, match="needs a model"):
        us.synthesize(ALONE, TABLE, us.CensorUw(epsilon=1.0))


def test_single_precision_is_refused(monkeypatch):
    """Somebody may have switched JAX back; then scores are off by more than the bound allows."""
    model = us.beta(ALONE)
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(us.BadInput, match="single precision"):
            us.synthesize(model, TABLE, us.CensorUw(epsilon=1.0))
    finally:
        jax.config.update("jax_enable_x64", True)
