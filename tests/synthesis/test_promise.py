"""What a release promises."""

import re

import numpy as np
import pandas as pd
import pytest

import summaries
import understudy as us
from synthesised import ALONE, BETA, CODED, GROUPED, SIZELESS, TABLE, VALUES
from understudy._jax import jnp
from understudy.domain.tables import decode
from understudy.mechanisms import make_mechanism
from understudy.privacy import assumptions
from understudy.privacy.guarantee import Adjacency
from understudy.synthesis.preparation import prepare
from understudy.synthesis.promise import promise


@pytest.mark.parametrize(
    ("name", "kind", "weights", "sampler", "epsilon"),
    [
        ("unweighted", "none", "none", "nuts", None),
        ("weighted", "asymptotic", "same-data", "nuts", None),
        ("weighted-e", "asymptotic", "same-data", "nuts", None),
        ("censor-uw", "conditional", "none", "nuts", 3.0),
        ("censor-w", "asymptotic", "same-data", "nuts", None),
        ("ph", "strict", "none", "none", 3.0),
        ("anchored", "strict", "none", "exact", 3.0),
        ("summary", "strict", "none", "none", 3.0),
    ],
)
def test_each_mechanism_claims_what_holds_and_no_more(name, kind, weights, sampler, epsilon):
    mechanism = make_mechanism(name, epsilon=3.0)
    model = BETA if mechanism.needs_model else ALONE
    guarantee = promised(model, TABLE, mechanism).to_dict()
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
    assert ("Noise was added once" in assumed) == (name == "summary")


@pytest.mark.parametrize("declared", summaries.OUTCOMES)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_no_strict_promise_of_a_summary_speaks_of_convergence(declared, adjacency):
    """Over models: whatever is inferred in public, the promise rests on the noisy sums alone."""
    model, columns = summaries.OUTCOMES[declared]
    table = decode(columns, model.schema)
    for anchor in (None, _centre(model)):
        mechanism = us.Summary(epsilon=0.5, adjacency=adjacency, anchor=anchor)
        given = promised(model, table, mechanism, tables=3)
        said = " ".join([str(given), given.headline, *given.assumptions]).lower()
        assert given.kind == "strict"
        assert given.epsilon[given.asked] == 0.5
        assert not re.search("converge|markov|chain|settle|mixing", said)


def _centre(model):
    theta = model.constrain(jnp.zeros(model.dimension))
    return {name: np.asarray(value).tolist() for name, value in theta.items()}


def test_a_prior_that_was_carried_over_is_told():
    rng = np.random.default_rng(3)
    draws = [
        {"phi": p, "lambda": s} for p, s in zip(rng.random(30), 9 * rng.random(30), strict=True)
    ]
    with_it, without = (
        promised(BETA, TABLE, us.Summary(epsilon=1.0, anchor=_centre(BETA), carried=carried))
        for carried in (draws, None)
    )
    assert set(with_it.assumptions) - set(without.assumptions) == {assumptions.ORIGINS["carried"]}
    assert with_it.epsilon == without.epsilon


def test_a_summary_says_all_that_its_promise_rests_on():
    model = us.formula("x ~ g", family="beta", schema=GROUPED)
    table = pd.DataFrame({"x": VALUES, "g": np.where(CODED["g"] == 0, "a", "b")})
    alone = promised(BETA, TABLE, us.Summary(epsilon=1.0))
    copied = promised(model, table, us.Summary(epsilon=1.0))
    settled = (assumptions.SETTINGS, assumptions.MODEL, assumptions.PUBLIC_FILES)
    for given in (alone, copied):
        assert {assumptions.MEASURED_ONCE, assumptions.ADDS_UP, *settled} <= {*given.assumptions}
        assert any("at most one record" in each for each in given.assumptions)
    assert len(alone.assumptions) == 6
    assert set(copied.assumptions) - set(alone.assumptions) == {assumptions.copied_predictors(None)}
    release = promised(BETA, TABLE, us.Summary(epsilon=1.0, anchor={"phi": 0.2, "lambda": 3.0}))
    assert set(release.assumptions) - set(alone.assumptions) == {assumptions.ORIGINS["release"]}


def test_assumptions_say_what_copying_public_columns_means():
    table = pd.DataFrame({"x": VALUES, "g": np.where(CODED["g"] == 0, "a", "b")})
    model = us.formula("x ~ g", family="beta", schema=GROUPED)
    mechanism = us.CensorUw(epsilon=3.0)
    others = pd.DataFrame({"g": ["a", "b"] * 20})
    copied = promised(model, table, mechanism)
    separate = promised(model, table, mechanism, predictors=others)
    assert any("membership is not protected" in s for s in copied.assumptions)
    assert "values are blanked" in copied.headline
    assert not copied.to_dict()["membership_protected"]
    assert not any("membership" in s for s in separate.assumptions)
    assert any("come from a public source" in s for s in separate.assumptions)
    assert "added or removed" in separate.headline


def test_accepting_poor_mixing_is_written_down_even_when_the_chains_are_fine():
    """Whether they were fine is confidential."""
    release = us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0), seed=1, accept_poor_mixing=True)
    assert any("was accepted in advance" in s for s in release.guarantee.assumptions)


def promised(schema, table, mechanism, **settings):
    request = prepare(schema, table, mechanism, **settings)
    return promise(mechanism.plan(request), None)


def test_it_states_what_is_charged_and_what_must_be_true_the_most_particular_first():
    ph = us.PerturbedHistogram(epsilon=1.0, adjacency="replace-one")
    given = promised(SIZELESS, TABLE, ph, tables=2, rows=9, period="2026", calibrated_on="public")
    assert {str(a): each for a, each in given.epsilon.items()} == {
        "add-remove": 1.0,
        "replace-one": 2.0,
    }
    assert (given.draws, given.rows, given.period, given.charged) == (2, 9, "2026", None)
    assert given.assumptions[0].startswith("The settings of this release were chosen on a public")
    assert not given.seeded
    assert "seed" not in given.assumptions[-1]
    seeded = promised(SIZELESS, TABLE, ph, rows=9, seed=1)
    assert "fixed seed" in seeded.assumptions[-1]


def test_what_promises_nothing_says_why_and_states_no_number():
    given = promised(BETA, TABLE, us.Unweighted())
    assert given.epsilon is None
    assert given.assumptions[0] == us.Unweighted.reason


def test_epsilon_under_replace_one_is_half_of_it_under_add_remove():
    mechanism = us.CensorUw(epsilon=3.0, adjacency="replace-one")
    given = promised(us.beta(SIZELESS), TABLE, mechanism)
    assert given.epsilon == {Adjacency.ADD_REMOVE: 1.5, Adjacency.REPLACE_ONE: 3.0}
    assert given.rho == {Adjacency.ADD_REMOVE: 0.28125, Adjacency.REPLACE_ONE: 1.125}
    assert any("shows the number of records" in s for s in given.assumptions)
    assert not given.membership
