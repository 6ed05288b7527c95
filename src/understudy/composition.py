"""Several releases about the same people, taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from understudy.accounting import Cost, epsilon_at, total
from understudy.errors import Refused
from understudy.guarantee import Adjacency, Guarantee


@dataclass(frozen=True)
class Composition:
    """What several releases promise together, under one adjacency."""

    adjacency: Adjacency
    cost: Cost
    delta: float | None = None

    @property
    def epsilon(self) -> float:
        """The smallest ε that is known to hold: pure, or at δ where that is smaller."""
        if self.delta is None:
            return self.cost.epsilon
        return epsilon_at(self.cost, delta=self.delta)

    def __str__(self) -> str:
        pure = f"ε = {self.cost.epsilon:g} under {self.adjacency}"
        if self.delta is None or self.epsilon >= self.cost.epsilon:
            return pure
        return f"{pure}, or ε = {self.epsilon:.4g} with δ = {self.delta:g}"


def compose(
    guarantees: Iterable[Guarantee], *, adjacency: Adjacency | str, delta: float | None = None
) -> Composition:
    """Add up strict guarantees: pure ε adds, and so does zero-concentrated ρ, converted at δ."""
    relation = Adjacency.parse(adjacency)
    costs = []
    for guarantee in guarantees:
        if guarantee.epsilon is None or guarantee.rho is None or guarantee.waived:
            raise Refused(
                f"a release by {guarantee.mechanism} promises nothing strict, so nothing strict "
                f"can be said about it together with others."
            )
        costs.append(Cost(guarantee.epsilon[relation], guarantee.rho[relation]))
    return Composition(relation, total(costs), delta)
