"""What a plan costs, known before anything is drawn.

A plan holds the bound of every stage of a draw, and how many draws there will be; both follow from
ε, the declared size and the number of parameters alone, so that its cost can be charged to a ledger
first. It is stated under both adjacencies, as pure ε and as zero-concentrated ρ. Whoever has no
plan has no price: there is no default that costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy.mechanisms import Anchored, Mechanism, PerturbedHistogram
from understudy.privacy.accounting import Cost, exact, rounded_up, total
from understudy.privacy.guarantee import Adjacency, Kind

Price = dict[Adjacency, Cost]


@dataclass(frozen=True)
class Plan:
    """So many draws of a mechanism, each in stages with these bounds."""

    mechanism: Mechanism
    bounds: tuple[float, ...]
    """B of each stage; empty for the histogram, which has none."""
    draws: int

    def __post_init__(self) -> None:
        histogram = isinstance(self.mechanism, PerturbedHistogram)
        if histogram == bool(self.bounds) or not all(bound > 0 for bound in self.bounds):
            raise ValueError("a plan needs the positive bound of every stage, and a histogram none")
        if self.draws < 1:
            raise ValueError("a plan needs at least one draw")

    @property
    def cost(self) -> Price | None:
        """What it costs, or None where no number is promised."""
        if self.mechanism.kind is not Kind.STRICT or math.inf in self.bounds:
            return None
        return {each: total(self._one_draw(each) * self.draws) for each in Adjacency}

    def _one_draw(self, adjacency: Adjacency) -> list[Cost]:
        mechanism = self.mechanism
        if isinstance(mechanism, PerturbedHistogram):
            pure = mechanism.epsilon / mechanism.sensitivity * adjacency.steps
            return [Cost(pure, rounded_up(exact(pure) ** 2 / 2))]
        costs = [_of_stage(2 * adjacency.steps * bound) for bound in self.bounds]
        if isinstance(mechanism, Anchored):
            together = total(costs)
            asked = mechanism.epsilon * adjacency.steps / mechanism.adjacency.steps
            # Stages that share all of ε stay a hair below it; what was asked for is stated.
            if asked * (1 - 1e-9) < together.epsilon <= asked:
                return [Cost(asked, together.rho)]
        return costs


def _of_stage(epsilon: float) -> Cost:
    """Return the cost of a stage, whose share of ε may be smaller than any that can be asked."""
    return Cost(epsilon, rounded_up(exact(epsilon) ** 2 / 8))
