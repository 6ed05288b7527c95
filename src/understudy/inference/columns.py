"""The most plausible θ of columns in turn, from noisy tables: one column after the other.

The distribution of a column given its parents (`models/table/conditional.py`) has parameters of its
own, and what it predicts of its tables depends on those before it only through who its parents are.
So a pool of rows is drawn column by column. With the rows so far, the next column's parameters
minimise

    Σ −log p(T̃ | N m(θ)) − log ξ(θ),      m = Σᵢ p(group | parents of i) over the rows i in a cell,

where the noise is Laplace or normal and the count around its mean about normal; then the column is
drawn, and so on. Slopes are written out: a step costs two products with a sparse matrix, whatever
the number of parameters, and nothing is compiled. The prior's tails make the problem one with many
ends, so it is solved first with normal distributions in their place, which leads near the best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from understudy.inference.noisy_tables import NoisyTable, Tables
from understudy.models.balance import along, codes_at
from understudy.models.table.conditional import DEGREES, EFFECT, STANDING_OUT, Conditional

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Prior = tuple[Floats, Floats]
"""Precisions and centres of normal distributions, one for each parameter."""

_WIDE_VALUE = 10.0
"""Width of what stands out, in units of its own, while its distribution is taken for normal."""
_FIRST_STEPS, _STEPS = 100, 400
_FURTHER_STEPS = 60
"""Steps from where a similar problem ended."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """θ, and the rows that were drawn on the way."""

    theta: dict[str, Floats]
    codes: dict[str, Codes]
    """Of every modelled column, a row for each of the pool."""
    groups: dict[str, Codes]
    """Of every column."""
    size: float
    means: tuple[Floats, ...]
    """What is predicted of each table, in the order of `Tables.every`."""
    settled: bool


class _Column:
    """One column's problem: its parents in the pool, and its tables.

    Parameters are one vector: κ, then r where values may stand out, then b where groups may, then
    the effects of each parent.
    """

    def __init__(
        self,
        term: Conditional,
        table: NoisyTable,
        by: Sequence[NoisyTable],
        parents: Sequence[Codes],
        *,
        rows: int,
        size: float,
    ) -> None:
        self.term, self.table, self.size = term, table, size
        self.starts = int(term.lumpy) + np.cumsum([0, *(each.count for each in term.parents)])
        chosen, self.weight, self.place = _distinct(parents, rows)
        # Where groups may stand out by themselves, every row has the first effect.
        marks = np.zeros((len(chosen), term.lumpy + len(parents)), dtype=np.int64)
        for k, each in enumerate(parents):
            marks[:, term.lumpy + k] = each[chosen] + self.starts[k]
        ends = np.arange(len(chosen) + 1) * marks.shape[1]
        shape = (len(chosen), int(self.starts[-1]))
        self.into = csr_array((np.ones(marks.size), marks.ravel(), ends), shape=shape)
        self.back = csr_array(self.into.T)
        self.by = by
        self.vary = [each.usual for each in (table, *by)]
        self.groups, self.count = term.own.groups, term.own.count
        self.free = term.own.variable.free
        lumps = self.count if term.lumpy else 0
        sizes = [each.patterns * term.own.patterns for each in term.parents]
        self.cuts = np.cumsum([term.directions.shape[1], len(self.free), lumps, *sizes])
        self.dimension = int(self.cuts[-1])

    def split(self, vector: Floats) -> list[Floats]:
        """Return κ, r, b, and the effects of each parent."""
        shape, values, lumps, *effects = np.split(vector, self.cuts[:-1])
        wide = self.term.own.patterns
        return [shape, values, lumps, *(each.reshape(-1, wide) for each in effects)]

    def by_patterns(self, groups: Floats, power: int = 1) -> list[Floats]:
        """Return sums over groups as parameters have them: b's, then those of each parent."""
        lumps, *parts = np.split(groups, self.starts[:-1])
        parents = zip(parts, self.term.parents, strict=True)
        return [lumps, *(self.term.by_patterns(each, by, power) for each, by in parents)]

    def heights(self, vector: Floats) -> tuple[Floats, Floats, Floats]:
        """Return log weights of groups, shares of codes in their groups, and shares by row."""
        term = self.term
        shape, values, lumps, *effects = self.split(vector)
        own = term.own.variable.base + term.directions @ shape
        own[self.free] += STANDING_OUT * values
        raised = np.exp(own - own.max())
        total = np.maximum(np.bincount(self.groups, raised, self.count), 1e-300)
        by = [term.by_groups(e, parent) for e, parent in zip(effects, term.parents, strict=True)]
        added = np.concatenate([lumps.reshape(-1, self.count), *by])
        rows = np.log(total) + EFFECT * (self.into @ added)
        rows -= rows.max(axis=1, keepdims=True)
        np.exp(rows, out=rows)
        rows /= rows.sum(axis=1, keepdims=True)
        return np.log(total), raised / total[self.groups], rows

    def means(self, inside: Floats, rows: Floats) -> tuple[Floats, Floats]:
        """Return what is predicted of the column's own table, and of those with its parents."""
        weighted = self.weight[:, None] * rows
        own = self.size * weighted.sum(axis=0)[self.groups] * inside
        return own, np.asarray(self.size * (self.back @ weighted))

    def objective(
        self, vector: Floats, prior: Prior | None, *, exact: bool
    ) -> tuple[float, Floats]:
        """Return minus the log posterior, and its slope.

        Args:
            vector: The parameters.
            prior: Normal distributions in place of the model's; None for the model's own.
            exact: Whether Laplace noise is taken as it is.
        """
        _, inside, rows = self.heights(vector)
        own, paired = self.means(inside, rows)
        judged = self.table.misfit if exact else self.table.squares
        height, slope_own = judged(own, self.vary[0])
        slope_paired = np.zeros_like(paired)
        parts = zip(self.by, self.vary[1:], self.starts, self.starts[1:], strict=False)
        for table, vary, start, stop in parts:
            judged = table.misfit if exact else table.squares
            more, slope_paired[start:stop] = judged(paired[start:stop], vary)
            height += more
        share = np.einsum("r,rg->g", self.weight, rows)
        by_inside = self.size * slope_own * share[self.groups]
        by_share = self.size * np.bincount(self.groups, slope_own * inside, self.count)
        by_rows = self.weight[:, None] * (by_share + self.size * (self.into @ slope_paired))
        by_rows = rows * (by_rows - np.sum(rows * by_rows, axis=1, keepdims=True))
        within = np.bincount(self.groups, by_inside * inside, self.count)
        by_code = inside * (by_inside - within[self.groups] + by_rows.sum(axis=0)[self.groups])
        slopes = [
            self.term.directions.T @ by_code,
            STANDING_OUT * by_code[self.free],
            *(EFFECT * e.ravel() for e in self.by_patterns(np.asarray(self.back @ by_rows))),
        ]
        pulled, pull = self._prior(vector, prior)
        return height + pulled, np.concatenate(slopes) + pull

    def _prior(self, vector: Floats, prior: Prior | None) -> tuple[float, Floats]:
        if prior is not None:
            precision, centre = prior
            off = precision * (vector - centre)
            return float(off @ (vector - centre) / 2), off
        normal, heavy = vector[: self.cuts[0]], vector[self.cuts[0] :]
        height = normal @ normal / 2 + (DEGREES + 1) / 2 * np.log1p(heavy**2 / DEGREES).sum()
        return float(height), np.append(normal, (DEGREES + 1) * heavy / (DEGREES + heavy**2))

    def expect(self, vector: Floats) -> None:
        """Let counts vary as much as these parameters predict.

        As much as the noisy counts say would weigh those most that noise has made small.
        """
        _, inside, rows = self.heights(vector)
        own, paired = self.means(inside, rows)
        parts = [paired[a:b] for a, b in zip(self.starts, self.starts[1:], strict=False)]
        self.vary = [each + 1.0 for each in (own, *parts)]

    @property
    def first_prior(self) -> Prior:
        """Normal distributions that are as wide as most effects."""
        precision = np.ones(self.dimension)
        precision[self.cuts[0] : self.cuts[1]] = _WIDE_VALUE**-2
        return precision, np.zeros(self.dimension)

    @property
    def spread(self) -> Floats:
        """About how far each parameter is from known: steps are measured in it."""
        told = _information(self.table)
        known = np.append(self.term.directions.T**2 @ told, STANDING_OUT**2 * told[self.free])
        lumps = np.bincount(self.groups, told, self.count)[None][: int(self.term.lumpy)]
        paired = np.concatenate([lumps, *(_information(table) for table in self.by)])
        effects = [EFFECT**2 * each.ravel() for each in self.by_patterns(paired, 2)]
        return np.asarray((1 + np.concatenate([known, *effects])) ** -0.5)

    def solve(
        self, start: Floats, prior: Prior | None, *, exact: bool, steps: int
    ) -> tuple[Floats, bool]:
        """Return where the objective is lowest, and whether that was reached."""
        spread = self.spread

        def scaled(u: Any) -> Any:
            height, slope = self.objective(u * spread, prior, exact=exact)
            return height, slope * spread

        options = {"maxiter": steps, "maxcor": 20}
        ended: Any = minimize(
            scaled,
            start / spread,
            jac=True,
            method="L-BFGS-B",
            options=options,  # type: ignore[call-overload]
        )
        return ended.x * spread, bool(ended.success)

    def named(self, vector: Floats) -> dict[str, Floats]:
        """Return the parameters by name."""
        shape, values, lumps, *effects = self.split(vector)
        parts = [shape, *([values] if len(values) else [])]
        parts += [lumps[None], *effects] if self.term.lumpy else effects
        return dict(zip((each.name for each in self.term.parameters), parts, strict=True))

    def vector(self, theta: Mapping[str, Floats]) -> Floats:
        """Return parameters that are known by name."""
        return np.concatenate([np.ravel(theta[each.name]) for each in self.term.parameters])


