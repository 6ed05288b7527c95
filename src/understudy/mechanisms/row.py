"""Mechanisms that are a row of the equation in `score.py`: fit, weigh, refit, draw.

The steps of Weighted, Weighted-e and Censor_w are: fit the Unweighted model, turn each record's
risk under it into a weight, and fit again (paper, section 2.1). The others take one fit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.mechanisms.base import Mechanism
from understudy.mechanisms.fitting import (
    DRAWS,
    choose_draws,
    drawn_from,
    first_row,
    fit_mechanism,
    plain,
)
from understudy.mechanisms.plan import Drawn, DrawTarget, Plan, Price, staged
from understudy.mechanisms.request import Request
from understudy.models.base import Data, Model
from understudy.privacy.guarantee import Kind, Weights, bound_for
from understudy.samplers.exact import Selection, exact_draw
from understudy.samplers.lipschitz import reach
from understudy.samplers.nuts import Fit
from understudy.samplers.proposals import prior_proposal
from understudy.samplers.quadrature import quadrature
from understudy.score import Row

LARGEST_EXACT_BOUND = 1000.0
"""Sums of scores up to this bound stay exact in chunks, and fit 64 bits for 10⁸ records."""
_CANDIDATES = 65_536
_GRID = 65
"""Nodes a side of the grid on which an audit finds the Unweighted posterior."""


@dataclass(frozen=True, kw_only=True)
class RowMechanism(Mechanism):
    """A row of the equation in `score.py`, with the offset 0.

    A subclass says in its docstring what α and B are, which guarantee follows, and why.
    """

    @property
    def affordable(self) -> float:
        """The size of a score at which one draw costs ε, where the mechanism takes one."""
        assert self.target is not None
        return bound_for(epsilon=self.target, adjacency=self.adjacency)

    @property
    def bound(self) -> float:
        """B: what ε affords, unless the mechanism censors nothing and says that it is infinite."""
        return self.affordable

    @abstractmethod
    def alpha(self, risk: jax.Array) -> jax.Array:
        """Return the weight of each record from its risk.

        Args:
            risk: max |f| of each record over draws of the Unweighted posterior.
        """

    def samplers(self, model: Model) -> Sequence[str]:
        """Return the samplers; sums of scores of any size are left to chains."""
        allowed = super().samplers(model)
        return allowed if self.bound <= LARGEST_EXACT_BOUND else ("nuts",)

    def plan(self, request: Request) -> RowPlan:
        """Return the one stage that it takes."""
        return RowPlan(request, self)

    def targets(self, request: Request) -> Sequence[DrawTarget]:
        """Return its one draw."""
        assert request.model is not None
        seed = request.source.seed
        return (DrawTarget(partial(_learned, request.model, self, 0 if seed is None else seed)),)


@dataclass(frozen=True, eq=False, repr=False)
class RowPlan(Plan):
    """Draws from one row of the equation."""

    mechanism: RowMechanism

    @property
    def cost(self) -> Price | None:
        """2B under add-remove for each draw, where the target is private and censored at all."""
        mechanism = self.mechanism
        if mechanism.kind is not Kind.STRICT or mechanism.bound == math.inf:
            return None
        asked = math.inf if mechanism.target is None else mechanism.target
        return staged(
            (mechanism.bound,), self.request.tables, asked=asked, under=mechanism.adjacency
        )

    def draw(self) -> Drawn:
        """Draw from candidates or by chains."""
        request, model = self.request, self.request.model
        assert model is not None
        data = model.prepare(request.columns)
        more: dict[str, Any] = {}
        explored: Selection | Fit
        if request.sampler == "exact":
            row = first_row(model, data, self.mechanism)
            proposal = prior_proposal(model)
            selections = [
                exact_draw(model, data, row, proposal, request.source, candidates=_CANDIDATES)
                for _ in range(request.tables)
            ]
            points = [selection.candidates[selection.picked] for selection in selections]
            explored = selections[-1]
        else:
            explored, row, more["limits"] = fit_mechanism(request, model, data, self.mechanism)
            points = list(choose_draws(explored, request.tables, request.source.generator()))
        more["dropped_records"] = int(np.sum(np.asarray(row.alpha) == 0))
        thetas = [plain(model.constrain(model.round_to_grid(z))) for z in points]
        return drawn_from(request, data, row, explored, thetas=thetas, more=more)


def _learned(model: Model, mechanism: RowMechanism, seed: int, data: Data, count: int) -> Row:
    """Return the row as a fit has it, with draws from the Unweighted posterior itself."""
    row = first_row(model, data, mechanism)
    if mechanism.weights is not Weights.SAME_DATA:
        return row
    there = jnp.arange(len(row.alpha)) < count
    present = row._replace(alpha=jnp.where(there, row.alpha, 0.0))
    unweighted = present._replace(bound=jnp.asarray(math.inf))
    posterior = quadrature(model, data, unweighted, points=_GRID)
    draws = jnp.asarray(posterior.draws(np.random.default_rng(seed), DRAWS))
    alpha = mechanism.alpha(reach(model, draws, data, present).risk[:count])
    return row._replace(alpha=jnp.pad(alpha, (0, len(row.alpha) - count)))
