"""The families that a formula can have, one small file each; `base.py` says what a family is."""

from __future__ import annotations

from collections.abc import Callable

from understudy.domain.schema import Column
from understudy.models.families.base import Extra, Family
from understudy.models.families.beta import beta, zero_inflated_beta, zero_one_inflated_beta
from understudy.models.families.gamma import gamma
from understudy.models.families.gaussian import gaussian
from understudy.models.families.levels import bernoulli, categorical, ordinal
from understudy.models.families.lognormal import lognormal
from understudy.models.families.negative_binomial import negative_binomial
from understudy.models.families.poisson import poisson
from understudy.models.families.student import student

__all__ = ["FAMILIES", "Extra", "Family"]

FAMILIES: dict[str, Callable[[Column], Family]] = {
    "gaussian": gaussian,
    "student": student,
    "lognormal": lognormal,
    "gamma": gamma,
    "beta": beta,
    "zero-inflated-beta": zero_inflated_beta,
    "zero-one-inflated-beta": zero_one_inflated_beta,
    "poisson": poisson,
    "negative-binomial": negative_binomial,
    "bernoulli": bernoulli,
    "categorical": categorical,
    "ordinal": ordinal,
}
