"""The families that a formula can have.

- `base.py`: what a family is
- `gaussian.py`, `student.py`, `lognormal.py`, `gamma.py`: numbers, cut to the declared bounds
- `beta.py`: numbers between bounds, with and without records exactly there
- `poisson.py`, `negative_binomial.py`: counts
- `levels.py`: bernoulli, categorical and ordinal
- `truncation.py`: normalising constants of what is cut, and draws from it
"""

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
