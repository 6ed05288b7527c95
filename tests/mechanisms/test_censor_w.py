"""Censor_w: with weights from the table, and from elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

import understudy as us
from skewed import MODEL, SCHEMA, TABLE
from understudy._jax import jnp
from understudy.synthesis.preparation import prepare
from understudy.synthesis.promise import promise


def test_censor_w_then_states_epsilon_and_whom_it_does_not_protect(learned):
    mechanism = us.CensorW(epsilon=3.0, reference=learned)
    guarantee = promise(mechanism.plan(prepare(MODEL, TABLE, mechanism)), None).to_dict()
    assert (guarantee["kind"], guarantee["weights"]) == ("conditional", "record-function")
    assert guarantee["epsilon"]["add-remove"] == 3.0
    assert any("not protected by this ε" in s for s in guarantee["assumptions"])
    assert any("in both tables" in s for s in guarantee["assumptions"])


def test_weights_follow_the_table_s_risks_or_the_reference_s(learned):
    """Relative to the extent of the table 1 is 0 and 5 is 1; beyond a reference's it is cut off."""
    risk = jnp.asarray([1.0, 2.0, 5.0, jnp.inf])
    own = us.CensorW(epsilon=1.0, c1=0.8, c2=0.1)
    np.testing.assert_allclose(own.alpha(risk), [0.9, 0.7, 0.1, 0.0], atol=1e-12)
    narrow = replace(learned, extent=(1.5, 2.5))
    other = us.CensorW(epsilon=1.0, c1=0.8, c2=0.1, reference=narrow)
    np.testing.assert_allclose(other.alpha(risk), [0.9, 0.5, 0.1, 0.0], atol=1e-12)
    assert (str(own.kind), str(other.kind)) == ("asymptotic", "strict")
    assert own.bound == other.bound == 0.5


def test_it_goes_on_from_a_theta_and_from_nothing_else():
    following = us.CensorW(epsilon=1.0).following({"phi": 0.2, "lambda": 3.0}, MODEL)
    assert following.reference.origin == "release"
    with pytest.raises(us.Refused, match="fixed before the table is seen"):
        us.CensorW(epsilon=1.0).following(None, MODEL)
    with pytest.raises(us.BadInput, match="has to be public"):
        us.CensorW.check_serves(SCHEMA, MODEL, public=False)
