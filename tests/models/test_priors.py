"""Priors are proper, few, and stored as names and numbers."""

import json
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.integrate
import scipy.stats

from understudy._jax import jax, jnp
from understudy.adapters.loading import load_model, rebuild_model
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.formula import formula
from understudy.models.priors import Prior, read_prior_options, read_priors

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "y": {"role": "confidential", "type": "continuous", "bounds": [0, 10]},
            "x": {"role": "public", "type": "continuous", "bounds": [0, 1]},
            "w": {"role": "public", "type": "continuous", "bounds": [0, 1]},
            "g": {"role": "public", "type": "categorical", "levels": ["a", "b", "c"]},
        }
    }
)

SCIPY = [
    (("normal", 1.0, 2.0), scipy.stats.norm(1, 2)),
    (("student", 3.0, 1.0, 2.0), scipy.stats.t(3, 1, 2)),
    (("half-normal", 0.5), scipy.stats.halfnorm(scale=0.5)),
    (("half-student", 3.0, 0.5), None),
    (("exponential", 2.0), scipy.stats.expon(scale=0.5)),
    (("gamma", 2.0, 0.1), scipy.stats.gamma(2, scale=10)),
    (("lognormal", 1.0, 1.5), scipy.stats.lognorm(1.5, scale=np.e)),
    (("pareto", 2.0, 1.5), scipy.stats.pareto(1.5, scale=2)),
    (("beta", 2.0, 3.0), scipy.stats.beta(2, 3)),
]


@pytest.mark.parametrize(("given", "other"), SCIPY, ids=[given[0] for given, _ in SCIPY])
def test_scipy_has_the_same_densities(given, other):
    prior = Prior(given[0], given[1:])
    values = np.array([2.1, 2.5, 7.0]) if given[0] == "pareto" else np.array([0.1, 0.5, 0.9])
    ours = [float(prior.log_density(jnp.asarray(value))) for value in values]
    if other is None:
        expected = np.log(2) + scipy.stats.t(3, 0, 0.5).logpdf(values)
    else:
        expected = other.logpdf(values)
    np.testing.assert_allclose(ours, expected, rtol=1e-10)


@pytest.mark.parametrize("given", [given for given, _ in SCIPY], ids=lambda given: given[0])
def test_every_prior_is_proper_on_its_support(given):
    prior = Prior(given[0], given[1:])
    low = {"real": -np.inf, "positive": prior.start, "between 0 and 1": 0.0}[str(prior.kind)]
    high = 1.0 if str(prior.kind) == "between 0 and 1" else np.inf
    density = jax.jit(lambda value: jnp.exp(prior.log_density(value)))
    mass, _ = scipy.integrate.quad(lambda value: float(density(value)), low, high, limit=200)
    assert mass == pytest.approx(1.0, abs=1e-6)


def test_shares_have_a_dirichlet_density():
    shares = np.array([0.2, 0.3, 0.5])
    ours = float(Prior("dirichlet", (2.0,)).log_density(jnp.asarray(shares)))
    assert ours == pytest.approx(scipy.stats.dirichlet([2, 2, 2]).logpdf(shares))


def test_elements_of_an_array_are_independent():
    prior = Prior("normal", (0.0, 2.0))
    both = float(prior.log_density(jnp.asarray([0.3, -1.0])))
    assert both == pytest.approx(scipy.stats.norm(0, 2).logpdf([0.3, -1.0]).sum())


