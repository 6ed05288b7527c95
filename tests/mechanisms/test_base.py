"""What every mechanism says of itself."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpyro
import numpyro.distributions as dist
import pytest

import understudy as us
from understudy.errors import BadInput
from understudy.mechanisms import (
    CensorUw,
    CensorW,
    PerturbedHistogram,
    Unweighted,
    Weighted,
    WeightedE,
)
from understudy.mechanisms.base import check_balanced
from understudy.mechanisms.reference import Reference
from understudy.privacy.guarantee import Kind


def test_every_mechanism_that_is_not_strict_says_why_in_one_sentence():
    for mechanism in (Unweighted(), Weighted(), WeightedE(epsilon=1.0), CensorW(epsilon=1.0)):
        assert mechanism.reason.endswith(".")
        assert mechanism.reason.count(". ") == 0
    assert CensorUw.reason is None


def test_privacy_arguments_are_keyword_only():
    for mechanism in (CensorUw, CensorW, WeightedE, PerturbedHistogram):
        with pytest.raises(TypeError):
            mechanism(1.0)


def test_chains_make_a_strict_guarantee_conditional_and_leave_others_as_they_are():
    strict, asymptotic = CensorUw(epsilon=1.0), Weighted()
    assert (strict.kind_with("exact"), strict.kind_with("nuts")) == (Kind.STRICT, Kind.CONDITIONAL)
    assert asymptotic.kind_with("nuts") is Kind.ASYMPTOTIC


def test_candidates_are_offered_for_few_parameters_only():
    few, many = SimpleNamespace(dimension=10), SimpleNamespace(dimension=11)
    assert CensorUw(epsilon=1.0).samplers(few) == ("nuts", "exact")
    assert CensorUw(epsilon=1.0).samplers(many) == ("nuts",)
    assert Weighted().samplers(few) == ("nuts",)


@dataclass(frozen=True, kw_only=True)
class Learned(CensorUw):
    history: Reference | None = None
    survey: Reference | None = None


def test_a_reference_is_found_whatever_its_field_is_called():
    """One that is not found would escape the check that it is not the confidential table."""
    first, second = (Reference(None, (0.0, 1.0), {}, origin) for origin in ("public", "release"))
    assert Learned(epsilon=1.0).references == ()
    assert Learned(epsilon=1.0, survey=second).references == (second,)
    both = Learned(epsilon=1.0, history=first, survey=second)
    assert (both.references, both.origins) == ((first, second), ("public", "release"))
    assert CensorW(epsilon=1.0, reference=first).references == (first,)


def test_what_has_learned_nowhere_else_says_so_and_goes_on_as_it_is():
    mechanism = CensorUw(epsilon=1.0)
    assert (mechanism.references, mechanism.origins) == ((), ())
    assert mechanism.following({"phi": 0.5}, None) is mechanism
    with pytest.raises(BadInput, match="needs `model`"):
        CensorUw.check_serves(None, None, public=True)
    with pytest.raises(BadInput, match="need a model to simulate from"):
        CensorUw.simulator({}, None, schema=None, model=None)


def test_balanced_rows_are_refused_where_they_cannot_be_had():
    def of_their_own(x, n):
        rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0))
        with numpyro.plate("records", n):
            numpyro.sample("x", dist.Exponential(rate), obs=x)

    column = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
    schema = us.Schema.from_dict({"columns": {"x": column}})
    ruled = us.Schema.from_dict({"columns": {"x": column}, "rules": [{"then": "x < 0.5"}]})
    check_balanced(True, schema, us.beta(schema))
    check_balanced(True, schema, None)
    check_balanced(False, ruled, None)
    with pytest.raises(us.BadInput, match="'of_their_own' draws its rows by functions of its own"):
        check_balanced(True, schema, us.from_numpyro(of_their_own, schema=schema))
    with pytest.raises(us.BadInput, match="the schema declares structural rules"):
        check_balanced(True, ruled, us.beta(ruled))
    with pytest.raises(us.BadInput, match="`balanced` must be True or False, not 'no'"):
        check_balanced("no", schema, None)
