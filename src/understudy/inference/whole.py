"""What noisy tables tell of columns in turn: an estimate, draws, and a check of the model.

The estimate is the fit of `columns.py`. A draw is the same fit, near the estimate, to tables that
are moved by what errors may have been: those of a table of records that is simulated at the
estimate, and the noise; its prior is moved, too, by draws of effects given their variances. For
normal errors and a straight model that is a draw from the posterior, if errors are weighed by their
covariance. Here each cell is weighed by itself, as if tables did not overlap, and errors come from
simulated tables that do: draws vary as the estimate does, neither less nor more (a sandwich).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jnp
from understudy.domain.tables import Columns
from understudy.inference.cells import Cells, Pair
from understudy.inference.check import Check
from understudy.inference.columns import Fitted, fit
from understudy.inference.measurement import LEAST, Measurement
from understudy.inference.moments import Population
from understudy.inference.noisy_tables import NoisyTable, Tables, tables_of
from understudy.models.base import GRID
from understudy.models.table.joint import Sequential
from understudy.support.randomness import Source

Floats = NDArray[np.float64]

_FEWEST_ROWS, _MOST_ROWS = 20_000, 60_000
"""Of a pool."""
_NOISES = 5
"""How often noise is drawn for each simulated table, in the check."""


@dataclass(frozen=True, eq=False)
class WholePosterior:
    """What is known of θ."""

    estimate: dict[str, Floats]
    draws: Sequence[dict[str, Floats]]
    check: Check
    fit: dict[str, Any]
    """How it was found, for the report."""
    dependences: Sequence[tuple[str, str, float]]
    """How far the estimate has two columns from independent, as a total variation, by pair."""
    directions = None

    @cached_property
    def natural(self) -> dict[str, Floats]:
        """θ by name, on the public grid: of the estimate first, then of each draw."""
        every = (self.estimate, *self.draws)
        return {
            name: np.round(np.array([each[name] for each in every]) / GRID) * GRID
            for name in self.estimate
        }

    @property
    def thetas(self) -> list[dict[str, Any]]:
        """The same one by one."""
        listed = {name: values.tolist() for name, values in self.natural.items()}
        return [dict(zip(listed, each, strict=True)) for each in zip(*listed.values(), strict=True)]


@dataclass(frozen=True, eq=False)
class Whole:
    """Columns in turn, with what was measured of them."""

    population: Population
    measurements: Sequence[Measurement]

    @property
    def columns(self) -> Sequential:
        """The columns in turn."""
        found: Sequential = self.population.model.in_turn
        return found

    @cached_property
    def tables(self) -> Tables:
        """What was measured."""
        return tables_of(self.measurements)

    @property
    def size(self) -> float | None:
        """How many records there are; None where tables tell."""
        return float(self.population.size) if self.population.known else None

    def estimated(self, generator: np.random.Generator) -> Fitted:
        """Return the most plausible θ."""
        return self.fitted(self.tables, generator)

    def fitted(self, tables: Tables, generator: np.random.Generator, near: Any = None) -> Fitted:
        """Return the fit to some tables, or a draw near a θ that is known."""
        rows = min(max(self.population.size, _FEWEST_ROWS), _MOST_ROWS)
        public = self._public(rows, generator)
        rows = len(next(iter(public.values()))) if public else rows
        groups = {name: self.columns.grouped[name].read(public) for name in public}
        return fit(
            self.columns.terms,
            tables,
            groups,
            size=self.size,
            rows=rows,
            generator=generator,
            near=near,
        )

    def _public(self, rows: int, generator: np.random.Generator) -> Columns:
        """Return about so many public rows, each as often as another as far as that goes."""
        given = self.population.public
        if not given:
            return {}
        available = len(next(iter(given.values())))
        chosen = np.resize(generator.permutation(available), rows)
        if self.population.known and available <= rows:
            chosen = np.tile(np.arange(available), -(-rows // available))
        return {name: values[chosen] for name, values in given.items()}

    def errors(self, fitted: Fitted, source: Source, count: int) -> list[list[Floats]]:
        """Return by how much tables of records at the estimate are off, for so many of them."""
        found = [self._counted(fitted, source) for _ in range(count)]
        centred: list[Floats] = [
            np.asarray(np.array(each) - np.mean(each, axis=0)) for each in zip(*found, strict=True)
        ]
        spread = float(np.sqrt(count / max(count - 1, 1)))
        return [
            [np.asarray(spread * t[k], dtype=np.float64) for t in centred] for k in range(count)
        ]

    def _counted(self, fitted: Fitted, source: Source) -> list[Floats]:
        """Return the tables of as many records as there are, simulated at the estimate."""
        generator, model = source.generator(), self.population.model
        rows = min(max(round(fitted.size), 1), _MOST_ROWS)
        public = self.population.public
        if public and not self.population.known:
            available = len(next(iter(public.values())))
            public = {n: v[generator.integers(available, size=rows)] for n, v in public.items()}
        elif public:
            rows = len(next(iter(public.values())))
        theta = {name: jnp.asarray(values) for name, values in fitted.theta.items()}
        made = model.simulate(source.key(), theta, public, rows)
        columns = model.schema.standing_alone({**public, **made})
        # Of fewer rows than there are records, errors are made as large as theirs.
        scale = np.sqrt(fitted.size / rows)
        counts = {}
        for each in self.measurements:
            for table in each.contribution.tables:  # type: ignore[attr-defined]
                counted = scale * np.bincount(table.codes(columns), minlength=table.count)
                counts[_name(table)] = counted.reshape(_shape(table))
        names = (*self.tables.single, *self.tables.pairs)
        return [np.asarray(counts[name], dtype=np.float64) for name in names]

    def noise(self, generator: np.random.Generator) -> list[Floats]:
        """Return noise as it may have been."""
        return [each.noise(generator) for each in self.tables.every]


def _name(table: Cells | Pair) -> Any:
    if isinstance(table, Cells):
        return table.column.name
    return table.one.column.name, table.other.column.name


def _shape(table: Cells | Pair) -> tuple[int, ...]:
    return (table.count,) if isinstance(table, Cells) else (table.one.count, table.other.count)


def infer_whole(whole: Whole, source: Source, *, draws: int) -> WholePosterior:
    """Return an estimate of θ, draws of it, and how well the model explains what was measured.

    Args:
        whole: What was measured.
        source: Where randomness comes from.
        draws: How many.
    """
    generator = source.generator()
    fitted = whole.estimated(generator)
    errors = whole.errors(fitted, source, draws)
    drawn = []
    for error in errors:
        moved = [e + n for e, n in zip(error, whole.noise(generator), strict=True)]
        found = whole.fitted(whole.tables.moved(moved), generator, fitted.theta)
        # A pool of rows of hundreds of columns for every draw would fill the memory.
        drawn.append(replace(found, codes={}, groups={}))
    check = _checked(whole, fitted, drawn, errors, generator)
    told = {"attempts": 1, "steps": None, "settled": fitted.settled, "sampler": "columns"}
    thetas = [each.theta for each in drawn]
    return WholePosterior(fitted.theta, thetas, check, told, _dependences(whole, fitted))


def _dependences(whole: Whole, fitted: Fitted) -> list[tuple[str, str, float]]:
    """Return how far each pair that was measured is from independent, at the estimate."""
    found = []
    pairs = fitted.means[len(whole.tables.single) :]
    for (one, other), counts in zip(whole.tables.pairs, pairs, strict=True):
        shares = counts / max(counts.sum(), 1e-300)
        apart = np.outer(shares.sum(axis=1), shares.sum(axis=0))
        found.append((one, other, float(np.abs(shares - apart).sum() / 2)))
    return found


def _checked(
    whole: Whole,
    fitted: Fitted,
    drawn: Sequence[Fitted],
    errors: Sequence[Sequence[Floats]],
    generator: np.random.Generator,
) -> Check:
    tables = whole.tables.every
    variances = [np.maximum(m, 0.0) + t.variance for m, t in zip(fitted.means, tables, strict=True)]

    def misfit(rest: Sequence[Floats]) -> float:
        return float(sum(np.sum(r**2 / v) for r, v in zip(rest, variances, strict=True)))

    usual = np.sort(
        [
            misfit([e + n for e, n in zip(error, whole.noise(generator), strict=True)])
            for error in errors
            for _ in range(_NOISES)
        ]
    )
    own = np.array(
        [
            misfit([t.values - m for t, m in zip(tables, each.means, strict=True)])
            for each in (*drawn, fitted)
        ]
    )
    chances = (1 + len(usual) - np.searchsorted(usual, own)) / (1 + len(usual))
    entries = sum(each.values.size for each in tables)
    return Check(float(own[-1]), entries, float(chances[-1]), float(chances[:-1].mean()))


def whole_without_noise(whole: Whole, source: Source, *, count: int) -> list[dict[str, Floats]]:
    """Return draws of θ, had what the estimate predicts been measured without noise.

    Args:
        whole: What was measured.
        source: Where randomness comes from.
        count: How many draws.
    """
    generator = source.generator()
    fitted = whole.estimated(generator)
    quiet = [NoisyTable(m, LEAST, normal=True) for m in fitted.means]
    single = dict(zip(whole.tables.single, quiet, strict=False))
    pairs = dict(zip(whole.tables.pairs, quiet[len(single) :], strict=True))
    tables = Tables(single, pairs)
    errors = whole.errors(fitted, source, count)
    return [whole.fitted(tables.moved(error), generator, fitted.theta).theta for error in errors]
