"""Mechanisms by name: a new one gets its line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from understudy.domain.schema import Schema
from understudy.errors import BadInput, nearest
from understudy.mechanisms.anchored import Anchored
from understudy.mechanisms.base import LARGEST_CHAIN, LARGEST_EXACT_DIMENSION, Mechanism
from understudy.mechanisms.censor_uw import CensorUw
from understudy.mechanisms.censor_w import CensorW
from understudy.mechanisms.ph import PerturbedHistogram
from understudy.mechanisms.row import LARGEST_EXACT_BOUND
from understudy.mechanisms.summary import Summary
from understudy.mechanisms.unweighted import Unweighted
from understudy.mechanisms.weighted import Weighted
from understudy.mechanisms.weighted_e import WeightedE
from understudy.models.base import Model
from understudy.privacy.guarantee import check_epsilon

BY_NAME: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism
    for mechanism in (
        Unweighted,
        Weighted,
        WeightedE,
        CensorUw,
        CensorW,
        PerturbedHistogram,
        Anchored,
        Summary,
    )
}


def make_mechanism(name: str, **arguments: Any) -> Mechanism:
    """Return the mechanism of that name with those arguments; None stands for not given.

    An argument that the mechanism does not have is refused, with one exception: mechanisms without
    a target ignore ε, so that one script can run them all.
    """
    if name not in BY_NAME:
        hint = nearest(name.lower().replace("_", "-"), BY_NAME)
        raise BadInput(f"there is no mechanism '{name}'{hint}: choose one of {', '.join(BY_NAME)}.")
    mechanism = BY_NAME[name]
    known = {field.name: field for field in fields(mechanism)}
    given = {key: value for key, value in arguments.items() if value is not None}
    if "epsilon" in given:
        check_epsilon(given["epsilon"])
    check_takes(name, **given)
    for key, field in known.items():
        if field.default is MISSING and key not in given:
            raise BadInput(f"the mechanism {name} needs `{key}`.")
    return mechanism(**{key: value for key, value in given.items() if key in known})


def check_takes(name: str, **arguments: Any) -> None:
    """Refuse an argument that the mechanism of that name does not have; None is not given."""
    known = {field.name for field in fields(BY_NAME[name])} | {"epsilon"}
    for key, value in arguments.items():
        if value is not None and key not in known:
            raise BadInput(f"the mechanism {name} does not take `{key}`: leave it out.")


def spec_of(mechanism: Mechanism, model: Model | None) -> dict[str, Any]:
    """Return what `parameters.json` says of the model, or of a mechanism that has none."""
    return {"name": mechanism.name} if model is None else model.spec


def without_model(spec: dict[str, Any]) -> type[Mechanism] | None:
    """Return the mechanism without a model that a spec names, if it names one."""
    named = BY_NAME.get(str(spec.get("name")))
    alone = named is not None and not named.needs_model and spec == {"name": named.name}
    return named if alone else None


def no_combining(published: Mapping[str, Any], schema: Schema) -> str | None:
    """Return why analyses of a release's tables cannot be combined; None where they can."""
    mechanism = BY_NAME.get(str(published.get("mechanism")))
    if mechanism is None:
        return "the release names no mechanism that is known, so no rule for its tables is either."
    if published.get("balanced") is not False:
        return (
            "the rows of these tables are balanced, and no rule is known that combines analyses "
            "of other than independent rows."
        )
    return mechanism.no_combining(schema)


def resolve_sampler(asked: str, mechanism: Mechanism, model: Model | None) -> str:
    """Return `exact`, `nuts` or `none` for what was asked, or refuse what cannot be done."""
    if asked not in ("auto", "exact", "nuts"):
        raise BadInput(f"there is no sampler '{asked}': choose auto, exact or nuts.")
    if not mechanism.needs_model:
        if asked != "auto":
            raise BadInput(f"{mechanism.name} draws no parameters of a model: leave out `sampler`.")
        return "none"
    if model is None:
        raise BadInput(f"the mechanism {mechanism.name} needs a model, not a schema alone.")
    allowed = mechanism.samplers(model)
    sampler = allowed[0] if asked == "auto" else asked
    if sampler == "nuts" and model.dimension > LARGEST_CHAIN:
        raise BadInput(
            f"the model has {model.dimension:,} parameters, more than {LARGEST_CHAIN:,}, and "
            f"{mechanism.name} would draw them by chains: use summary, or declare fewer levels."
        )
    if asked == "auto":
        return sampler
    if allowed == ("none",):
        raise BadInput(f"{mechanism.name} draws nothing but noise: leave out `sampler`.")
    if asked in allowed:
        return asked
    if mechanism.draws_exactly and model.dimension <= LARGEST_EXACT_DIMENSION:
        raise BadInput(
            f"exact draws add scores as whole numbers, which allows an `epsilon` up to "
            f"{2 * LARGEST_EXACT_BOUND:g}: use `sampler` nuts."
        )
    able = sorted(each.name for each in BY_NAME.values() if each.draws_exactly)
    raise BadInput(
        f"exact draws serve {' and '.join(able)} with up to {LARGEST_EXACT_DIMENSION} "
        f"parameters, but this is {mechanism.name} with {model.dimension}: use `sampler` nuts."
    )
