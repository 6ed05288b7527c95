"""A pool of simulated records, weighted until it explains the noisy tables.

Record m of the pool, drawn from a first model, has the weight

    p_m ∝ exp( Σ over tables t of θ_t[cell of m] ),

and a table is predicted by N Σ p_m over the records in each cell: a log-linear model of all tables,
whose support is the pool. θ is the most plausible one, with the densities that `joint` has: Laplace
noise and counts around their mean; θ of single columns normal, of pairs sums of effects of groups
and of trends over them, Student t with two degrees of freedom, as wide as there. It is first fitted
with normal distributions in place of all.
Records that are alike are one, with its share. Rows are drawn from the pool systematically.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import block_diag, csr_array, eye_array, hstack, kron
from scipy.special import softmax
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from engines.published import Floats, Groups, Published
from engines.sequence import batches
from peers.trees import Clique, draw
from understudy.models.table.coding import CONSTANT
from understudy.models.table.conditional import DEGREES, EFFECT

if TYPE_CHECKING:
    import pandas as pd

RECORDS = 400_000
_FIRST_STEPS, _STEPS = 100, 400


def independent(published: Published, generator: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Return rows whose columns do not depend on each other: what pairs are worth is more."""
    groups = draw(_alone(published), [], published.rows, generator, balanced=True)
    return published.frame(groups, generator), {}


def of_independents(
    published: Published, generator: np.random.Generator
) -> tuple[pd.DataFrame, Any]:
    """Return rows of a pool whose columns were drawn independently."""
    return _rows(published, draw(_alone(published), [], RECORDS, generator), generator)


def _alone(published: Published) -> dict[Clique, Floats]:
    return {(name,): shares for name, shares in published.groups.items()}


def of_the_sequence(
    published: Published, generator: np.random.Generator
) -> tuple[pd.DataFrame, Any]:
    """Return rows of a pool that `joint` has simulated at its estimate."""
    return _rows(published, _simulated(published, generator), generator)


