"""What is public of a climb by `anchored`: where each stage's θ was drawn from, and which it is.

A stage picks one of K candidates from a public proposal, in proportion to

    exp( Σᵢ clip(α (f_θ(xᵢ) − f_θ₀(xᵢ)), ±αT) ) · ξ(θ) / q(θ),

where the anchor θ₀ is the proposal's centre. Its price covers the draw of every stage, so all of
them may be told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.errors import BadInput, Refused
from understudy.inference.shares import Shares
from understudy.models.base import Data, Model
from understudy.samplers.proposals import Proposal
from understudy.score import Row, score

Floats = NDArray[np.float64]

MOST_PARAMETERS = 5
LOWEST_THRESHOLD, FEWEST_CANDIDATES, MOST_CANDIDATES = 1.0, 1000, 2**16
"""Within these intervals were found to hold what they should."""
MOST_STAGES = 30
_BLOCK = 64


@dataclass(frozen=True, eq=False)
class TemperedStage:
    """One draw of θ, and everything about it that is public."""

    alpha: float
    """α, the weight of a record."""
    threshold: float
    """T, the log-likelihood ratio at which a record stops pulling."""
    proposal: Proposal
    """Where candidates came from; its centre is the anchor."""
    candidates: int
    """K, how many there were."""
    drawn: Floats
    """The one that was picked, in unconstrained coordinates."""

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> TemperedStage:
        """Return a stage from what `parameters.json` says of it."""
        anchor, root, drawn = (np.asarray(contents[k], float) for k in ("anchor", "root", "drawn"))
        numbers = float(contents["alpha"]), float(contents["threshold"])
        if not anchor.shape == drawn.shape == (len(drawn),) or root.shape != 2 * drawn.shape:
            raise ValueError("coordinates of different lengths")
        if not np.isfinite([*numbers, *anchor, *drawn, *root.flat]).all():
            raise ValueError("a number that is not finite")
        if min(*numbers, *np.diag(root)) <= 0 or np.triu(root, 1).any():
            raise ValueError("a weight, threshold or scale that is none")
        return cls(*numbers, Proposal(anchor, root), int(contents["candidates"]), drawn)

    def to_dict(self) -> dict[str, Any]:
        """Return what `parameters.json` says of a stage."""
        return {
            "alpha": self.alpha,
            "threshold": self.threshold,
            "anchor": self.proposal.centre.tolist(),
            "root": self.proposal.root.tolist(),
            "candidates": self.candidates,
            "drawn": self.drawn.tolist(),
        }

    def scores(self, model: Model, data: Columns, z: Floats) -> Floats:
        """Return the score of each record at each point, shape (points, records).

        Args:
            model: The model of a record.
            data: The records, as the model prepares them.
            z: The points, in unconstrained coordinates.
        """
        padded = z[np.minimum(np.arange(-(-len(z) // _BLOCK) * _BLOCK), len(z) - 1)]
        limits = self.alpha, self.alpha * self.threshold
        return np.asarray(_scores(model, padded, self.proposal.centre, data, limits))[: len(z)]


def read_stages(published: Mapping[str, Any], model: Model) -> tuple[TemperedStage, ...]:
    """Return the stages of a release by `anchored`, or refuse one that makes no intervals.

    Args:
        published: Contents of its `parameters.json`.
        model: The model that it was made with.
    """
    reason = Shares.declared(model.schema).no_intervals
    if reason is not None:
        raise Refused(reason)
    if "ladder" not in published:
        raise Refused(
            "the release does not say from what its θ was drawn, so nothing can be said about how "
            "far it is off: θ was drawn by chains, or anchored at a confidential reference, or is "
            "not that of the release's first table."
        )
    if model.dimension > MOST_PARAMETERS:
        raise Refused(
            f"intervals from a release by anchored were found to be right for up to "
            f"{MOST_PARAMETERS} parameters, and this model has {model.dimension}: make a release "
            f"by summary for intervals."
        )
    listed: Sequence[Mapping[str, Any]] = published["ladder"]
    try:
        stages = tuple(map(TemperedStage.from_dict, listed))
        if not 1 <= len(stages) <= MOST_STAGES:
            raise ValueError("no stages, or more than there may be")
        if any(len(each.drawn) != model.dimension for each in stages):
            raise ValueError("coordinates that are not the model's")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise BadInput(
            "what the release says of its stages cannot be read: the file is damaged."
        ) from None
    if any(
        stage.threshold < LOWEST_THRESHOLD
        or not FEWEST_CANDIDATES <= stage.candidates <= MOST_CANDIDATES
        for stage in stages
    ):
        raise Refused(
            f"intervals from a release by anchored were found to be right with a `threshold` of "
            f"{LOWEST_THRESHOLD:g} or more and {FEWEST_CANDIDATES:,} to {MOST_CANDIDATES:,} "
            f"`candidates`, and this one was made with others: make a release by summary for "
            f"intervals."
        )
    return stages


@partial(jax.jit, static_argnames="model")
def _scores(
    model: Model, z: jax.Array, anchor: jax.Array, data: Data, limits: tuple[float, float]
) -> jax.Array:
    alpha, bound = limits
    offset = model.record_loglik(model.constrain(anchor), data)
    row = Row(jnp.full(offset.shape, alpha), offset, jnp.asarray(bound))

    def one(position: jax.Array) -> jax.Array:
        return score(model.record_loglik(model.constrain(position), data), row)

    return jax.lax.map(one, z, batch_size=_BLOCK)
