"""The mechanisms, each a row of the equation in `score.py`, and how to find one by name."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from understudy.errors import BadInput, nearest
from understudy.mechanisms.anchored import Anchored
from understudy.mechanisms.base import Mechanism, RowMechanism
from understudy.mechanisms.censor_uw import CensorUw
from understudy.mechanisms.censor_w import CensorW
from understudy.mechanisms.ph import PerturbedHistogram
from understudy.mechanisms.unweighted import Unweighted
from understudy.mechanisms.weighted import Weighted
from understudy.mechanisms.weighted_e import WeightedE
from understudy.privacy.guarantee import check_epsilon

__all__ = [
    "BY_NAME",
    "Anchored",
    "CensorUw",
    "CensorW",
    "Mechanism",
    "PerturbedHistogram",
    "RowMechanism",
    "Unweighted",
    "Weighted",
    "WeightedE",
    "make_mechanism",
]

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
    )
}


def make_mechanism(name: str, **arguments: Any) -> Mechanism:
    """Return the mechanism of that name with those arguments; None stands for not given.

    An argument that the mechanism does not have is refused, with one exception: mechanisms without
    a target ignore ε, so that one script can run them all.
    """
    mechanism = _by_name(name)
    known = {field.name: field for field in fields(mechanism)}
    given = {key: value for key, value in arguments.items() if value is not None}
    if "epsilon" in given:
        check_epsilon(given["epsilon"])
    for key in given.keys() - known.keys() - {"epsilon"}:
        raise BadInput(f"the mechanism {name} has no option '{key}': leave it out.")
    for key, field in known.items():
        if field.default is MISSING and key not in given:
            raise BadInput(f"the mechanism {name} needs `{key}`.")
    return mechanism(**{key: value for key, value in given.items() if key in known})


def _by_name(name: str) -> type[Mechanism]:
    if name in BY_NAME:
        return BY_NAME[name]
    hint = nearest(name.lower().replace("_", "-"), BY_NAME)
    raise BadInput(f"there is no mechanism '{name}'{hint}: choose one of {', '.join(BY_NAME)}.")
