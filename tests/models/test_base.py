"""Coordinates: what is constrained comes back, with the transform's own Jacobian."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpyro.distributions import constraints

from understudy._jax import jax, jnp
from understudy.domain.schema import Schema
from understudy.models import base
from understudy.models.base import (
    GRID,
    Model,
    Parameter,
    drawn_in_blocks,
    extended,
    host_generator,
    without,
)

PAY = {"role": "confidential", "type": "continuous", "bounds": [1000, 5000]}
ALONE = Schema.from_dict({"columns": {"pay": PAY}})


class TestCoordinates:
    MODEL = Model(
        title="coordinates",
        schema=ALONE,
        parameters=(
            Parameter("a", constraints.real),
            Parameter("b", constraints.positive, (2, 2)),
            Parameter("c", constraints.simplex, (3,)),
            Parameter("d", constraints.interval(-1.0, 4.0)),
        ),
        log_prior=lambda theta: jnp.zeros(()),
        prepare=dict,
        record_loglik=lambda theta, data: jnp.zeros(1),
        simulate=lambda key, theta, public, rows: {},
        spec={},
    )

    def test_dimension_counts_unconstrained_coordinates(self):
        assert self.MODEL.dimension == 1 + 4 + 2 + 1

    def test_it_shows_its_title_its_size_and_its_columns_alone(self):
        """Bound methods would each show the whole model that they belong to once more."""
        assert repr(self.MODEL) == "<Model 'coordinates': 8 parameters; synthesises pay>"
        public = {"role": "public", "type": "continuous", "bounds": [0, 1]}
        wide = {f"pay{k}": PAY for k in range(200)} | {"age": public, "weeks": public}
        title = "joint model of " + ", ".join(wide)
        shown = repr(replace(self.MODEL, title=title, schema=Schema.from_dict({"columns": wide})))
        assert shown == (
            "<Model 'joint model of pay0, pay1, pay2, pay3, pay4, pay5, pay6, ...': 8 parameters; "
            "synthesises pay0, pay1, pay2 and 197 more beside the public age, weeks>"
        )

    def test_names_are_given_to_every_element(self):
        assert self.MODEL.parameters[1].element_names == ("b[0,0]", "b[0,1]", "b[1,0]", "b[1,1]")
        assert self.MODEL.parameters[0].element_names == ("a",)

    @given(st.lists(st.floats(-3, 3), min_size=8, max_size=8))
    def test_constraining_and_back_is_the_identity(self, z):
        theta = self.MODEL.constrain(jnp.asarray(z))
        assert float(jnp.sum(theta["c"])) == pytest.approx(1.0)
        np.testing.assert_allclose(self.MODEL.unconstrain(theta), z, atol=1e-8)

    def test_the_jacobian_is_that_of_the_transform(self):
        free = jnp.asarray([0.3, -0.2, 0.7, 0.1, -1.0, 0.4, 0.9, 0.2])

        def independent(z):
            """θ without the redundant last share of the simplex."""
            theta = self.MODEL.constrain(z)
            parts = [theta["a"], theta["b"], theta["c"][:2], theta["d"]]
            return jnp.concatenate([jnp.ravel(part) for part in parts])

        _, expected = np.linalg.slogdet(jax.jit(jax.jacobian(independent))(free))
        prior = jax.jit(self.MODEL.log_prior_unconstrained)
        assert float(prior(free)) == pytest.approx(float(expected))

    def test_rounding_goes_to_multiples_of_the_public_grid(self):
        rounded = self.MODEL.round_to_grid(jnp.asarray([0.1, -7.123456789, 3.0]))
        assert np.all(np.asarray(rounded) / GRID == np.round(np.asarray(rounded) / GRID))
        np.testing.assert_allclose(rounded, [0.1, -7.123456789, 3.0], atol=GRID)


def test_an_added_array_has_a_name_of_its_own_and_can_be_taken_out():
    data = {"u": jnp.arange(3.0)}
    more = extended(data, "missing", np.array([True, False, True]))
    assert without(more, "missing").keys() == data.keys()
    with pytest.raises(ValueError, match="already holds an array called 'u'"):
        extended(data, "u", np.zeros(3))


def test_rows_in_blocks_are_the_same_on_any_number_of_cores(monkeypatch):
    from understudy.support import parallel

    def drawn(rows, cores):
        monkeypatch.setattr(parallel, "cores", lambda: cores)
        return drawn_in_blocks(
            jax.random.key(3),
            rows,
            lambda generator, some: generator.random(some.stop - some.start),
        )

    few = drawn(50, 2)
    np.testing.assert_array_equal(few, host_generator(jax.random.key(3)).random(50))
    monkeypatch.setattr(base, "_BLOCK", 20)
    many = drawn(50, 1)
    np.testing.assert_array_equal(many, drawn(50, 3))
    assert many.shape == (50,)
    assert len(np.unique(many)) == 50
