"""The audit finds what leaks, and finds no leak where there is none."""

from dataclasses import dataclass

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.audit import audit
from understudy.audit.run import _model, _request, draws_of
from understudy.audit.search import EXTREMES, bases, largest_gap
from understudy.errors import BadInput
from understudy.mechanisms import (
    Anchored,
    CensorUw,
    CensorW,
    PerturbedHistogram,
    Unweighted,
    Weighted,
)
from understudy.mechanisms.fitting import DRAWS, first_row, risk_of
from understudy.mechanisms.reference import Reference
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.samplers.quadrature import quadrature

ADJACENCIES = [
    Adjacency.ADD_REMOVE,
    pytest.param(Adjacency.REPLACE_ONE, marks=pytest.mark.slow),
]

EPSILONS = [*(pytest.param(each, marks=pytest.mark.slow) for each in (5.0, 3.0)), 1.0]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_censor_uw_reaches_its_claim_and_never_passes_it(epsilon, adjacency):
    found = audit(CensorUw(epsilon=epsilon, adjacency=adjacency), n=200, adjacency=adjacency)
    assert found.claimed == found.target == epsilon
    assert not found.exceeds
    assert not found.broken
    assert found.largest_log_ratio > 0.95 * epsilon


def by_value(values):
    """Weights that are a function of the record alone: extremes count less."""
    return np.clip(4 * np.sqrt(values * (1 - values)), 0.0, 1.0)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_censor_w_keeps_its_claim_with_weights_that_are_a_function_of_the_record(
    epsilon, adjacency
):
    mechanism = CensorW(epsilon=epsilon, adjacency=adjacency)
    found = audit(mechanism, n=200, adjacency=adjacency, alpha_function=by_value)
    assert found.claimed == epsilon
    assert not found.exceeds
    assert found.largest_log_ratio > 0.5 * epsilon


MODEL = _model()


def reference():
    """A reference fitted to other simulated records."""
    data = MODEL.prepare({"x": np.random.default_rng(99).beta(0.55, 2.7, 500)})
    fit = quadrature(MODEL, data, first_row(MODEL, data, Unweighted()))
    draws = jnp.asarray(fit.draws(np.random.default_rng(98), DRAWS))
    risk = np.asarray(risk_of(MODEL, draws, data))
    return Reference(draws, (risk.min(), risk.max()), {}, origin="public")


@pytest.mark.slow
def test_censor_w_keeps_its_claim_with_a_reference():
    mechanism = CensorW(epsilon=3.0, reference=reference())
    for adjacency in Adjacency:
        found = audit(mechanism, n=200, adjacency=adjacency)
        assert found.claimed == 3.0 * adjacency.steps
        assert not found.broken


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_anchored_never_passes_its_claim(epsilon, adjacency):
    found = audit(Anchored(epsilon=epsilon, adjacency=adjacency), n=200, adjacency=adjacency)
    assert found.claimed <= epsilon * (1 + 1e-9)
    assert not found.exceeds
    assert not found.broken
    assert found.selection_log_ratio <= found.claimed + 1e-9
    assert found.largest_log_ratio > 0.4 * found.claimed


HISTORY = {"phi": 0.17, "lambda": 3.2}


def test_anchored_at_a_history_never_passes_its_claim():
    found = audit(Anchored(epsilon=1.0, anchor=HISTORY), n=200, adjacency="add-remove")
    assert not found.broken
    assert found.largest_log_ratio > 0.4 * found.claimed


PANEL = {"n": 60, "adjacency": "add-remove", "rows_per_unit": 7}


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(CensorUw(epsilon=1.0), id="censor-uw"),
        pytest.param(Anchored(epsilon=1.0, candidates=512), id="anchored", marks=pytest.mark.slow),
    ],
)
def test_a_person_with_seven_rows_stays_below_epsilon_if_the_unit_is_declared_and_not_otherwise(
    mechanism,
):
    declared = audit(mechanism, **PANEL)
    assert declared.claimed == pytest.approx(1.0)
    assert not declared.exceeds
    assert declared.largest_log_ratio > 0.4
    assert (declared.selection_log_ratio or 0.0) <= 1.0 + 1e-9
    assert "a person with 7 rows of" in declared.neighbour
    undeclared = audit(mechanism, **PANEL, unit=False)
    assert undeclared.exceeds
    assert undeclared.claimed is None, "a guarantee for rows claims nothing about people"
    assert undeclared.largest_log_ratio > 6.0
    assert undeclared.largest_log_ratio <= 7.0 * (1 + 1e-6)


@pytest.mark.slow
def test_replacing_a_person_costs_twice_as_much_as_removing_one():
    found = audit(CensorUw(epsilon=1.0), **PANEL | {"adjacency": "replace-one"})
    assert found.claimed == 2.0
    assert 1.9 < found.largest_log_ratio <= 2.0 * (1 + 1e-6)


