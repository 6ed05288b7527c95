"""The audit finds what leaks, and finds no leak where there is none."""

import json
import math
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest

from understudy._jax import jnp
from understudy.audit import Audit, audit, empirical_audit
from understudy.audit.draws import draws_of
from understudy.audit.run import _model, _request
from understudy.audit.search import (
    EXTREMES,
    Base,
    Grid,
    bases,
    bulk,
    largest_gap,
    trapezoid,
)
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

MODEL = _model()
ADJACENCIES = list(Adjacency)
EPSILONS = [5.0, 3.0, 1.0]


def by_value(values):
    """Weights that are a function of the record alone: extremes count less."""
    return np.clip(4 * np.sqrt(values * (1 - values)), 0.0, 1.0)


def reference():
    """A reference fitted to other simulated records."""
    data = MODEL.prepare({"x": np.random.default_rng(99).beta(0.55, 2.7, 500)})
    fit = quadrature(MODEL, data, first_row(MODEL, data, Unweighted()))
    draws = jnp.asarray(fit.draws(np.random.default_rng(98), DRAWS))
    risk = np.asarray(risk_of(MODEL, draws, data))
    return Reference(draws, (risk.min(), risk.max()), {}, origin="public")


HISTORY = {"phi": 0.17, "lambda": 3.2}


# What must hold.


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_censor_uw_reaches_its_claim_and_never_passes_it(epsilon, adjacency):
    found = audit(CensorUw(epsilon=epsilon, adjacency=adjacency), n=200, adjacency=adjacency)
    assert found.claimed == found.target == epsilon
    assert not found.exceeds
    assert not found.broken
    assert found.largest_log_ratio > 0.95 * epsilon


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


def test_censor_w_keeps_its_claim_with_a_reference():
    mechanism = CensorW(epsilon=3.0, reference=reference())
    for adjacency in ADJACENCIES:
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


def test_anchored_at_a_history_never_passes_its_claim():
    found = audit(Anchored(epsilon=1.0, anchor=HISTORY), n=200, adjacency="add-remove")
    assert not found.broken
    assert found.largest_log_ratio > 0.4 * found.claimed


PANEL = {"n": 60, "adjacency": "add-remove", "rows_per_unit": 7}


