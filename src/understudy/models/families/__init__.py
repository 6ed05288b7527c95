"""The families that a formula can have.

- `base.py`: what a family is
- `numbers.py`: gaussian, student, lognormal and gamma, cut to the declared bounds
- `beta.py`: numbers between bounds, with and without records exactly there
- `counts.py`: poisson and negative-binomial
- `levels.py`: bernoulli, categorical and ordinal
- `truncation.py`: normalising constants of what is cut, and draws from it
"""

from __future__ import annotations

from collections.abc import Callable

from understudy.domain.schema import Column
from understudy.models.families.base import Extra, Family
from understudy.models.families.beta import beta, zero_inflated_beta, zero_one_inflated_beta
from understudy.models.families.counts import negative_binomial, poisson
from understudy.models.families.levels import bernoulli, categorical, ordinal
from understudy.models.families.numbers import gamma, gaussian, lognormal, student

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