def test_weights_of_a_function_and_absurd_numbers_of_rows_are_refused():
    with pytest.raises(BadInput, match="records of one row"):
        audit(CensorW(epsilon=1.0), **PANEL, alpha_function=by_value)
    for rows in (0, 367, True, 2.5):
        with pytest.raises(BadInput, match="`rows_per_unit` must be"):
            audit(CensorUw(epsilon=1.0), **PANEL | {"rows_per_unit": rows})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "alpha_function"),
    [
        (CensorUw(epsilon=1.0), None),
        (CensorW(epsilon=1.0), by_value),
        (Anchored(epsilon=1.0), None),
    ],
    ids=["censor-uw", "censor-w", "anchored"],
)
def test_strict_claims_hold_for_larger_tables(mechanism, alpha_function):
    found = audit(mechanism, n=2000, adjacency="add-remove", alpha_function=alpha_function)
    assert found.claimed is not None
    assert not found.broken


@pytest.mark.parametrize("n", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_weights_learned_from_the_same_table_are_found_to_exceed_epsilon(n):
    found = audit(CensorW(epsilon=5.0), n=n, adjacency="add-remove")
    assert found.claimed is None
    assert found.exceeds
    assert not found.broken
    assert found.largest_log_ratio > 20


def test_a_claim_under_add_remove_is_twice_as_large_under_replace_one():
    found = audit(CensorUw(epsilon=1.0), n=200, adjacency="replace-one")
    assert found.claimed == 2.0
    assert found.largest_log_ratio == pytest.approx(2.0, rel=1e-3)
    assert found.exceeds
    assert not found.broken


def test_without_a_bound_almost_anything_can_be_told_apart():
    for mechanism in (Unweighted(), Weighted()):
        found = audit(mechanism, n=200, adjacency="add-remove", epsilon=3.0)
        assert found.claimed is None
        assert found.largest_log_ratio > 100


@dataclass(frozen=True, kw_only=True)
class Generous(CensorUw):
    """Censors at twice the bound that its ε allows."""

    @property
    def bound(self):
        return 2 * super().bound


@dataclass(frozen=True, kw_only=True)
class Overconfident(CensorW):
    """Learns its weights from the table and calls itself strict."""

    @property
    def kind(self):
        return Kind.STRICT


@dataclass(frozen=True, kw_only=True)
class Steep(Anchored):
    """Plans stages that cost three times what was asked for."""

    def ladder(self, **arguments):
        honest = Anchored(epsilon=3 * self.epsilon, adjacency=self.adjacency)
        return honest.ladder(**arguments)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("broken", [Generous, Overconfident, Steep])
def test_broken_mechanisms_are_caught(broken, adjacency):
    found = audit(broken(epsilon=1.0, adjacency=adjacency), n=200, adjacency=adjacency)
    assert found.claimed == 1.0
    assert found.exceeds
    assert found.broken


def test_a_weight_function_that_looks_at_the_other_records_is_caught():
    def relative(values):
        return 1 - values / values.max()

    mechanism = CensorW(epsilon=1.0)
    found = audit(mechanism, n=200, adjacency="add-remove", alpha_function=relative)
    assert found.broken


@pytest.mark.slow
def test_the_same_seed_gives_the_same_audit():
    mechanism = Anchored(epsilon=1.0)
    one, other = (audit(mechanism, n=50, adjacency="add-remove", seed=4) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("mechanism", "arguments", "sentence"),
    [
        (CensorUw(epsilon=1.0), {"n": 5}, "`n` must be"),
        (CensorUw(epsilon=1.0), {"n": True}, "`n` must be"),
        (CensorUw(epsilon=1.0), {"adjacency": "same"}, "`adjacency` must be"),
        (CensorUw(epsilon=1.0), {"alpha_function": by_value}, "learns no weights"),
        (Unweighted(), {}, "no ε of its own to compare with: give `epsilon`"),
        (PerturbedHistogram(epsilon=1.0), {}, "nothing to audit"),
    ],
)
def test_what_cannot_be_audited_is_refused(mechanism, arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        audit(mechanism, **({"n": 200, "adjacency": "add-remove"} | arguments))


@pytest.mark.parametrize("n", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_probabilities_of_exact_draws_stay_within_the_price_of_every_stage(n):
    model, base = _model(), bases(n, seed=3)[1]
    mechanism = Anchored(epsilon=3.0)
    stages = mechanism.ladder(size=n, dimension=model.dimension)
    request = _request(mechanism, model, base, size=n, seed=3)
    draws = draws_of(request, model, base.table(model, None), None)
    assert len(stages) == len(draws)
    for stage, draw in zip(stages, draws, strict=True):
        picked = {}
        for slot in (None, *EXTREMES):
            table = base.table(model, slot)
            picked[slot] = draw.picked(table, draw.learn(table))
            assert np.exp(picked[slot]).sum() == pytest.approx(1)
        added = [largest_gap(picked[None], picked[slot]) for slot in EXTREMES]
        replaced = [largest_gap(picked[0.0], picked[slot]) for slot in EXTREMES]
        assert max(added) <= 2 * stage.bound + 1e-9
        assert max(replaced) <= 4 * stage.bound + 1e-9
        assert max(added) > 0.3 * stage.bound
