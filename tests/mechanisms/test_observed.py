"""What is seen of a target, for the diagnostics."""

import numpy as np
import pytest

from skewed import MODEL
from understudy._jax import jnp
from understudy.mechanisms.observed import _of_candidates, plain
from understudy.samplers.exact import UNIT, Selection


def test_theta_is_published_as_plain_numbers_and_lists():
    theta = plain({"phi": jnp.asarray(0.25), "b": jnp.asarray([[1.0, 2.0]])})
    assert theta == {"phi": 0.25, "b": [[1.0, 2.0]]}
    assert type(theta["phi"]) is float


def test_candidates_are_summed_up_by_the_shares_with_which_they_are_picked():
    """Three candidates with the scores 0, log 2 and 0: shares of 1/4, 1/2 and 1/4."""
    z = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 2.0]])
    scores = np.array([0, round(np.log(2) * UNIT), 0])
    summary = _of_candidates(MODEL, Selection(z, scores, 1))
    phi = np.array([float(MODEL.constrain(jnp.asarray(each))["phi"]) for each in z])
    shares = np.array([0.25, 0.5, 0.25])
    mean = shares @ phi
    assert summary["parameters"]["phi"]["mean"] == pytest.approx(mean)
    assert summary["parameters"]["phi"]["sd"] == pytest.approx(np.sqrt(shares @ (phi - mean) ** 2))
    assert summary["parameters"]["phi"]["ess_bulk"] == pytest.approx(1 / np.sum(shares**2))
    assert summary["candidates"] == 3
