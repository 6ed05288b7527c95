"""Mean, spread and slope of a record's contribution at θ, from records simulated there.

    μ(θ) = E w,      Σ(θ) = Cov w,      ∂μ/∂z = Cov(w, ∇f_θ),

the last by the score identity: w depends on θ₀, which is public, and not on θ. The score has mean
zero, which makes it a control variate: μ is estimated by the mean of w − Bᵀ∇f_θ, where B regresses
one on the other, and what is left of the spread says how far simulation may be off.

Where the predictors are public rows that are copied, they are fixed: only what records add to them
varies. Each row is then simulated several times, and moments are taken within rows.

Of very many fixed rows only some are simulated, and which ones makes the mean uncertain, too. They
are sorted, so that rows that are alike stand together, and one row of each of as many stretches is
taken at random: a combination of values is there about as often as it should be. What is left of
chance is had from neighbours, as for any sample with one unit of each stratum (Wolter 2007): with d
the differences between residuals of neighbouring rows, R of N rows and M records in all,

    doubt = (1 − R/N) E dd′/(2R)  +  (R/N) Cov(w − Bᵀ∇f | rows)/M,

since dd′/2 has both what differs between rows and what varies within them, and rows that are all
there do not differ by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from understudy._jax import jax, jnp
from understudy.domain.tables import Columns
from understudy.inference.contribution import Contribution, ScoreContribution, TableContribution
from understudy.inference.shares import Shares
from understudy.inference.slopes import Prepared
from understudy.models.base import Model, Theta
from understudy.support.parallel import in_threads
from understudy.support.randomness import Source

Floats = NDArray[np.float64]
_REPEATS = 2
_MOST_FIXED = 2**16
"""Up to so many records every public row is simulated; beyond, some are."""
MOST = 2**18
"""More records than this are simulated in blocks."""
_BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class Population:
    """Whom the records are drawn from, as far as it is public."""

    model: Model
    public: Columns
    """Rows of public columns; those that are alike stand together (`skeleton.in_order`)."""
    size: int
    """How many records there are, or are declared to be."""
    known: bool
    """Whether `public` are the table's own rows, so that they and their number are given."""

    _rows: dict[int, _Rows] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def most(self) -> float:
        """For how many rows a record may count: so often is noise larger, and spread at most."""
        return Shares.declared(self.model.schema).most

    def simulate(self, z: Floats, source: Source, records: int) -> Simulated:
        """Return about so many records from the model at θ."""
        rows = self._chosen(records, source)
        return self._beside(rows.places, rows, records, z, source.key())

    def moments(
        self, contributions: Sequence[Contribution], z: Floats, source: Source, records: int
    ) -> Moments:
        """Return the moments of contributions at θ, from about so many records simulated there.

        Very many are simulated in blocks, to which the rows are dealt out one after the other. What
        one adds does not depend on the others, so that the mean of all is as much more exact.
        """
        rows, blocks = self._chosen(records, source), records // _BLOCK if records > MOST else 1
        jobs = [(number, source.key()) for number in range(blocks)]

        def found(job: tuple[int, jax.Array]) -> Moments:
            number, key = job
            places = None if rows.places is None else rows.places[number::blocks]
            simulated = self._beside(places, rows, records // blocks, z, key)
            return moments(simulated, contributions, z)

        return _together(list(in_threads(found, jobs)) if blocks > 1 else [found(jobs[0])])

    def _beside(
        self,
        places: NDArray[np.int64] | None,
        rows: _Rows,
        records: int,
        z: Floats,
        key: jax.Array,
    ) -> Simulated:
        """Return what the model adds to some rows; or so many records, where there are no rows."""
        public: Columns = {}
        if places is not None:
            chosen = np.tile(places, rows.repeats)
            public, records = {n: values[chosen] for n, values in self.public.items()}, len(chosen)
        made = self.model.simulate(key, _theta(self.model, jnp.asarray(z)), public, records)
        columns = self.model.schema.standing_alone({**public, **made})
        return Simulated(self.model, columns, rows.repeats, rows.share)

    def _chosen(self, records: int, source: Source) -> _Rows:
        """Return public rows for about so many records, the same ones whenever they are asked for.

        Where rows are known, each is there equally often, at least twice; of very many some are
        left out. Otherwise they are drawn, each as often as another as far as that goes.
        """
        if records not in self._rows:
            self._rows[records] = self._choice(records, source.generator())
        return self._rows[records]

    def _choice(self, records: int, generator: np.random.Generator) -> _Rows:
        if not self.public:
            return _Rows(None)
        available = len(next(iter(self.public.values())))
        if not self.known:
            return _Rows(np.resize(generator.permutation(available), records))
        if _REPEATS * available > max(records, _MOST_FIXED):
            places = _spread(available, records // _REPEATS, generator)
            return _Rows(places, _REPEATS, len(places) / available)
        return _Rows(np.arange(available), max(_REPEATS, -(-records // available)))


class _Rows(NamedTuple):
    """Public rows that records are simulated beside."""

    places: NDArray[np.int64] | None
    """Where they are among all of them; None where there are no public columns."""
    repeats: int = 1
    """How often each of them is there."""
    share: float = 1.0
    """How many of the fixed rows are among them."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """Records from the model, in as many repeats of the same public rows."""

    model: Model
    columns: Columns
    repeats: int
    share: float = 1.0
    """How many of the fixed rows are there: of a part, the mean depends on which."""

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

    def between(self, values: Floats) -> Floats:
        """Return the covariance of the mean that is due to chance, in rows and in what they add."""
        means = _row_means(values, self.repeats)
        steps = np.diff(means, axis=0)
        return np.asarray(steps.T @ steps / (2 * len(steps) * len(means)))


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
    if simulated.share < 1:
        chance = simulated.between(dense(values) - scores @ weight)
        doubt = simulated.share * doubt + (1 - simulated.share) * chance
    return Moments(mean, covariance, slope, doubt)


def _together(parts: Sequence[Moments]) -> Moments:
    """Return the moments from all of several blocks of records of about the same size."""
    if len(parts) == 1:
        return parts[0]
    mean, covariance, slope, doubt = (
        sum(getattr(part, name) for part in parts) / len(parts)
        for name in ("mean", "covariance", "slope", "doubt")
    )
    return Moments(mean, covariance, slope, doubt / len(parts))


def _spread(available: int, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return one row at random of each of so many stretches of equal length."""
    places = (np.arange(count) + generator.random(count)) * (available / count)
    return np.minimum(places.astype(np.int64), available - 1)


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
