"""What a mechanism will do with a request: what it costs, known first, and the draw itself.

A cost follows from ε, the declared size and the number of parameters alone, so that it can be
charged to a ledger before anything is drawn. It is stated under both adjacencies, as pure ε, where
there is one, and as zero-concentrated ρ. Whoever has no plan has no price: there is no default that
costs nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.mechanisms.request import Request
from understudy.models.base import Data, Model
from understudy.privacy.accounting import Cost, exact, rounded_up, total
from understudy.privacy.guarantee import Adjacency
from understudy.samplers.exact import Selection
from understudy.score import Row
from understudy.support.confidential import Confidential

Price = dict[Adjacency, Cost]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(ABC, Confidential):
    """A request, and how a mechanism will answer it."""

    request: Request

    @property
    @abstractmethod
    def cost(self) -> Price | None:
        """What it costs, or None where no number is promised."""

    @property
    def delta(self) -> float | None:
        """δ at which ε is stated; None where it is pure, or none is stated."""
        return None

    @property
    def epsilon(self) -> dict[Adjacency, float] | None:
        """ε as it is stated under each adjacency: pure, or at `delta`; None where none is."""
        price = self.cost
        if price is None:
            return None
        stated = {relation: cost.epsilon for relation, cost in price.items()}
        return {relation: each for relation, each in stated.items() if each is not None}

    @abstractmethod
    def draw(self) -> Drawn:
        """Draw θ once for each table: the private step, after which all is post-processing."""

    @property
    def stages(self) -> int:
        """Draws that lead to one θ."""
        return 1


@dataclass(frozen=True, repr=False)
class Drawn(Confidential):
    """One θ for each table, which alone may be published, and what was seen on the way."""

    thetas: list[dict[str, Any]]
    """θ by name, as plain numbers and lists."""
    diagnostics: dict[str, Any]
    alpha: np.ndarray | None = None
    largest_score: np.ndarray | None = None
    bound: float | None = None
    released: dict[str, Any] = field(default_factory=dict)
    """What is published beside θ."""
    model: Model | None = None
    """The model that θ is of, where measuring made it another than was asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class DrawTarget(Confidential):
    """What one draw is made from, as an audit asks for it: for any table, with any record in it."""

    row: Callable[[Data, int], Row]
    """The row of the equation for a prepared table, with everything that is learned from it. Only
    so many of its records are there; the rest is padding, and its weights do not matter."""
    selection: Selection | None = None
    """Where the draw is exact: the one that was made on the table at hand."""


def staged(bounds: Sequence[float], draws: int, *, asked: float, under: Adjacency) -> Price:
    """Return the price of so many draws from the equation, each in stages with these bounds B.

    Stages that share all of the ε that was asked for stay a hair below it, so that no rounding
    error lets them cost more; what was asked for is then stated.
    """
    if not bounds or not all(bound > 0 for bound in bounds) or draws < 1:
        raise ValueError("a price needs the positive bound of every stage, and a draw")

    def one_draw(adjacency: Adjacency) -> list[Cost]:
        # Not `Cost.of_draw`: a stage's share of ε may be smaller than any that can be asked for.
        shares = [2 * adjacency.steps * bound for bound in bounds]
        costs = [Cost(share, rounded_up(exact(share) ** 2 / 8)) for share in shares]
        together = total(costs)
        assert together.epsilon is not None
        stated = asked * adjacency.steps / under.steps
        if stated * (1 - 1e-9) < together.epsilon <= stated:
            return [Cost(stated, together.rho)]
        return costs

    return {each: total(one_draw(each) * draws) for each in Adjacency}
