"""What a mechanism puts into the equation, draw by draw, for a table of the audit.

A ladder is audited stage by stage with the anchors held fixed, because each anchor is public by the
time it is used; the losses of the stages add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from understudy._jax import jnp
from understudy.audit.search import POINTS, Table
from understudy.mechanisms.fitting import DRAWS, first_row
from understudy.mechanisms.ladder import anchored_row, climb, first_proposal
from understudy.privacy.guarantee import Weights
from understudy.samplers.exact import UNIT, Selection, summed_scores
from understudy.samplers.lipschitz import reach
from understudy.samplers.quadrature import quadrature
from understudy.support.progress import silent
from understudy.support.randomness import Source

if TYPE_CHECKING:
    from understudy.mechanisms import Anchored, RowMechanism
    from understudy.mechanisms.anchored import Stage
    from understudy.models.base import Model
    from understudy.score import Row

AlphaFunction = Callable[[np.ndarray], np.ndarray]
"""Weights of records from their values."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The public list that an exact draw picks from, with the part of the scores that is public."""

    model: Model
    z: np.ndarray
    fixed: np.ndarray

    @classmethod
    def of(cls, model: Model, selection: Selection, table: Table, row: Row) -> Candidates:
        """Take the list from a draw that was made on some table."""
        z = selection.candidates
        return cls(model, z, selection.scores - summed_scores(model, z, table.data, row))

    def log_probabilities(self, table: Table, row: Row) -> np.ndarray:
        """Return the logarithm of the probability with which each candidate is picked."""
        scores = summed_scores(self.model, self.z, table.data, row) + self.fixed
        heights = (scores - scores.max()) / UNIT
        return np.asarray(heights - np.logaddexp.reduce(heights))


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of θ."""

    learn: Callable[[Table], Row]
    """The row for any table, with everything that the mechanism learns from that table."""
    candidates: Candidates | None = None
    """Where the draw is exact."""


def row_draw(
    model: Model, mechanism: RowMechanism, alpha_function: AlphaFunction | None, seed: int
) -> Draw:
    """Return the one draw of a mechanism that is a row of the equation."""
    return Draw(partial(_learned_row, model, mechanism, alpha_function, seed))


def _learned_row(
    model: Model,
    mechanism: RowMechanism,
    alpha_function: AlphaFunction | None,
    seed: int,
    table: Table,
) -> Row:
    """Return the row as `fitting.py` has it, with draws from the Unweighted posterior itself."""
    row = table.blanked(first_row(model, table.data, mechanism))
    if alpha_function is not None:
        return table.weighted(row, jnp.asarray(alpha_function(table.values[: table.count])))
    if mechanism.weights is Weights.SAME_DATA:
        unweighted = row._replace(bound=jnp.asarray(math.inf))
        posterior = quadrature(model, table.data, unweighted, points=POINTS)
        draws = jnp.asarray(posterior.draws(np.random.default_rng(seed), DRAWS))
        risk = reach(model, draws, table.data, row).risk
        return table.weighted(row, mechanism.alpha(risk[: table.count]))
    return row


def ladder_draws(
    model: Model, mechanism: Anchored, table: Table, *, size: int, seed: int
) -> list[Draw]:
    """Return the stages of a ladder as it climbs, with exact draws, on one table."""
    present = {name: column[: table.count] for name, column in table.data.items()}
    plan = mechanism.plan(
        size=size, dimension=model.dimension, rows_per_record=model.rows_per_record
    )
    rungs = climb(
        model,
        present,
        mechanism,
        plan,
        Source(seed),
        size=size,
        public={},
        exact=True,
        accept_poor_mixing=False,
        progress=silent,
    )
    anchors = [first_proposal(model, mechanism).centre, *(rung.z for rung in rungs)]
    draws = []
    for stage, anchor, rung in zip(plan, anchors, rungs, strict=False):
        learn = partial(_anchored_row, model, stage, anchor)
        assert isinstance(rung.seen, Selection)
        draws.append(Draw(learn, Candidates.of(model, rung.seen, table, learn(table))))
    return draws


def _anchored_row(model: Model, stage: Stage, anchor: np.ndarray, table: Table) -> Row:
    return table.blanked(anchored_row(model, anchor, table.data, stage))
