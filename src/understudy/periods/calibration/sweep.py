"""Which settings are tried, and several draws at each, compared with the reference.

A mechanism can be tried if it can be released period after period. Weighted and weighted-e promise
no number and cannot be charged to a ledger. censor-w promises one where its weights are fixed
before the table is seen; a public reference gives such weights. Unless mechanisms are named, those
are tried that are strict for every model and take seconds; where none of them can serve, all that
can.

A period's release may start from the release of the period before. So the draws of a mechanism that
does are a small year: one from nothing, as the very first period's might be, which does not count,
and then each from the one before it. Nothing drifts between them, as it would in a year: the page
says so.

Seeds are fixed, because nothing here is released; the numbers of a calibration can be had again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from understudy.domain.cells import measurable
from understudy.domain.schema import Schema
from understudy.errors import BadInput, Refused, nearest
from understudy.mechanisms import BY_NAME, Mechanism, Summary, Unweighted, make_mechanism
from understudy.mechanisms.base import LARGEST_CHAIN, EarlierTheta
from understudy.mechanisms.registry import check_takes
from understudy.models.base import Model
from understudy.privacy.guarantee import Adjacency, check_epsilon
from understudy.support.confidential import Confidential
from understudy.synthesis.large import whole
from understudy.synthesis.release import Release
from understudy.synthesis.run import synthesize
from understudy.utility import Utility, compare

METRICS = ("max_ecdf", "total_variation", "mean", "median")
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A mechanism with its settings, as a policy holds them."""

    mechanism: str
    epsilon: float
    delta: float | None = None
    threshold: float | None = None
    c1: float | None = None
    c2: float | None = None

    def __str__(self) -> str:
        options = {"δ": self.delta, "T": self.threshold, "c₁": self.c1, "c₂": self.c2}
        given = ", ".join(
            f"{name} = {value:g}" for name, value in options.items() if value is not None
        )
        return f"{self.mechanism}{', ' if given else ''}{given}"


WITHOUT_PRIVACY = Setting(mechanism=Unweighted.name, epsilon=math.inf)
"""The model's own posterior, to compare with."""
NOISELESS = 1e6
"""ε at which sums have no noise: columns in turn are fitted to tables, with or without privacy."""


def calibrated_names() -> tuple[str, ...]:
    """Return the names of the mechanisms that can be calibrated."""
    return tuple(sorted(name for name, mechanism in BY_NAME.items() if mechanism.trials()))


def settings(
    schema: Schema,
    model: Model | None,
    *,
    public: bool,
    epsilons: Sequence[float] = EPSILONS,
    delta: float | None = None,
    mechanisms: Sequence[str] | None = None,
) -> tuple[Setting, ...]:
    """Return the settings to try, cheapest ε first.

    A mechanism that cannot serve is left out, unless it was asked for by name: then it says why.
    So is one without a δ where there is to be one: its ε would promise more than the same number of
    the others. Without names, those are tried that say so of themselves, or else all that serve.
    """
    known = calibrated_names()
    asked = known if mechanisms is None else tuple(mechanisms)
    for name in asked:
        if name not in known:
            raise BadInput(
                f"'{name}' cannot be calibrated{nearest(name, known)}: a policy can have the "
                f"mechanism {', '.join(known)}, whose guarantee states an ε."
            )

    def serves(name: str) -> bool:
        try:
            BY_NAME[name].check_serves(schema, model, public=public)
            check_takes(name, delta=delta)
        except BadInput:
            if mechanisms is not None:
                raise
            return False
        return True

    serving = [name for name in asked if serves(name)]
    if mechanisms is None:
        serving = [name for name in serving if BY_NAME[name].tried_unasked] or serving
    chosen = tuple(
        Setting(mechanism=name, epsilon=epsilon, delta=delta, **options)
        for epsilon in sorted({check_epsilon(each) for each in epsilons})
        for name in serving
        for options in BY_NAME[name].trials()
    )
    if not chosen:
        raise BadInput("there is nothing to try: name a model, a mechanism and an ε.")
    return chosen


@dataclass(frozen=True, kw_only=True, repr=False)
class Closeness(Confidential):
    """How far one synthetic table is from the reference: the worst column by each measure."""

    max_ecdf: float | None
    """None without a numeric column."""
    total_variation: float | None
    """None without a column of levels."""
    mean: float | None
    """Relative error."""
    median: float | None

    @property
    def distance(self) -> float:
        """The larger of max-ECDF and total variation."""
        return max(d for d in (self.max_ecdf, self.total_variation) if d is not None)


