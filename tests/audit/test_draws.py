"""The picks of exact draws, stage by stage."""

import numpy as np
import pytest

from understudy.audit.draws import draws_of
from understudy.audit.run import _model, _request
from understudy.audit.search import (
    EXTREMES,
    bases,
    largest_gap,
)
from understudy.mechanisms import (
    Anchored,
)

MODEL = _model()


@pytest.mark.parametrize("n", [200, pytest.param(2000, marks=pytest.mark.slow)])
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