def _information(table: NoisyTable) -> Floats:
    """Return about how much each cell tells of its log probability."""
    count = np.maximum(table.values, 1.0)
    return np.asarray(count**2 / (count + 1.0 + table.variance))


def _distinct(parents: Sequence[Codes], rows: int) -> tuple[Codes, Floats, Codes]:
    """Return rows whose parents differ, the share of each, and where every row is among them."""
    if not parents:
        return np.zeros(1, dtype=np.int64), np.ones(1), np.zeros(rows, dtype=np.int64)
    # A random multiplier makes rows that are not alike different, but for a chance of 2⁻³⁰.
    number = np.zeros(rows, dtype=np.uint64)
    for each in parents:
        number = number * np.uint64(0x9E3779B97F4A7C15) + each.astype(np.uint64) + np.uint64(1)
        number ^= number >> np.uint64(29)
    _, first, place, times = np.unique(
        number, return_index=True, return_inverse=True, return_counts=True
    )
    return first, times / rows, place


def fit(
    terms: Sequence[Conditional],
    tables: Tables,
    public: Mapping[str, Codes],
    *,
    size: float | None,
    rows: int,
    generator: np.random.Generator,
    near: Mapping[str, Floats] | None = None,
) -> Fitted:
    """Return the most plausible θ, or a draw near one that is known.

    A draw perturbs the prior: effects whose distribution is Student's are normal given a variance,
    which is drawn given the effect that is known, and so is a centre, given it.

    Args:
        terms: The columns in turn.
        tables: What was measured of them; for a draw, moved by what errors may have been.
        public: The groups of public columns, a value for each row of the pool.
        size: How many records there are; None where the tables tell.
        rows: Rows of the pool.
        generator: Where randomness comes from.
        near: θ, for a draw.
    """
    # Matrices of an optimiser are tiny: threads for them cost far more than they save.
    with threadpool_limits(1, user_api="blas"):
        return _Turns(tables, rows, tables.size if size is None else size, generator).fit(
            terms, public, near
        )