def resampled(published: Published, generator: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Return rows of that pool as it is: what drawing them from a pool does without weights."""
    pool = Pool.of(published, _simulated(published, generator))
    return pool.rows(pool.shares, generator), {}


def _simulated(published: Published, generator: np.random.Generator) -> Groups:
    parts = batches(published, RECORDS, generator)
    named = published.columns.items()
    return {n: np.concatenate([each.read(part) for part in parts]) for n, each in named}


def _rows(
    published: Published, groups: Groups, generator: np.random.Generator
) -> tuple[pd.DataFrame, Any]:
    pool = Pool.of(published, groups)
    # As for `joint`: threads for an optimiser's small vectors cost far more than they save.
    with threadpool_limits(1, user_api="blas"):
        shares, settled = pool.weighed()
    worth = RECORDS / np.sum(shares**2 / pool.shares)
    told = {"settled": settled, "records_worth": float(worth)}
    return pool.rows(shares, generator), told


def systematic(shares: Floats, rows: int, generator: np.random.Generator) -> Any:
    """Return places, each as often as its share says, but for less than one."""
    spread = (np.arange(rows) + generator.random()) / rows
    return np.minimum(np.searchsorted(np.cumsum(shares), spread), len(shares) - 1)


@dataclass(frozen=True, eq=False)
class Pool:
    """Records that differ, and in which cell of each table they are."""

    published: Published
    groups: Groups
    """Of each record, in the order of columns with few groups first: neighbours are alike."""
    shares: Floats
    """Of each record among those that were drawn."""

    @classmethod
    def of(cls, published: Published, groups: Groups) -> Pool:
        """Return the records of a pool that differ."""
        names = sorted(groups, key=lambda name: published.columns[name].count)
        drawn = np.column_stack([groups[name].astype(np.int16) for name in names])
        kept, times = np.unique(drawn, axis=0, return_counts=True)
        own = dict(zip(names, kept.T.astype(np.int64), strict=True))
        return cls(published, own, times / len(drawn))

    def rows(self, shares: Floats, generator: np.random.Generator) -> pd.DataFrame:
        """Return rows of the records, each as often as its share says."""
        places = systematic(shares, self.published.rows, generator)
        return self.published.frame({n: own[places] for n, own in self.groups.items()}, generator)

    @cached_property
    def _starts(self) -> list[int]:
        counts = [self.published.columns[name].count for name in self.published.tables.single]
        counts += [table.values.size for table in self.published.tables.pairs.values()]
        return [0, *np.cumsum(counts).tolist()]

    @cached_property
    def _into(self) -> csr_array:
        """A row for each record, with 1 in its cell of each table."""
        columns, tables = self.published.columns, self.published.tables
        cells = [self.groups[name] for name in tables.single]
        cells += [self.groups[a] * columns[b].count + self.groups[b] for a, b in tables.pairs]
        marks = np.column_stack(cells) + self._starts[:-1]
        ends = np.arange(len(marks) + 1) * marks.shape[1]
        return csr_array(
            (np.ones(marks.size), marks.ravel().astype(np.int32), ends.astype(np.int32)),
            shape=(len(marks), self._starts[-1]),
        )

    @cached_property
    def _back(self) -> csr_array:
        return csr_array(self._into.T)

    @property
    def single(self) -> int:
        """How many of the parameters are of single columns."""
        return self._starts[len(self.published.tables.single)]

    @cached_property
    def effects(self) -> csr_array:
        """What each parameter adds to θ of each cell: of single columns, then of pairs."""
        columns, tables = self.published.columns, self.published.tables
        blocks: list[Any] = [CONSTANT * eye_array(columns[n].count) for n in tables.single]
        for pair in tables.pairs:
            patterns: Any = ([eye_array(columns[n].count), columns[n].trends.T] for n in pair)
            blocks.append(EFFECT * kron(*map(hstack, patterns)))
        return csr_array(block_diag(blocks))

    def weights(self, vector: Floats) -> Floats:
        """Return p at these parameters, each in units of its width."""
        return np.asarray(softmax(np.log(self.shares) + self._into @ (self.effects @ vector)))

    def means(self, weights: Floats) -> list[Floats]:
        """Return what is predicted of each table, code by code of single columns."""
        parts = np.split(self.published.tables.size * (self._back @ weights), self._starts[1:-1])
        named, tables = self.published.columns, self.published.tables
        means = [
            parts[k][named[name].groups] * self.published.inside[name]
            for k, name in enumerate(tables.single)
        ]
        pairs = zip(parts[len(means) :], tables.pairs.values(), strict=True)
        return means + [part.reshape(table.values.shape) for part, table in pairs]

    def objective(self, vector: Floats, vary: list[Floats], *, exact: bool) -> tuple[float, Floats]:
        """Return minus the log posterior, and its slope.

        Args:
            vector: The parameters, in units of their widths.
            vary: How much counts vary by themselves.
            exact: Whether noise and priors are taken as they are, and not for normal.
        """
        tables, size = self.published.tables, self.published.tables.size
        weights, height, slopes = self.weights(vector), 0.0, []
        for table, mean, own in zip(tables.every, self.means(weights), vary, strict=True):
            more, slope = (table.misfit if exact else table.squares)(mean, own)
            height += more
            slopes.append(size * slope.ravel())
        for k, name in enumerate(tables.single):
            column, inside = self.published.columns[name], self.published.inside[name]
            slopes[k] = np.asarray(np.bincount(column.groups, slopes[k] * inside, column.count))
        by_record = self._into @ np.concatenate(slopes)
        by_record = weights * (by_record - weights @ by_record)
        pulled, pull = self._prior(vector, exact=exact)
        return height + pulled, self.effects.T @ (self._back @ by_record) + pull

    def _prior(self, vector: Floats, *, exact: bool) -> tuple[float, Floats]:
        heavy = np.arange(len(vector)) >= (self.single if exact else len(vector))
        student = (DEGREES + 1) / 2 * np.log1p(vector**2 / DEGREES)
        height = np.where(heavy, student, vector**2 / 2).sum()
        return float(height), np.where(heavy, (DEGREES + 1) / (DEGREES + vector**2), 1.0) * vector

    def weighed(self) -> tuple[Floats, bool]:
        """Return p of the most plausible θ, and whether the search for it has ended."""
        vary = [table.usual for table in self.published.tables.every]
        first, _ = self._solved(
            np.zeros(self.effects.shape[1]), vary, exact=False, steps=_FIRST_STEPS
        )
        # As much as noisy counts say would weigh those most that noise has made small.
        vary = [mean + 1.0 for mean in self.means(self.weights(first))]
        found, settled = self._solved(first, vary, exact=True, steps=_STEPS)
        return self.weights(found), settled

    def _solved(
        self, start: Floats, vary: list[Floats], *, exact: bool, steps: int
    ) -> tuple[Floats, bool]:
        spread = self._spread

        def scaled(u: Any) -> Any:
            height, slope = self.objective(u * spread, vary, exact=exact)
            return height, slope * spread

        options: Any = {"maxiter": steps, "maxcor": 20}
        ended: Any = minimize(scaled, start / spread, jac=True, method="L-BFGS-B", options=options)
        return ended.x * spread, bool(ended.success)

    @cached_property
    def _spread(self) -> Floats:
        """About how far each parameter is from known: steps are measured in it."""
        told = []
        for name, table in self.published.tables.single.items():
            groups = self.published.columns[name].groups
            count = np.maximum(np.bincount(groups, table.values), 1.0)
            told.append(count**2 / (count + 1 + table.variance * np.bincount(groups)))
        for table in self.published.tables.pairs.values():
            count = np.maximum(table.values.ravel(), 1.0)
            told.append(count**2 / (count + 1 + table.variance))
        return np.asarray((1 + self.effects.power(2).T @ np.concatenate(told)) ** -0.5)
