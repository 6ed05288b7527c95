import math

import pytest

from understudy.errors import BadInput, Refused
from understudy.privacy.accounting import Cost, epsilon_at
from understudy.privacy.composition import compose
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind, Weights
from understudy.privacy.rounding import at_most


def guarantee(each=0.5, **changes):
    settings = {
        "mechanism": "anchored",
        "kind": Kind.STRICT,
        "asked": Adjacency.ADD_REMOVE,
        "epsilon": {Adjacency.ADD_REMOVE: each, Adjacency.REPLACE_ONE: 2 * each},
        "rho": {Adjacency.ADD_REMOVE: each**2 / 8, Adjacency.REPLACE_ONE: each**2 / 2},
        "draws": 1,
        "weights": Weights.NONE,
        "sampler": "exact",
        "assumptions": (),
        "seeded": False,
        "rows": 1,
    }
    return Guarantee(**(settings | changes))


def test_pure_epsilons_add_up_exactly_under_either_adjacency():
    year = [guarantee(0.1)] * 10
    assert compose(year, adjacency="add-remove").epsilon == 1.0
    assert compose(year, adjacency="replace-one").epsilon == 2.0


def test_many_releases_cost_less_at_a_delta_and_few_do_not():
    many = compose([guarantee(0.1)] * 400, adjacency="add-remove", delta=1e-6)
    rho = 400 * 0.1**2 / 8
    assert many.epsilon < rho + 2 * math.sqrt(rho * math.log(1e6)) < 40
    assert "with δ = 1e-06" in str(many)
    few = compose([guarantee(0.1)], adjacency="add-remove", delta=1e-6)
    assert few.epsilon == 0.1
    assert "δ" not in str(few)


CHAINS = {"kind": Kind.CONDITIONAL, "sampler": "nuts"}


def test_one_conditional_guarantee_makes_the_whole_conditional():
    whole = compose([guarantee(), guarantee(**CHAINS)], adjacency="add-remove")
    assert whole.kind is Kind.CONDITIONAL
    assert str(whole) == ("ε = 1 under add-remove, provided that the Markov chains have converged")
    strict = compose([guarantee()] * 2, adjacency="add-remove")
    assert strict.kind is Kind.STRICT
    assert str(strict) == "ε = 1 under add-remove"


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (CHAINS | {"accept_poor_mixing": True}, "promises no number"),
        ({"kind": Kind.NONE, "epsilon": None}, "promises no number"),
        ({"seeded": True}, "fixed seed"),
        ({"unit": "pid"}, "different units .one 'pid', one row."),
        ({"membership": False}, "whether somebody takes part"),
    ],
)
def test_what_cannot_be_added_is_refused(changes, match):
    with pytest.raises(Refused, match=match):
        compose([guarantee(), guarantee(0.5, **changes)], adjacency="add-remove")


def test_nothing_added_up_is_not_a_promise_of_nothing():
    with pytest.raises(BadInput, match="no guarantee to add up"):
        compose([], adjacency="add-remove")


def test_the_same_units_and_the_same_membership_add_up():
    persons = [guarantee(unit="pid", membership=False)] * 2
    assert compose(persons, adjacency="add-remove").epsilon == 1.0


def normal(rho=0.02, delta=1e-6):
    both = {Adjacency.ADD_REMOVE: rho, Adjacency.REPLACE_ONE: 4 * rho}
    stated = {each: epsilon_at(Cost(None, cost), delta=delta) for each, cost in both.items()}
    return guarantee(epsilon=stated, rho=both, delta=delta)


def test_an_epsilon_at_a_delta_is_added_by_its_rho_and_never_as_if_it_were_pure():
    together = compose([normal(), guarantee(0.5)], adjacency="add-remove", delta=1e-5)
    rho = 0.02 + 0.5**2 / 8
    assert together.cost.epsilon is None
    assert together.epsilon == pytest.approx(epsilon_at(Cost(None, rho), delta=1e-5))
    assert str(together) == f"ε = {at_most(together.epsilon)} with δ = 1e-05 under add-remove"
    alone = compose([normal()], adjacency="replace-one", delta=1e-6)
    assert alone.epsilon == normal().epsilon[Adjacency.REPLACE_ONE]


def test_without_a_delta_normal_noise_cannot_be_added_up():
    with pytest.raises(Refused, match="give `delta`"):
        compose([guarantee(), normal()], adjacency="add-remove")
