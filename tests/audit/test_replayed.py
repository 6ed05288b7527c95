"""What a round asks depends on what was published alone, or the audit says so."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import understudy as us
from summaries import BETA, CONFIDENTIAL, PUBLIC, SHARE, schema_of
from understudy.audit.records import Domain
from understudy.audit.replayed import exchanged, fault_of_rounds
from understudy.audit.sums import simulated_request
from understudy.inference.cells import coarse
from understudy.inference.contribution import TableContribution
from understudy.mechanisms import Summary
from understudy.models.record.declared import as_declared

KIND = CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"]}
JOINT = us.joint(schema_of(x=SHARE | {"missing": "model"}, k=KIND, g=PUBLIC))


def fault(mechanism, model):
    fresh = partial(simulated_request, mechanism, as_declared(model), n=300, seed=2)
    generator = np.random.default_rng(1)
    pool = Domain(model.schema).start(generator)
    return fault_of_rounds(fresh, mechanism.measures(fresh()), pool, generator)


@pytest.mark.parametrize("model", [BETA, JOINT], ids=["beta", "joint"])
def test_rounds_ask_what_was_published_alone(model):
    assert fault(Summary(epsilon=1.0), model) is None


class Sized(Summary):
    """It takes the number of records from the table."""

    def measures(self, request):
        return super().measures(replace(request, size=len(request.columns["x"])))


class Curious(Summary):
    """Its second round looks at the records before it asks."""

    def measures(self, request):
        *before, last = super().measures(request)
        scores = last.contribution
        seen = scores.centre + 1e-9 * request.columns["x"].mean()
        return (*before, replace(last, contribution=replace(scores, centre=seen)))


@pytest.mark.parametrize(("mechanism", "number"), [(Sized, 1), (Curious, 2)])
def test_whoever_looks_at_the_table_is_found_out(mechanism, number):
    asked = mechanism(epsilon=4.0)
    assert fault(asked, BETA) == f"what round {number} measures depends on more than was published"
    found = us.audit(asked, n=300, adjacency="add-remove", model=BETA)
    assert found.broken
    assert f"what round {number} measures" in found.neighbour


def test_exchanged_records_are_others_that_contribute_the_same():
    model = as_declared(JOINT)
    request = simulated_request(Summary(epsilon=1.0), model, n=300, seed=3)
    tables = TableContribution(model, tuple(coarse(c, 1e3) for c in model.schema.confidential))
    pool = Domain(model.schema).start(np.random.default_rng(1))
    others = exchanged(tables, request.columns, pool, np.random.default_rng(1))
    np.testing.assert_array_equal(tables.each(others), tables.each(request.columns))
    np.testing.assert_array_equal(others["g"], request.columns["g"])
    there = ~np.isnan(request.columns["x"])
    assert np.mean(others["x"][there] != request.columns["x"][there]) > 0.9
