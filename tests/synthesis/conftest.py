import pytest

import understudy as us
from synthesised import ALONE, BETA, TABLE


@pytest.fixture(scope="session")
def releases():
    """A seeded release of each of the paper's mechanisms."""
    mechanisms = [
        us.Unweighted(),
        us.Weighted(),
        us.WeightedE(epsilon=3.0),
        us.CensorUw(epsilon=3.0),
        us.CensorW(epsilon=3.0),
    ]
    made = {m.name: us.synthesize(BETA, TABLE, m, seed=1) for m in mechanisms}
    made["ph"] = us.synthesize(ALONE, TABLE, us.PerturbedHistogram(epsilon=3.0), seed=1)
    return made
