"""What a mechanism costs, known before anything is drawn.

The price depends on ε, the declared size and the number of parameters alone, so it can be charged
to a ledger first. It is stated under both adjacencies, as pure ε and as zero-concentrated ρ.
"""

from __future__ import annotations

from collections.abc import Sequence

from understudy.accounting import Cost, total
from understudy.guarantee import Adjacency, Kind
from understudy.mechanisms import Anchored, Mechanism, PerturbedHistogram, RowMechanism

Price = dict[Adjacency, Cost]


def price(mechanism: Mechanism, *, draws: int, bounds: Sequence[float] = ()) -> Price | None:
    """Return the price of so many draws, or None where nothing strict is promised.

    `bounds` are those of the stages of an anchored draw.
    """
    if mechanism.kind is not Kind.STRICT:
        return None
    return {
        adjacency: total(_one_draw(mechanism, adjacency, bounds) * draws) for adjacency in Adjacency
    }


def _one_draw(mechanism: Mechanism, adjacency: Adjacency, bounds: Sequence[float]) -> list[Cost]:
    if isinstance(mechanism, PerturbedHistogram):
        pure = mechanism.epsilon / mechanism.sensitivity * adjacency.steps
        return [Cost(pure, pure**2 / 2)]
    if isinstance(mechanism, RowMechanism):
        bounds = (mechanism.bound,)
    epsilons = [2 * adjacency.steps * bound for bound in bounds]
    costs = [Cost(epsilon, epsilon**2 / 8) for epsilon in epsilons]
    if isinstance(mechanism, Anchored):
        together = total(costs)
        asked = mechanism.epsilon * adjacency.steps / mechanism.adjacency.steps
        # Stages that share all of ε may miss it by a rounding error; what was asked for is stated.
        if abs(together.epsilon / asked - 1) < 1e-9:
            return [Cost(asked, together.rho)]
    return costs
