"""What releases cost, one by one and together.

A release costs two numbers under one adjacency: its pure ε, and the ρ of zero-concentrated
differential privacy [1], which bounds every Rényi divergence of order α by ρα.

    a draw in proportion to exp(score)      ρ = ε²/8    (`Cost.of_draw`)
    any other ε-differentially private      ρ = ε²/2    (`Cost.of_pure`)
    discrete Gaussian noise                 ρ alone, and no pure ε (`Cost(None, ρ)`)

The first line is for draws from the equation of `score.py`. When a record is added, the log-ratio
of the densities is s_θ(x) minus a constant, so over all θ it lies in an interval of length
2B = ε. That is a *bounded range*, which is more than ε-differential privacy: it composes better
[2], and by Hoeffding's lemma it gives ρ = ε²/8 [3]. The second line holds for everything that is
ε-differentially private ([1], Proposition 1.4): histograms, and noisy max by permute-and-flip.
Normal noise has no largest log-ratio: of such a release only ρ is known, and (ε, δ) follow from it.

Both numbers add up over releases ([1], Lemma 1.7). They may be chosen in the light of earlier
releases, provided that the budget is fixed beforehand: sums of ε and of ρ that stay within a bound
keep its promise under fully adaptive composition [4]. It does not matter which of the two sums
keeps a run of releases within the budget: where the ε's do, the loss never exceeds the budget, so
such runs add nothing to the δ of the others.

What has no pure ε makes their sum infinite, so that ρ alone decides from then on.

ρ is converted into (ε, δ) by dp-accounting, which takes the best order α of

    ε = ρα + log((α − 1)/α) − (log δ + log α)/(α − 1)                    ([5], Proposition 12).

That is below ρ + 2√(ρ log(1/δ)), and far below the sum of the ε's when releases are many. Whoever
accepts a δ may take the smaller of the two.

Amounts are added as the decimal numbers that people write, not as their nearest binary fractions:
ten releases at 0.1 cost 1, exactly.

1. M. Bun, T. Steinke (2016). Concentrated differential privacy: simplifications, extensions, and
   lower bounds. TCC. doi:10.1007/978-3-662-53641-4_24
2. J. Dong, D. Durfee, R. Rogers (2020). Optimal differential privacy composition for exponential
   mechanisms. ICML. arXiv:1909.13830
3. M. Cesar, R. Rogers (2021). Bounding, concentrating, and truncating: unifying privacy loss
   composition for data analytics. ALT. arXiv:2004.07223
4. J. Whitehouse, A. Ramdas, R. Rogers, S. Wu (2023). Fully-adaptive composition in differential
   privacy. ICML. arXiv:2203.05481
5. C. Canonne, G. Kamath, T. Steinke (2020). The discrete Gaussian for differential privacy.
   NeurIPS. arXiv:2004.00010
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import BadInput, Refused
from understudy.privacy.guarantee import check_epsilon

HAIR = 1 - 2.0**-40
"""So that no rounding error lets anything cost more than is stated."""
NO_PURE_EPSILON = (
    "normal noise has no pure ε, so a release with a `delta` cannot be counted without one: give "
    "`delta`."
)
_HALVINGS = 45


@dataclass(frozen=True)
class Cost:
    """What one release, or several together, cost under one adjacency."""

    epsilon: float | None
    """Pure ε; None where none holds, however large."""
    rho: float

    def __post_init__(self) -> None:
        for name in ("rho",) if self.epsilon is None else ("epsilon", "rho"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BadInput(f"a cost's {name} must be a number, not {value!r}.")
            if not (math.isfinite(value) and value >= 0):
                raise BadInput(f"a cost's {name} must be finite and not negative, not {value!r}.")
            object.__setattr__(self, name, float(value))
        # Either number alone would let a release through that costs nothing by the other.
        if (self.epsilon == 0) != (self.rho == 0):
            raise BadInput(
                f"a cost's epsilon and rho must both be positive or both be 0, not "
                f"{self.epsilon!r} and {self.rho!r}."
            )

    @classmethod
    def of_draw(cls, epsilon: float) -> Cost:
        """Return the cost of an ε-private draw in proportion to exp(score)."""
        return cls(check_epsilon(epsilon), rounded_up(exact(epsilon) ** 2 / 8))

    @classmethod
    def of_pure(cls, epsilon: float) -> Cost:
        """Return the cost of an ε-private release of which nothing more is known."""
        return cls(check_epsilon(epsilon), rounded_up(exact(epsilon) ** 2 / 2))

    @property
    def free(self) -> bool:
        """Whether it is nothing."""
        return self.rho == 0

    def __add__(self, other: Cost) -> Cost:
        return total((self, other))


NOTHING = Cost(0.0, 0.0)


def exact(number: float) -> Fraction:
    """Return the decimal number that a float was written as."""
    return Fraction(repr(float(number)))


def rounded_up(number: Fraction) -> float:
    """Return the smallest float that, as people write it, is not below a number."""
    nearest = float(number)
    return nearest if exact(nearest) >= number else math.nextafter(nearest, math.inf)


def pure(costs: Iterable[Cost]) -> Fraction | None:
    """Return the sum of the pure ε's, exactly; None as soon as one of them has none."""
    epsilons = [cost.epsilon for cost in costs]
    if None in epsilons:
        return None
    return sum((exact(each) for each in epsilons if each is not None), Fraction())