@pytest.mark.parametrize(
    ("text", "parameter", "prior"),
    [
        ("Intercept=normal(0,1)", "Intercept", Prior("normal", (0.0, 1.0))),
        (" g[T.b] = student( 3, -1 , 2e-1 ) ", "g[T.b]", Prior("student", (3.0, -1.0, 0.2))),
        ("1|g_sigma=half-normal(2)", "1|g_sigma", Prior("half-normal", (2.0,))),
        ("I(x == 1)=normal(0, 1)", "I(x == 1)", Prior("normal", (0.0, 1.0))),
    ],
)
def test_priors_are_read_from_text(text, parameter, prior):
    assert read_prior_options([text]) == {parameter: prior}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Intercept", "write NAME=DISTRIBUTION"),
        ("Intercept=normal", "write NAME=DISTRIBUTION"),
        ("=normal(0, 1)", "write NAME=DISTRIBUTION"),
        ("Intercept=normal(0, one)", "must be numbers"),
        ("Intercept=normal(0,,1)", "must be numbers"),
        ("Intercept=normal(0)", "takes 2 numbers .mean, sd., not 1"),
        ("Intercept=normal(0, 0)", "sd must be a positive number"),
        ("Intercept=normal(0, inf)", "sd must be a positive number"),
        ("Intercept=normal(nan, 1)", "mean must be a number"),
        ("Intercept=norml(0, 1)", "did you mean 'normal'"),
        ("Intercept=uniform(0, 1)", "choose one of normal, student"),
        ("Intercept=__import__('os')", "must be numbers|write NAME|no prior"),
    ],
)
def test_what_is_no_prior_is_refused(text, reason):
    with pytest.raises(BadInput, match=reason):
        read_prior_options([text])


def test_two_priors_of_one_parameter_are_refused():
    with pytest.raises(BadInput, match="two priors were given for 'sigma'"):
        read_prior_options(["sigma=half-normal(1)", "sigma=exponential(1)"])


@pytest.mark.parametrize(
    "given",
    [
        ["normal", 0, 1],
        {"Intercept": "normal(0, 1)"},
        {"Intercept": ["normal", "0", 1]},
        {"Intercept": ["normal", True, 1]},
        {"Intercept": ["normal", 0, [1]]},
        {"Intercept": ["normal", 0, 10**400]},
        {"Intercept": []},
        {"Intercept": None},
        {"Intercept": {"normal": [0, 1]}},
        {1: ["normal", 0, 1]},
    ],
)
def test_priors_from_a_published_file_may_be_anything(given):
    with pytest.raises(BadInput, match=r"must be|must be given"):
        read_priors(given)