@pytest.mark.parametrize(
    "mechanism",
    [CensorUw(epsilon=1.0), Anchored(epsilon=1.0, candidates=512)],
    ids=["censor-uw", "anchored"],
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


def test_replacing_a_person_costs_twice_as_much_as_removing_one():
    found = audit(CensorUw(epsilon=1.0), **PANEL | {"adjacency": "replace-one"})
    assert found.claimed == 2.0
    assert 1.9 < found.largest_log_ratio <= 2.0 * (1 + 1e-6)


def test_weights_of_a_function_and_absurd_numbers_of_rows_are_refused():
    with pytest.raises(BadInput, match="records of one row"):
        audit(CensorW(epsilon=1.0), **PANEL, alpha_function=by_value)
    for rows in (0, 367, True, 2.5):
        with pytest.raises(BadInput, match="rows per unit"):
            audit(CensorUw(epsilon=1.0), **PANEL | {"rows_per_unit": rows})


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


@pytest.mark.parametrize("n", [200, 2000])
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


# Mechanisms that are broken on purpose.


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


# The selection of exact draws.


@pytest.mark.parametrize("n", [200, 2000])
def test_probabilities_of_exact_draws_stay_within_the_price_of_every_stage(n):
    base = bases(n, seed=3)[1]
    mechanism = Anchored(epsilon=3.0)
    stages = mechanism.ladder(size=n, dimension=MODEL.dimension)
    request = _request(mechanism, MODEL, base, size=n, seed=3)
    draws = draws_of(request, MODEL, base.table(MODEL, None), None)
    assert len(stages) == len(draws)
    for stage, draw in zip(stages, draws, strict=True):
        picked = {}
        for slot in (None, *EXTREMES):
            table = base.table(MODEL, slot)
            picked[slot] = draw.candidates.log_probabilities(table, draw.learn(table))
            assert np.exp(picked[slot]).sum() == pytest.approx(1)
        added = [largest_gap(picked[None], picked[slot]) for slot in EXTREMES]
        replaced = [largest_gap(picked[0.0], picked[slot]) for slot in EXTREMES]
        assert max(added) <= 2 * stage.bound + 1e-9
        assert max(replaced) <= 4 * stage.bound + 1e-9
        assert max(added) > 0.3 * stage.bound


# The grid.


def test_the_grid_integrates_as_a_fine_one_does():
    """Even where the posterior is far sharper than the coarse part of the grid."""
    base = bases(2000, seed=0)[0]
    table = base.table(MODEL, None)
    row = table.blanked(first_row(MODEL, table.data, Unweighted()))
    truth = quadrature(MODEL, table.data, row, points=257)
    grid = Grid.around([bulk(MODEL, table, row)])
    mass = np.exp(grid.log_density(MODEL, table.data, row) + grid.log_volume)
    nodes = np.asarray(grid.nodes)
    assert mass.sum() == pytest.approx(1)
    assert mass @ nodes == pytest.approx(truth.mean(truth.nodes), abs=1e-6)
    spread = np.sqrt(mass @ nodes**2 - (mass @ nodes) ** 2)
    assert spread == pytest.approx(truth.sd(truth.nodes), rel=1e-3)


def test_shares_of_an_axis_add_up_to_its_length():
    axis = np.array([0.0, 0.5, 0.5, 2.0])
    assert trapezoid(axis).tolist() == [0.25, 0.25, 0.75, 0.75]


def test_an_empty_slot_counts_for_nothing():
    """A padded table has the posterior of the same table without padding."""
    values = np.random.default_rng(0).beta(0.5, 3, 60)
    padded = Base("", values).table(MODEL, None)
    full = Base("", values[:-1]).table(MODEL, values[-1])
    grid = Grid.around([np.array([[-3.0, 0.0], [0.0, 3.0]])])
    for mechanism in (CensorUw(epsilon=1.0), Unweighted()):
        one, other = (
            grid.log_density(
                MODEL, table.data, table.blanked(first_row(MODEL, table.data, mechanism))
            )
            for table in (padded, full)
        )
        assert one == pytest.approx(other, rel=1e-12, abs=1e-8)


def test_nodes_that_neither_table_allows_are_not_compared():
    never = -math.inf
    assert largest_gap(np.array([never, 0.0]), np.array([never, 0.5])) == 0.5
    assert largest_gap(np.array([never, 0.0]), np.array([-2.0, 0.0])) == math.inf


# What is said about it.


def found(**changes):
    facts = {
        "mechanism": "censor-uw",
        "adjacency": Adjacency.ADD_REMOVE,
        "target": 1.0,
        "largest_log_ratio": 1.0,
        "claimed": 1.0,
        "n": 200,
        "neighbour": "the record 1 added",
    }
    return Audit(**(facts | changes))


def test_rounding_breaks_no_claim_but_a_leak_does():
    assert not found(largest_log_ratio=1 + 1e-9).broken
    assert found(largest_log_ratio=1.001).broken
    assert found(largest_log_ratio=1.001).exceeds
    assert not found(largest_log_ratio=1.5, claimed=2.0).broken
    assert found(largest_log_ratio=1.5, claimed=2.0).exceeds
    assert not found(largest_log_ratio=1.5, claimed=None).broken


def test_the_json_holds_what_the_contract_says():
    contents = json.loads(json.dumps(found(largest_log_ratio=math.inf).to_dict(), allow_nan=False))
    assert contents["largest_log_ratio"] is None
    assert contents["exceeds"] is True
    contents = found(claimed=None).to_dict()
    assert (
        contents.items()
        >= {
            "mechanism": "censor-uw",
            "adjacency": "add-remove",
            "target": 1.0,
            "largest_log_ratio": 1.0,
            "claimed": None,
            "exceeds": False,
            "n": 200,
            "neighbour": "the record 1 added",
        }.items()
    )


def test_the_text_gives_all_numbers():
    text = str(found(target=3.0, claimed=2.875, largest_log_ratio=2.5, selection_log_ratio=2.25))
    assert all(number in text for number in ("ε = 3", "2.875", "2.5", "2.25", "the record 1 added"))
    assert "No neighbour was found that breaks the claim." in text
    assert "broken" in str(found(largest_log_ratio=2.0))
    assert "more than the ε = 1" in str(found(largest_log_ratio=2.0, claimed=None))
    assert "none is ruled out" in str(found(claimed=None))


def test_both_posteriors_are_drawn():
    seen = audit(CensorUw(epsilon=1.0), n=200, adjacency="add-remove")
    assert [curve.parameter for curve in seen.curves] == ["phi", "lambda"]
    for curve in seen.curves:
        assert np.trapezoid(curve.before, curve.at) == pytest.approx(1, abs=0.05)
        assert np.trapezoid(curve.after, curve.at) == pytest.approx(1, abs=0.05)
    picture = ElementTree.fromstring(seen.figure())
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    words = {element.text for element in picture.iter() if element.text}
    assert {"phi", "lambda", "Table", "Neighbour"} <= words


def test_the_same_seed_gives_the_same_audit():
    mechanism = Anchored(epsilon=1.0)
    one, other = (audit(mechanism, n=50, adjacency="add-remove", seed=4) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("mechanism", "arguments", "sentence"),
    [
        (CensorUw(epsilon=1.0), {"n": 5}, "n must be"),
        (CensorUw(epsilon=1.0), {"n": True}, "n must be"),
        (CensorUw(epsilon=1.0), {"adjacency": "same"}, "adjacency must be"),
        (CensorUw(epsilon=1.0), {"alpha_function": by_value}, "learns no weights"),
        (Unweighted(), {}, "no epsilon of its own"),
        (PerturbedHistogram(epsilon=1.0), {}, "nothing to audit"),
    ],
)
def test_what_cannot_be_audited_is_refused(mechanism, arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        audit(mechanism, **({"n": 200, "adjacency": "add-remove"} | arguments))


# Runs instead of a grid.


def laplace(scale):
    return lambda table, generator: float(sum(table) + generator.laplace(scale=scale))


ONES, NEIGHBOUR = [1.0] * 10, [1.0] * 11


def test_runs_bound_the_epsilon_of_the_laplace_mechanism_from_below():
    bound = empirical_audit(laplace(1.0), ONES, NEIGHBOUR, runs=20_000)
    assert 0.5 < bound <= 1.0
    assert 0.5 < empirical_audit(laplace(1.0), NEIGHBOUR, ONES, runs=20_000) <= 1.0


def test_runs_catch_noise_that_is_too_small():
    assert empirical_audit(laplace(0.25), ONES, NEIGHBOUR, runs=20_000) > 1.0


def test_runs_that_tell_nothing_apart_bound_nothing():
    assert empirical_audit(laplace(1.0), ONES, ONES, runs=1000) == 0.0
    assert empirical_audit(lambda *_: 0.0, ONES, NEIGHBOUR, runs=1000) == 0.0


def test_runs_that_tell_everything_apart_bound_as_much_as_their_number_allows():
    """Without privacy: every one of 500 against none of 500, each limit at 2.5 %."""
    bound = empirical_audit(lambda table, _: float(len(table)), ONES, NEIGHBOUR, runs=1000)
    smallest, largest = 0.025 ** (1 / 500), 1 - 0.025 ** (1 / 500)
    assert bound == pytest.approx(math.log(smallest / largest))


def test_the_bound_is_too_large_as_rarely_as_it_says():
    """At confidence 0.5 most bounds still hold, over 60 audits of a mechanism at its very ε."""

    def flip(table, generator):
        return float(generator.random() < (0.75 if len(table) == 11 else 0.25))

    bounds = [
        empirical_audit(flip, ONES, NEIGHBOUR, runs=400, confidence=0.5, seed=seed)
        for seed in range(60)
    ]
    passed = np.mean(np.array(bounds) > math.log(3))
    # 60 audits that fail independently half of the time pass 0.7 with a probability of 0.001.
    assert passed <= 0.7
    assert np.median(bounds) > 0.8


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"runs": 10}, "runs must be"),
        ({"runs": 1000, "confidence": 1.0}, "confidence must lie"),
    ],
)
def test_runs_without_sense_are_refused(arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        empirical_audit(laplace(1.0), ONES, NEIGHBOUR, **arguments)
    with pytest.raises(BadInput, match="gave no number"):
        empirical_audit(lambda *_: math.nan, ONES, NEIGHBOUR, runs=100)