def total(costs: Iterable[Cost]) -> Cost:
    """Return what several releases cost together; each sum is rounded up, once."""
    costs = tuple(costs)
    epsilon, rho = pure(costs), sum((exact(cost.rho) for cost in costs), Fraction())
    return Cost(None if epsilon is None else rounded_up(epsilon), rounded_up(rho))


def composed(costs: Iterable[Cost], *, delta: float | None) -> Fraction:
    """Return the ε that several releases use up of a budget: pure, or at δ where there is one."""
    costs = tuple(costs)
    plain = pure(costs)
    if delta is None:
        if plain is None:
            raise Refused(NO_PURE_EPSILON)
        return plain
    converted = exact(epsilon_at(total(costs), delta=delta))
    return converted if plain is None else min(plain, converted)


def epsilon_at(cost: Cost, *, delta: float) -> float:
    """Return the smallest ε at which a cost is known to be (ε, δ)-differentially private."""
    import dp_accounting

    delta = check_delta(delta)
    if cost.rho == 0:
        return 0.0
    accountant = dp_accounting.rdp.RdpAccountant(orders=_orders(cost.rho, delta))
    accountant.compose(dp_accounting.ZCDpEvent(cost.rho))
    converted = float(accountant.get_epsilon(delta))
    return converted if cost.epsilon is None else min(cost.epsilon, converted)


def rho_within(epsilon: float, *, delta: float) -> float:
    """Return a ρ, as good as the largest, that is known to be (ε, δ)-differentially private.

    The search begins at the ρ with ρ + 2√(ρ log(1/δ)) = ε, which is close. It ends where the
    conversion itself, as computed, is at most ε; the hair below that outweighs every rounding error
    in it.
    """
    epsilon, far = check_epsilon(epsilon), -math.log(check_delta(delta))
    low = (epsilon / (math.sqrt(far + epsilon) + math.sqrt(far))) ** 2

    def within(rho: float) -> bool:
        return epsilon_at(Cost(None, rho), delta=delta) <= epsilon

    while not within(low):
        low /= 2
    high = 2 * low
    while within(high):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low * HAIR


def epsilon_above(cost: Cost, *, delta: float) -> float:
    """Return ε at δ with a hair added, which outweighs every rounding error in the conversion."""
    return epsilon_at(cost, delta=delta) / HAIR


def loss_exceeded(cost: Cost, *, delta: float) -> float:
    """Return what the log of neighbours' odds exceeds, either way, with probability δ at most.

    (ε, δ) alone does not say that: it bounds what lies beyond ε on average. With ρ, Markov's
    inequality for the moment of order α − 1 gives P(log-ratio > ε) ≤ exp((α − 1)(αρ − ε)), which is
    exp(−(ε − ρ)²/4ρ) at the best α ([1], Lemma 3.5). Half of δ is left for the other way.
    """
    exceeded = cost.rho + 2 * math.sqrt(cost.rho * math.log(2 / check_delta(delta)))
    return exceeded / HAIR if cost.epsilon is None else min(cost.epsilon, exceeded / HAIR)


def check_delta(delta: object) -> float:
    """Return δ as a float if it lies between 0 and 1, and refuse it otherwise."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta < 1:
        raise BadInput(f"`delta` must be a number between 0 and 1, not {delta!r}.")
    return float(delta)


def _orders(rho: float, delta: float) -> list[float]:
    """Return orders among which the best is as good as the best of all.

    The simpler conversion ρα + log(1/δ)/(α − 1) is least at α − 1 = √(log(1/δ)/ρ), and the best
    order of the one in use is nearby. dp-accounting leaves out orders up to 1.01.
    """
    centre = math.sqrt(-math.log(delta) / rho)
    return [1 + max(0.0101, width) for width in centre * np.geomspace(0.02, 20, 2001)]