@dataclass(frozen=True, repr=False)
class Outcome(Confidential):
    """What came of a setting; without draws, its chains did not converge."""

    setting: Setting
    draws: tuple[Closeness, ...]

    def average(self, metric: str) -> float | None:
        """Return the mean of a measure over the draws."""
        values = [getattr(draw, metric) for draw in self.draws]
        return None if not values or None in values else fmean(values)

    def rank(self, metric: str) -> float:
        """Return the same, infinite where nothing could be drawn or measured."""
        average = self.average(metric)
        return math.inf if average is None else average

    @property
    def distance(self) -> float:
        """The mean distance; infinite where nothing could be drawn."""
        return self.rank("distance")

    @property
    def spread(self) -> float:
        """The standard deviation of the distance over draws."""
        return stdev(draw.distance for draw in self.draws) if len(self.draws) > 1 else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep:
    """A reference and what is to be tried on it."""

    model: Model | None
    schema: Schema
    table: pd.DataFrame
    measured: pd.DataFrame
    """The same as declared, to compare with."""
    theta: dict[str, Any] | None
    """Of a public reference: weights are learned from it, as a period's are from an earlier θ."""
    adjacency: Adjacency
    rows: int | None
    balanced: bool
    draws: int
    seed: int

    def run(
        self, tried: Sequence[Setting], done: Callable[[float], None]
    ) -> tuple[Outcome | None, tuple[Outcome, ...]]:
        """Return the outcome without privacy, if there is a model, and that of each setting."""
        # Without privacy θ is drawn by a chain, which is not for very many parameters.
        compared = self.model is not None and (
            self.model.in_turn is not None or self.model.dimension <= LARGEST_CHAIN
        )
        jobs = [*([WITHOUT_PRIVACY] if compared else []), *tried]
        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            futures = [pool.submit(self._outcome, job) for job in jobs]
            for count, future in enumerate(as_completed(futures), start=1):
                future.result()
                done(count / len(jobs))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        outcomes = [future.result() for future in futures]
        return (outcomes[0], tuple(outcomes[1:])) if compared else (None, tuple(outcomes))

    def _outcome(self, setting: Setting) -> Outcome:
        try:
            return Outcome(setting, tuple(self._closeness(t) for t in self._tables(setting)))
        except Refused:
            return Outcome(setting, ())

    def _tables(self, setting: Setting) -> Iterator[pd.DataFrame]:
        mechanism = self._mechanism(setting)
        if mechanism.earlier is EarlierTheta.WELCOME:
            first = self.seed * (self.draws + 1)
            release = self._release(mechanism, first, 1)
            for seed in range(first + 1, first + 1 + self.draws):
                theta = release.parameters[0]["parameters"]
                release = self._release(mechanism.following(theta, release.model), seed, 1)
                yield release.synthetic
            return
        # One fit has draws enough, where the posterior does not depend on an earlier draw.
        if mechanism.earlier is EarlierTheta.NEEDED:
            mechanism = mechanism.following(self.theta, self.model)
        yield from map(whole, self._release(mechanism, self.seed, self.draws).tables)

    def _mechanism(self, setting: Setting) -> Mechanism:
        if setting is WITHOUT_PRIVACY:
            in_turn = self.model is not None and self.model.in_turn is not None
            without: Mechanism = Summary(epsilon=NOISELESS) if in_turn else Unweighted()
            return replace(without, adjacency=self.adjacency)
        options = {name: value for name, value in asdict(setting).items() if name != "mechanism"}
        return make_mechanism(setting.mechanism, adjacency=self.adjacency, **options)

    def _release(self, mechanism: Mechanism, seed: int, tables: int) -> Release:
        return synthesize(
            self.model or self.schema,
            self.table,
            mechanism,
            rows=self.rows,
            balanced=self.balanced,
            tables=tables,
            seed=seed,
        )

    def _closeness(self, synthetic: pd.DataFrame) -> Closeness:
        made = measurable(synthetic, self.schema.columns)
        columns = compare(self.measured, made, self.schema).values()
        numeric = [each for each in columns if isinstance(each, Utility)]
        levels = [each.total_variation for each in columns if not isinstance(each, Utility)]
        return Closeness(
            max_ecdf=max((each.max_ecdf for each in numeric), default=None),
            total_variation=max(levels, default=None),
            mean=_worst(numeric, "mean"),
            median=_worst(numeric, "median"),
        )


def _worst(columns: Sequence[Utility], statistic: str) -> float | None:
    pairs = [(getattr(u.confidential, statistic), getattr(u.synthetic, statistic)) for u in columns]
    return max((abs(made - real) / abs(real) for real, made in pairs if real), default=None)