@dataclass(frozen=True, eq=False)
class _Turns:
    """Columns one after the other, over the rows of a pool."""

    tables: Tables
    rows: int
    size: float
    generator: np.random.Generator

    def fit(
        self,
        terms: Sequence[Conditional],
        public: Mapping[str, Codes],
        near: Mapping[str, Floats] | None,
    ) -> Fitted:
        """Return θ of all columns."""
        groups, codes = dict(public), dict[str, Codes]()
        theta, single = dict[str, Floats](), dict[str, Floats]()
        pairs, settled = dict[tuple[str, str], Floats](), True
        for turn, term in enumerate(terms):
            column = self._column(term, groups)
            vector, there = _solved(column, near, self.generator)
            settled, theta = settled and there, theta | column.named(vector)
            _, inside, shares = column.heights(vector)
            single[term.name], paired = column.means(inside, shares)
            for parent, start, stop in zip(
                term.parents, column.starts, column.starts[1:], strict=False
            ):
                pairs[parent.name, term.name] = paired[start:stop]
            few_first = sorted(term.parents, key=lambda parent: parent.count)
            by = [groups[parent.name] for parent in few_first]
            u = along(self.generator, self.rows, by, turn)
            group, within = codes_at(u, shares, column.place)
            codes[term.name] = term.code_in(group, within, inside)[0]
            groups[term.name] = group
        means = [single[name] for name in self.tables.single]
        means += [pairs[k] if k in pairs else pairs[k[1], k[0]].T for k in self.tables.pairs]
        return Fitted(theta, codes, groups, self.size, tuple(means), settled)

    def _column(self, term: Conditional, groups: Mapping[str, Codes]) -> _Column:
        names = [parent.name for parent in term.parents]
        return _Column(
            term,
            self.tables.single[term.name],
            [self.tables.of(name, term.name) for name in names],
            [groups[name] for name in names],
            rows=self.rows,
            size=self.size,
        )


def _solved(
    column: _Column, near: Mapping[str, Floats] | None, generator: np.random.Generator
) -> tuple[Floats, bool]:
    if near is None:
        start = np.zeros(column.dimension)
        first, _ = column.solve(start, column.first_prior, exact=False, steps=_FIRST_STEPS)
        column.expect(first)
        return column.solve(first, None, exact=True, steps=_STEPS)
    known = column.vector(near)
    column.expect(known)
    precision = np.ones(column.dimension)
    heavy = known[column.cuts[0] :]
    precision[column.cuts[0] :] = generator.gamma((DEGREES + 1) / 2, 2 / (DEGREES + heavy**2))
    centre = generator.normal(size=column.dimension) / np.sqrt(precision)
    return column.solve(known, (precision, centre), exact=False, steps=_FURTHER_STEPS)
