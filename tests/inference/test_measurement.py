"""What is known of the noise, against its distribution."""

import numpy as np
import pytest
import scipy.stats

from summaries import answers
from understudy.inference.measurement import Noise


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_the_variance_is_that_of_discrete_laplace_noise(scale):
    assert Noise(scale).variance == pytest.approx(scipy.stats.dlaplace(1 / scale).var())


def test_a_round_says_all_that_inferring_again_takes():
    _, measured = answers(noisy=[120, 180], scale=2.0)
    said = measured.to_dict()
    assert said == {
        "kind": "table",
        "definition": {"tables": [{"column": "y", "edges": [], "weight": 1}]},
        "noisy": [120, 180],
        "noise": {"distribution": "discrete-laplace", "scale": 2.0},
        "epsilon": 0.5,
    }
    np.testing.assert_allclose(2 * measured.laplace**2, measured.noise.variance)
