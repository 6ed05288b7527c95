"""Mean, spread and slope of a record's contribution at θ, from records simulated there.

    μ(θ) = E w,      Σ(θ) = Cov w,      ∂μ/∂z = Cov(w, ∇f_θ),

the last by the score identity: w depends on θ₀, which is public, and not on θ. The score has mean
zero, which makes it a control variate: μ is estimated by the mean of w − Bᵀ∇f_θ, where B regresses
one on the other, and what is left of the spread says how far simulation may be off.

Where the predictors are public rows that are copied, they are fixed: only what records add to them
varies. Each row is then simulated several times, and moments are taken within rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.inference.contribution import Contribution, ScoreContribution, TableContribution
from understudy.inference.shares import Shares
from understudy.inference.slopes import Prepared
from understudy.models.base import Model, Theta
from understudy.support.randomness import Source

Floats = NDArray[np.float64]
_REPEATS = 2
_MOST_FIXED = 2**16
"""Up to so many records every public row is simulated; beyond, rows are chosen at random."""


@dataclass(frozen=True, eq=False)
class Population:
    """Whom the records are drawn from, as far as it is public."""

    model: Model
    public: Columns
    """Rows of public columns."""
    size: int
    """How many records there are, or are declared to be."""
    known: bool
    """Whether `public` are the table's own rows, so that they and their number are given."""

    _rows: dict[int, tuple[Columns, int]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def most(self) -> float:
        """For how many rows a record may count: so often is noise larger, and spread at most."""
        return Shares.declared(self.model.schema).most

    def simulate(self, z: Floats, source: Source, records: int) -> Simulated:
        """Return about so many records from the model at θ."""
        if records not in self._rows:
            self._rows[records] = self._chosen(records, source.generator())
        public, repeats = self._rows[records]
        count = len(next(iter(public.values()))) if public else records
        theta = _theta(self.model, jnp.asarray(z))
        made = self.model.simulate(source.key(), theta, public, count)
        return Simulated(self.model, self.model.schema.standing_alone({**public, **made}), repeats)

    def _chosen(self, records: int, generator: np.random.Generator) -> tuple[Columns, int]:
        """Return public rows for about so many records, and how often each of them is there.

        Where rows are known, each is there equally often, at least twice; of very many some are
        left out. Otherwise they are drawn, each as often as another as far as that goes.
        """
        if not self.public:
            return {}, 1
        available = len(next(iter(self.public.values())))
        rows, repeats = np.arange(available), 1
        if not self.known:
            rows = np.resize(generator.permutation(available), records)
        elif _REPEATS * available > max(records, _MOST_FIXED):
            rows, repeats = generator.choice(available, records // 2, replace=False), _REPEATS
        else:
            repeats = max(_REPEATS, -(-records // available))
        chosen = np.tile(rows, repeats)
        return {name: values[chosen] for name, values in self.public.items()}, repeats


@dataclass(frozen=True, eq=False)
class Simulated:
    """Records from the model, in as many repeats of the same public rows."""

    model: Model
    columns: Columns
    repeats: int

    @classmethod
    def pooled(cls, parts: Sequence[Simulated]) -> Simulated:
        """Return several of them as one, whose public rows are not fixed."""
        columns = {
            name: np.concatenate([part.columns[name] for part in parts])
            for name in parts[0].columns
        }
        model = parts[0].model
        return cls(model, model.schema.standing_alone(columns), 1)

    @cached_property
    def prepared(self) -> Prepared:
        """The records as the model prepares them."""
        return Prepared.of(self.model, self.columns)

    @property
    def records(self) -> int:
        """How many there are."""
        return self.prepared.records

    def slopes(self, z: Floats) -> Floats:
        """Return ∇f_θ(x) of each record, shape (records, dimension)."""
        return self.prepared.slopes(z)

    def loglik(self, z: Floats) -> Floats:
        """Return f_θ(x) of each record for each row of z, shape (points, records)."""
        return self.prepared.loglik(z)

    def contributions(self, contributions: Sequence[Contribution]) -> Any:
        """Return w(x) of all rounds side by side, with 1 for a whole; tables alone are sparse."""
        tables = [c for c in contributions if isinstance(c, TableContribution)]
        if len(tables) == len(contributions):
            return hstack([c.marks(self.columns) for c in tables], format="csr")
        parts = [
            c.each(self.columns, self.prepared)
            if isinstance(c, ScoreContribution)
            else c.each(self.columns)
            for c in contributions
        ]
        units = [c.units for c in contributions]
        return np.concatenate([p / u for p, u in zip(parts, units, strict=True)], axis=1)

    def within(self, one: Any, other: Any) -> Floats:
        """Return the covariance of two sets of values, given the public rows where these are fixed.

        Sums of products come first and means are taken off afterwards: with values that are mostly
        zero, nothing of the size of records × entries is formed.
        """
        products = dense(one.T @ other) / self.records
        if self.repeats == 1:
            return products - np.outer(one.mean(axis=0), other.mean(axis=0))
        means = [_row_means(each, self.repeats) for each in (one, other)]
        between = dense(means[0].T @ means[1]) * (self.repeats / self.records)
        return (products - between) * (self.repeats / (self.repeats - 1))


@dataclass(frozen=True)
class Moments:
    """Mean, covariance and slope of one record's contribution, and how exact the mean is."""

    mean: Floats
    covariance: Floats
    slope: Floats
    """∂μ/∂z, shape (width, dimension)."""
    doubt: Floats
    """Covariance of the mean that is due to simulation."""


def moments(simulated: Simulated, contributions: Sequence[Contribution], z: Floats) -> Moments:
    """Return the moments at θ of contributions, from records simulated at it."""
    values, scores = simulated.contributions(contributions), simulated.slopes(z)
    slope, covariance = simulated.within(values, scores), simulated.within(values, values)
    information = scores.T @ scores / simulated.records
    weight = np.linalg.lstsq(information, slope.T, rcond=1e-10)[0]
    mean = values.mean(axis=0) - scores.mean(axis=0) @ weight
    told = slope @ weight
    left = information if simulated.repeats == 1 else simulated.within(scores, scores)
    doubt = (covariance - told - told.T + weight.T @ left @ weight) / simulated.records
    return Moments(mean, covariance, slope, doubt)


def _row_means(values: Any, repeats: int) -> Any:
    """Return the mean of each public row's values over its repeats."""
    rows = values.shape[0] // repeats
    total = values[:rows]
    for k in range(1, repeats):
        total = total + values[k * rows : (k + 1) * rows]
    return total / repeats


def dense(values: Any) -> Floats:
    """Return values with their zeros."""
    return values.toarray() if isinstance(values, csr_array) else np.asarray(values)


@partial(jax.jit, static_argnames="model")
def _theta(model: Model, z: jax.Array) -> Theta:
    return model.constrain(z)
