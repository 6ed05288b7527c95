"""What a mechanism puts into the equation, draw by draw, for a table of the audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from understudy._jax import jnp
from understudy.audit.search import Table
from understudy.mechanisms import Request
from understudy.mechanisms.plan import DrawTarget
from understudy.models.base import Model
from understudy.samplers.exact import UNIT, Selection, summed_scores
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


def draws_of(
    request: Request, model: Model, table: Table, alpha_function: AlphaFunction | None
) -> list[Draw]:
    """Return the draws that a mechanism makes to answer a request, from its targets on a table."""

    def draw(target: DrawTarget) -> Draw:
        learn = partial(_learned, target, alpha_function)
        if target.selection is None:
            return Draw(learn)
        return Draw(learn, Candidates.of(model, target.selection, table, learn(table)))

    return [draw(target) for target in request.mechanism.targets(request)]


def _learned(target: DrawTarget, alpha_function: AlphaFunction | None, table: Table) -> Row:
    row = target.row(table.data, table.count)
    if alpha_function is None:
        return table.blanked(row)
    return table.weighted(row, jnp.asarray(alpha_function(table.values[: table.count])))
