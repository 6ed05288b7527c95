"""What is known of the noise, against its distribution."""

import numpy as np
import pytest
import scipy.stats

from summaries import answers
from understudy.inference.measurement import GAUSSIAN, Noise


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_the_variance_is_that_of_discrete_laplace_noise(scale):
    assert Noise(scale).variance == pytest.approx(scipy.stats.dlaplace(1 / scale).var())


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0, 2.9, 3.1, 40.0])
def test_the_variance_is_that_of_discrete_gaussian_noise(scale):
    steps = np.arange(-1000, 1001)
    weights = np.exp(-((steps / scale) ** 2) / 2)
    expected = weights @ steps**2 / weights.sum()
    assert Noise(scale, GAUSSIAN).variance == pytest.approx(expected, rel=1e-12)


def test_a_round_with_normal_noise_has_a_rho_and_no_epsilon():
    _, measured = answers(noisy=[120, 180], scale=2.0, distribution=GAUSSIAN)
    said = measured.to_dict()
    assert said["noise"] == {"distribution": "discrete-gaussian", "scale": 2.0}
    assert (said["epsilon"], said["rho"]) == (None, 0.125)
    assert said["definition"]["norm"] == 2


def test_a_round_says_all_that_inferring_again_takes():
    _, measured = answers(noisy=[120, 180], scale=2.0)
    said = measured.to_dict()
    assert said == {
        "kind": "table",
        "definition": {"tables": [{"column": "y", "edges": [], "weight": 1}], "norm": 1},
        "noisy": [120, 180],
        "noise": {"distribution": "discrete-laplace", "scale": 2.0},
        "epsilon": 0.5,
    }
    np.testing.assert_allclose(2 * measured.laplace**2, measured.noise.variance)