class TestOfAFormula:
    GIVEN: ClassVar = {
        "Intercept": ("normal", 1, 1.5),
        "coefficients": ("normal", 0, 0.5),
        "w": ("student", 4, 0, 1),
        "sigma": ("exponential", 3),
        "1|g_sigma": ("half-student", 3, 1),
    }

    def model(self, **given):
        return formula("y ~ x + w + (1 | g)", family="gaussian", schema=SCHEMA, **given)

    def test_given_priors_take_the_place_of_the_family_s(self):
        model = self.model(priors=self.GIVEN)
        theta = {"Intercept": 0.2, "x": 0.3, "w": -0.4, "sigma": 0.7, "1|g_sigma": 0.6}
        theta["1|g_offset"] = np.array([0.1, -0.5, 2.0])
        expected = (
            scipy.stats.norm(1, 1.5).logpdf(0.2)
            + scipy.stats.norm(0, 0.5).logpdf(0.3)
            + scipy.stats.t(4).logpdf(-0.4)
            + scipy.stats.expon(scale=1 / 3).logpdf(0.7)
            + np.log(2)
            + scipy.stats.t(3).logpdf(0.6)
            + scipy.stats.norm.logpdf([0.1, -0.5, 2.0]).sum()
        )
        ours = model.log_prior({name: jnp.asarray(value) for name, value in theta.items()})
        assert float(ours) == pytest.approx(expected)

    def test_the_support_follows_the_prior(self):
        model = formula(
            "y ~ 1", family="student", schema=SCHEMA, priors={"nu": ("pareto", 3.0, 2.0)}
        )
        theta = model.constrain(jnp.full(model.dimension, -40.0))
        assert float(theta["nu"]) == pytest.approx(3.0)

    def test_a_release_rebuilds_them(self):
        model = self.model(priors=self.GIVEN)
        again = rebuild_model(json.loads(json.dumps(model.spec)), schema=SCHEMA)
        assert again.spec == model.spec == json.loads(json.dumps(model.spec))
        z = model.starting_points(jax.random.key(0), 1)[0]
        assert float(again.log_prior_unconstrained(z)) == float(model.log_prior_unconstrained(z))

    def test_without_given_priors_the_spec_is_what_it_always_was(self):
        assert self.model().spec == {"formula": "y ~ x + w + (1 | g)", "family": "gaussian"}

    def test_the_command_line_gives_the_same_model(self):
        texts = ["Intercept=normal(1, 1.5)", "coefficients=normal(0, 0.5)", "w=student(4, 0, 1)"]
        texts += ["sigma=exponential(3)", "1|g_sigma=half-student(3, 1)"]
        text = "y ~ x + w + (1 | g)"
        loaded = load_model(text, schema=SCHEMA, family="gaussian", priors=texts)
        assert loaded.spec == self.model(priors=self.GIVEN).spec

    @pytest.mark.parametrize(
        ("priors", "reason"),
        [
            ({"sigm": ("half-normal", 1)}, "no parameter 'sigm' .did you mean 'sigma'"),
            ({"1|g_offset": ("normal", 0, 1)}, r"no parameter '1\|g_offset'"),
            ({"lambda": ("gamma", 1, 1)}, "no parameter 'lambda'"),
            ({"sigma": ("normal", 0, 1)}, "does not fit 'sigma', which is positive"),
            ({"x": ("half-normal", 1)}, "does not fit 'x', which is real"),
            ({"coefficients": ("beta", 1, 1)}, "does not fit 'coefficients'"),
        ],
    )
    def test_a_prior_that_does_not_fit_is_refused(self, priors, reason):
        with pytest.raises(BadInput, match=reason):
            self.model(priors=priors)

    def test_degrees_of_freedom_stay_above_one(self):
        with pytest.raises(BadInput, match="must not reach below 1"):
            formula("y ~ 1", family="student", schema=SCHEMA, priors={"nu": ("gamma", 2, 0.1)})

    def test_there_are_no_coefficients_beside_an_intercept_alone(self):
        with pytest.raises(BadInput, match="no parameter 'coefficients'"):
            formula(
                "y ~ 1", family="beta", schema=SCHEMA, priors={"coefficients": ("normal", 0, 1)}
            )

    def test_priors_belong_to_a_formula(self):
        alone = Schema.from_dict({"columns": {"y": SCHEMA.column("y").to_dict()}})
        with pytest.raises(BadInput, match="`priors` belongs to a formula"):
            load_model("beta", schema=alone, priors=["phi=beta(1, 1)"])

    @pytest.mark.parametrize(
        "damage",
        [{"priors": {"sigma": ["evil", 1]}}, {"priors": []}, {"priors": "sigma"}, {"more": 1}],
    )
    def test_a_damaged_spec_is_refused(self, damage):
        spec = {"formula": "y ~ x", "family": "gaussian"}
        assert rebuild_model(spec, schema=SCHEMA).spec == spec
        with pytest.raises(BadInput):
            rebuild_model(spec | damage, schema=SCHEMA)


COMPUTED = [
    np.mean([0.2, 0.4]),
    np.float32(0.5),
    np.int64(2),
    np.array(0.5),
    np.array([0.5]),
    jnp.asarray(0.5),
    pd.Series([0.5]),
]


@pytest.mark.parametrize("number", COMPUTED, ids=lambda number: type(number).__name__)
def test_a_number_that_was_computed_is_none_that_a_person_wrote_down(number):
    """The mean of a column is a NumPy number, and one of these passes for a float."""
    for priors in ({"Intercept": ("normal", number, 1.0)}, {"Intercept": ["normal", 0, number]}):
        with pytest.raises(BadInput, match=r"prior of 'Intercept' has a number that was computed"):
            formula("y ~ x", family="gaussian", schema=SCHEMA, priors=priors)
    with pytest.raises(BadInput, match=r"prior normal has a number that was computed.*plain ones"):
        Prior("normal", (number, 1.0))


def test_a_prior_that_was_stored_has_plain_numbers():
    stored = json.loads(json.dumps({"Intercept": ["normal", 0, 1.5]}))
    assert read_priors(stored) == {"Intercept": Prior("normal", (0.0, 1.5))}
