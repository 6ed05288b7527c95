"""Anchored: the censored log-likelihood *ratio* to a public anchor. Not in the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from understudy.errors import BadInput
from understudy.mechanisms.base import EarlierTheta, Mechanism
from understudy.mechanisms.ladder import AnchoredPlan, stage_targets
from understudy.mechanisms.plan import DrawTarget
from understudy.mechanisms.published import check_theta
from understudy.mechanisms.reference import Reference
from understudy.mechanisms.request import Request
from understudy.models.base import Model
from understudy.privacy.guarantee import Kind, Weights

_THRESHOLDS = 1.0, 2.0
_THRESHOLDS_OF_CHAINS = 1.5, 2.5
"""Near and far. A lower threshold censors more, which can leave peaks between which chains do not
move; candidates of an exact draw do not mind."""
_ENOUGH = 500
_ENOUGH_PER_PARAMETER = 20
LARGEST_THRESHOLD = 4.0
THRESHOLD_GROWTH = 1.5
LARGEST_GROWTH = 5.0
SMALLEST_GROWTH = 2.0
SMALLEST_CANDIDATES = 2048
LARGEST_CANDIDATES = 65_536
LARGEST_STAGES = 12
_WANTED_CANDIDATES = 25
_WIDTH_FROM_NOTHING = 2.0
_WIDTH_FROM_ANCHOR = 0.5


@dataclass(frozen=True)
class Stage:
    """One draw of the ladder: weight α, threshold T, and the bound B = αT of its scores."""

    alpha: float
    threshold: float

    @property
    def bound(self) -> float:
        """B, the largest score of a record."""
        return self.alpha * self.threshold


@dataclass(frozen=True, kw_only=True)
class Anchored(Mechanism):
    """α a constant, b = f_θ₀(x), B = αT. Strict with exact draws, else conditional.

    What is censored is how much better θ explains a record than a public θ₀ does: close to zero
    for every θ near θ₀, so that almost nothing is censored and almost nothing is lost. Since
    clip(α r, ±αT) = α clip(r, ±T), T is the ratio at which a record stops pulling and α tempers the
    posterior, whose effective size is α n. α and b are functions of the record and of public
    quantities alone: the theorem of `guarantee.py` applies to each stage, and stages add up.

    The anchor is an earlier release, or a public table's posterior, or nothing at all. Then a
    **ladder** finds it: stage k draws θₖ anchored at θₖ₋₁, which is public once it is drawn, and α
    grows by a constant factor from stage to stage, so that the early stages cost little. The last
    stage has α ≤ 1; if it reaches 1, what remains of ε is not used and not charged.

    Every default below depends on ε, the declared size and the number of parameters alone.
    """

    epsilon: float
    """The privacy loss of all stages together."""
    threshold: float | None = None
    """T of the last stage; default 1 (1.5 for chains), or 2 (2.5 for chains) for a ladder from
    nothing where ε times the declared size is below 500, or 20 times the number of parameters, and
    the anchor will not be close. Each stage before it has 1.5 times more, up to 4. Where a record
    is a unit of several rows, whose ratios add up, the defaults are those of a row times the
    declared rows per unit."""
    stages: int | None = None
    """Number of draws; default: as many as narrow the first guess down to the last posterior, and
    for chains as many as leave the first of them a record's worth for each parameter."""
    growth: float | None = None
    """Factor by which α grows from stage to stage; default 5, less for many parameters."""
    candidates: int | None = None
    """Candidates of an exact draw; default 2048, doubling with each parameter from the third on,
    and eight times as many where an anchor leaves a single stage."""
    anchor: Mapping[str, Any] | None = None
    """θ₀ by name, from an earlier release."""
    reference: Reference | None = None
    """Another table, whose posterior mean is θ₀."""

    name = "anchored"
    kind = Kind.STRICT
    weights = Weights.NONE
    needs_size = True
    draws_exactly = True
    earlier = EarlierTheta.WELCOME

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anchor is not None and self.reference is not None:
            raise BadInput("an anchor and a reference were both given: leave out one of them.")

    def plan(self, request: Request) -> AnchoredPlan:
        """Return the stages of the climb; an anchor that is no value of the model is refused."""
        assert request.model is not None
        if self.anchor is not None:
            check_theta(dict(self.anchor), request.model)
        ladder = self.ladder(
            size=request.size,
            dimension=request.model.dimension,
            exact=request.sampler == "exact",
            rows_per_record=request.model.rows_per_record,
        )
        return AnchoredPlan(request, self, ladder)

    def samplers(self, model: Model) -> Sequence[str]:
        """Return the samplers: candidates where they can be dense enough."""
        return super().samplers(model)[::-1]

    def targets(self, request: Request) -> Sequence[DrawTarget]:
        """Return the target of each stage of one climb."""
        return stage_targets(self.plan(request))

    @property
    def origins(self) -> Sequence[str]:
        """Where the start comes from."""
        return (*super().origins, *(() if self.anchor is None else ("release",)))

    def following(self, theta: Mapping[str, Any] | None, model: Model | None) -> Anchored:
        """Return it anchored at θ."""
        return replace(self, anchor=theta)

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """Return thresholds: below 1 a draw now and then lands far off, too seldom to be seen."""
        return tuple({"threshold": threshold} for threshold in (1.0, 1.5, 2.0, 4.0))

    @property
    def start(self) -> Mapping[str, Any] | None:
        """θ₀ by name, or None for a ladder from nothing."""
        return self.anchor if self.reference is None else self.reference.theta

    @property
    def width(self) -> float:
        """How far from the anchor θ may lie, in unconstrained coordinates: a public guess."""
        return _WIDTH_FROM_NOTHING if self.start is None else _WIDTH_FROM_ANCHOR

    def candidate_count(self, dimension: int) -> int:
        """Return the number of candidates of an exact draw.

        Args:
            dimension: Number of parameters.
        """
        if self.candidates is not None:
            return self.candidates
        wanted = SMALLEST_CANDIDATES * 2 ** max(dimension - 2, 0)
        return min(wanted * (1 if self.start is None else 8), LARGEST_CANDIDATES)

    def growth_for(self, dimension: int, *, exact: bool) -> float:
        """Return the growth of α at which some 25 candidates still carry weight at each stage.

        A stage's posterior fills about (growth · e)^(−d/2) of the one before it. Chains find their
        way by themselves, but an anchor that is far off costs them what is censored.

        Args:
            dimension: Number of parameters.
            exact: Whether candidates are drawn, and not chains.
        """
        if self.growth is not None:
            return self.growth
        if not exact:
            return LARGEST_GROWTH
        spare = self.candidate_count(dimension) / _WANTED_CANDIDATES
        return min(max(spare ** (2 / dimension) / math.e, SMALLEST_GROWTH), LARGEST_GROWTH)

    def ladder(
        self, *, size: int, dimension: int, exact: bool = True, rows_per_record: int = 1
    ) -> tuple[Stage, ...]:
        """Return the stages, first to last; their bounds add up to ε/2 (ε/4 under replace-one).

        Args:
            size: Number of rows that is public.
            dimension: Number of parameters.
            exact: Whether candidates are drawn, and not chains.
            rows_per_record: Rows of a record, which may be a unit of several.
        """
        growth = self.growth_for(dimension, exact=exact)
        budget = self.epsilon / (2 * self.adjacency.steps)
        last = self.threshold
        if last is None:
            enough = max(_ENOUGH, _ENOUGH_PER_PARAMETER * dimension)
            close = self.start is not None or 2 * budget * size / rows_per_record >= enough
            near, far = _THRESHOLDS if exact else _THRESHOLDS_OF_CHAINS
            last = (near if close else far) * rows_per_record
        largest = max(LARGEST_THRESHOLD * rows_per_record, last)
        climb = partial(_stages, growth=growth, budget=budget, last=last, largest=largest)
        if self.stages is not None:
            return climb(self.stages)
        for count in range(1, LARGEST_STAGES + 1):
            stages = climb(count)
            if exact:
                # How many times narrower than the guess the first posterior is, in each direction.
                narrower = math.sqrt(stages[0].alpha * size) * self.width
                # Around an anchor, enough candidates may fall on the posterior as it is.
                spare = self.candidate_count(dimension) / max(narrower, 1.0) ** dimension
                one_leap = self.start is not None and spare >= _WANTED_CANDIDATES
                climbed = narrower <= growth or one_leap
            else:
                # A draw with fewer records' worth than parameters says nothing: the prior's centre
                # is the better anchor. Where one is given there is nothing to climb to.
                more = climb(count + 1)
                climbed = self.start is not None or more[0].alpha * size < dimension
            if climbed:
                break
        return stages


def _stages(
    count: int, *, growth: float, budget: float, last: float, largest: float
) -> tuple[Stage, ...]:
    before = range(count - 1, -1, -1)
    thresholds = [min(last * THRESHOLD_GROWTH**k, largest) for k in before]
    shares = [growth**-k for k in before]
    alpha = budget / sum(t * share for t, share in zip(thresholds, shares, strict=True))
    # A hair less, so that no rounding error lets the stages together cost more than ε.
    alpha = min(alpha * (1 - 2.0**-40), 1.0)
    return tuple(Stage(alpha * s, t) for s, t in zip(shares, thresholds, strict=True))
