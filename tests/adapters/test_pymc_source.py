"""What a function that builds a PyMC model is given, and what it must return."""

import numpy as np
import pytest
import scipy.stats

pm = pytest.importorskip("pymc")


from pymc_functions import REAL, built  # noqa: E402
from understudy import from_pymc  # noqa: E402
from understudy._jax import jnp  # noqa: E402
from understudy.adapters.loading import from_any  # noqa: E402
from understudy.errors import BadInput  # noqa: E402


def changing(y, w):
    w[0] = 0
    return built()(y, w)


def no_return(y, w):
    built()(y, w)


def pair_returned(y, w):
    return built()(y, w), 3


def needs_a_length(y, w):
    return built(likelihood=lambda y, w, c: pm.Normal("y", c, 1, shape=len(y), observed=y))(y, w)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (built(likelihood=lambda y, w, c: pm.Normal("z", c, 1, observed=w)), "'z' is observed, b"),
        (built(likelihood=lambda y, w, c: None), "no observed variable: pass a column"),
        (built(prior=lambda y, w: pm.Normal("w", 0, 1)), "'w' has the name of a column: rename"),
        (
            built(more=lambda y, w, c: pm.Potential("bump", -(c**2))),
            "pm.Potential 'bump' is neither",
        ),
        (built(more=lambda y, w, c: pm.Normal("centre", 0, 1)), "already exists .*: rename one"),
        (changing, "raised ValueError: .*read-only .*: use its arguments as they are"),
        (no_return, "returned nothing, but a PyMC function must return the pm.Model"),
        (pair_returned, "returned a tuple, but a PyMC function must return the pm.Model"),
        (needs_a_length, "PyTensor vectors: put all of them into pm.Data"),
    ],
)
def test_a_pymc_model_that_cannot_be_trusted_is_told_what_to_change(function, sentence):
    with pytest.raises(BadInput, match=sentence) as fault:
        from_pymc(function, schema=REAL)
    assert "\n" not in str(fault.value)


def test_a_function_that_needs_vectors_gets_them():
    def vectors(y, w):
        with pm.Model() as model:
            centre = pm.Normal("centre", 0, 1)
            pm.Normal("y", centre + w.dimshuffle(0), 1, observed=y)
        return model

    model = from_any(vectors, schema=REAL)
    values = {"y": np.array([1.0, 2.0]), "w": np.array([0.5, 3.0])}
    ours = model.record_loglik({"centre": jnp.asarray(0.2)}, model.prepare(values))
    np.testing.assert_allclose(ours, scipy.stats.norm.logpdf([1.0, 2.0], [0.7, 3.2]))


def test_a_pymc_function_that_forgets_to_return_is_told_so():
    def forgets(y, w):
        built()(y, w)

    with pytest.raises(BadInput, match=r"a PyMC function must return its pm.Model"):
        from_any(forgets, schema=REAL)
