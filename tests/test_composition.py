import math

import pytest

from understudy.composition import compose
from understudy.errors import Refused
from understudy.guarantee import Adjacency, Guarantee, Kind, Weights


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


@pytest.mark.parametrize("changes", [{"waived": True}, {"kind": Kind.NONE, "epsilon": None}])
def test_what_promises_nothing_strict_cannot_be_composed(changes):
    other = guarantee(0.5, **changes)
    with pytest.raises(Refused, match="promises nothing strict"):
        compose([guarantee(), other], adjacency="add-remove")
