"""The check of the model says yes to the model, and no to another."""

import numpy as np
import pytest
import scipy.stats

from inference.test_mode import beta_evidence
from summaries import answers
from understudy.inference.check import Check, check, p_value
from understudy.inference.evidence import Evidence
from understudy.inference.measurement import GAUSSIAN
from understudy.inference.mode import find_mode
from understudy.support.randomness import Source


def checked(noisy, scale, seed=0, **noise):
    population, measured = answers(300, noisy=noisy, scale=scale, **noise)
    evidence = Evidence(population, (measured,))
    mode = find_mode(evidence, np.zeros(1), Source(seed), records=2048)
    return p_value(evidence, mode, np.random.default_rng(seed))


def test_a_model_that_produced_it_passes_about_as_often_as_it_should():
    """θ is fitted, so that p-values are larger than even ones; they are never much smaller."""
    generator = np.random.default_rng(1)
    noise = scipy.stats.dlaplace(1 / 20)
    found = []
    for _ in range(40):
        yes = generator.binomial(300, 0.4)
        noisy = np.array([300 - yes, yes]) + noise.rvs(2, random_state=generator)
        found.append(checked(noisy, 20.0))
    assert np.mean(np.array(found) < 0.1) < 0.25
    assert min(found) > 1e-3


def test_sums_that_cannot_be_are_found_out():
    assert checked([300, 300], 2.0) < 1e-3


def test_with_normal_noise_the_misfit_is_judged_by_chi_square():
    """Two entries that are far noisier than the sums: the misfit is that of the noise alone."""
    far = [150 + 1000, 150 - 1000]
    normal = checked(far, 500.0, distribution=GAUSSIAN)
    population, measured = answers(300, noisy=far, scale=500.0, distribution=GAUSSIAN)
    mode = find_mode(Evidence(population, (measured,)), np.zeros(1), Source(0), records=2048)
    assert normal == pytest.approx(scipy.stats.chi2.sf(mode.misfit, 2), rel=0.25)
    # Laplace noise that varies as much is often as far off.
    assert checked(far, 500.0 / np.sqrt(2)) > 1.3 * normal


def test_heavy_tails_of_the_noise_are_no_misfit():
    """A noise of four standard deviations is ordinary among 24 Laplace entries."""
    evidence = beta_evidence(1, scale=40.0)
    mode = find_mode(evidence, np.array([-1.8, 1.8, np.log(2000)]), Source(2), records=8192)
    normal = scipy.stats.chi2.sf(mode.misfit, 24)
    assert p_value(evidence, mode, np.random.default_rng(3)) > normal or normal > 0.3


def test_draws_are_checked_as_the_mode_is():
    """A posterior predictive check: of the model that made the sums, and of sums that cannot be."""
    found = []
    for noisy in ([180, 120], [300, 300]):
        population, measured = answers(300, noisy=noisy, scale=2.0)
        evidence, source = Evidence(population, (measured,)), Source(1)
        mode = find_mode(evidence, np.zeros(1), source, records=2048)
        points = mode.point + np.random.default_rng(2).normal(0, 0.12, size=(200, 1))
        found.append(check(evidence, mode, points, source))
    good, bad = found
    assert good.warning is None
    assert 0.05 < good.predictive_p_value < 0.95
    assert bad.predictive_p_value < 1e-3
    assert "fewer than 1 in 10,000 would fit as badly" in bad.warning


@pytest.mark.parametrize(("chance", "words"), [(0.0099, "1 in 100 "), (2e-4, "1 in 1,000 ")])
def test_a_warning_says_how_seldom_it_is(chance, words):
    assert words in Check(1.0, 2, chance, 0.5).warning
    assert words in Check(1.0, 2, 0.5, chance).warning
    assert Check(1.0, 2, 0.5, 0.01).warning is None
