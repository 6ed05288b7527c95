"""Unweighted: every record counts in full."""

import numpy as np

from understudy._jax import jnp
from understudy.mechanisms import Unweighted


def test_every_record_counts_in_full_whatever_its_risk():
    risk = jnp.asarray([0.5, 1.0, 2.0, 6.0, jnp.inf])
    assert np.asarray(Unweighted().alpha(risk)).tolist() == [1.0] * 5


def test_it_states_no_epsilon():
    assert Unweighted().target is None
    assert Unweighted.trials() == ()
