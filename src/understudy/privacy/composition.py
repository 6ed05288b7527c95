"""Several releases about the same people, taken together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from understudy.errors import BadInput, Refused
from understudy.privacy.accounting import NO_PURE_EPSILON, Cost, epsilon_at, total
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind
from understudy.privacy.rounding import at_most, plain


@dataclass(frozen=True)
class Composition:
    """What several releases promise together, under one adjacency."""

    adjacency: Adjacency
    cost: Cost
    delta: float | None = None
    kind: Kind = Kind.STRICT
    """Conditional as soon as one of them is."""

    @property
    def epsilon(self) -> float:
        """The smallest ε that is known to hold: pure, or at δ where that is smaller."""
        if self.delta is not None:
            return epsilon_at(self.cost, delta=self.delta)
        if self.cost.epsilon is None:
            raise Refused(NO_PURE_EPSILON)
        return self.cost.epsilon

    def __str__(self) -> str:
        pure, at = self.cost.epsilon, "" if self.delta is None else f" with δ = {plain(self.delta)}"
        text = f"ε = {at_most(self.epsilon)}{at} under {self.adjacency}"
        if pure is not None:
            text = f"ε = {at_most(pure)} under {self.adjacency}"
            if self.epsilon < pure:
                text += f", or ε = {at_most(self.epsilon)}{at}"
        if self.kind is Kind.CONDITIONAL:
            text += ", provided that the Markov chains have converged"
        return text


def compose(
    guarantees: Iterable[Guarantee], *, adjacency: Adjacency | str, delta: float | None = None
) -> Composition:
    """Add up guarantees: pure ε adds, and so does zero-concentrated ρ, converted at δ.

    Args:
        guarantees: About the same kind of neighbour: one unit, and membership protected in all of
            them or in none. A conditional one makes the sum conditional.
        adjacency: "add-remove" or "replace-one", under which they are added.
        delta: The δ at which ρ is converted; None for pure ε alone.

    Returns:
        What they promise together, with its ε, its δ and how firmly it holds.

    Raises:
        Refused: If one of them promises no number, they are about different neighbours, or one has
            no pure ε and there is no δ.
    """
    relation = Adjacency.parse(adjacency)
    together = tuple(guarantees)
    _check_alike(together)
    conditional = any(each.kind is Kind.CONDITIONAL for each in together)
    costs = total(_cost(each, relation) for each in together)
    if delta is None and costs.epsilon is None:
        raise Refused(NO_PURE_EPSILON)
    return Composition(relation, costs, delta, Kind.CONDITIONAL if conditional else Kind.STRICT)


def _cost(guarantee: Guarantee, adjacency: Adjacency) -> Cost:
    if guarantee.epsilon is None or guarantee.rho is None or guarantee.accept_poor_mixing:
        raise Refused(
            f"a release by {guarantee.mechanism} promises no number that holds, so none can be "
            f"stated for it together with others."
        )
    if guarantee.seeded:
        raise Refused(
            "one of the releases was made with a fixed seed, so that anyone who knows the seed can "
            "undo its noise: nothing can be stated for it together with others."
        )
    # At a δ of its own, an ε cannot be added to others; its ρ can.
    pure = None if guarantee.delta else guarantee.epsilon[adjacency]
    return Cost(pure, guarantee.rho[adjacency])


def _check_alike(guarantees: Sequence[Guarantee]) -> None:
    """Refuse numbers that mean different things, and an empty sum, which would promise ε = 0."""
    if not guarantees:
        raise BadInput("there is no guarantee to add up.")
    units = {each.unit for each in guarantees}
    if len(units) > 1:
        named = ", ".join(sorted("one row" if unit is None else f"one '{unit}'" for unit in units))
        raise Refused(
            f"these guarantees protect different units ({named}), whose ε's cannot be added: "
            f"compose those that protect the same."
        )
    if len({each.membership for each in guarantees}) > 1:
        raise Refused(
            "some of these guarantees protect whether somebody takes part and others only the "
            "values, so their ε's cannot be added: compose those that protect the same."
        )
