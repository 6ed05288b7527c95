"""The audit of noisy sums, with any model: how far can one record move them, in whole numbers?

A summary publishes Σ w(xᵢ) with discrete Laplace noise of scale s in every entry, in rounds whose w
is public by then, and which pairs of columns it chose in between. Its guarantee rests on two facts,
and both are tried on a table simulated from the model. A record that is added moves a sum by w(x),
or scores by what it does to its own cells, and by nothing else (`recomputed.py`), and what is asked
by what it changes in earlier rounds alone (`replayed.py`). And ‖w(x)‖₁ ≤ C on the whole domain,
which is searched for the longest w (`records.py`). What neighbours are told apart by is then known
(`moved.py`): for sums it is exactly

    max over T̃ of |log p(T̃ | one) − log p(T̃ | other)| = Σ over rounds of ‖w(x) − w(x′)‖₁ / s,

without w(x′) where a record is added. It is computed in fractions: not a unit may be too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from understudy._jax import jnp
from understudy.audit.moved import Published, published
from understudy.audit.records import Domain, chosen, in_words, joined, most_counted
from understudy.audit.replayed import fault_of_rounds
from understudy.audit.result import Audit, Curve, Round
from understudy.domain.records import Held
from understudy.domain.skeleton import Skeleton
from understudy.domain.tables import Columns, count_records
from understudy.errors import BadInput
from understudy.inference.contribution import Wholes
from understudy.inference.measurement import Measurement
from understudy.mechanisms import Mechanism, Request
from understudy.mechanisms.choosing import Choice
from understudy.mechanisms.registry import resolve_sampler
from understudy.models.base import Model
from understudy.models.record.declared import as_declared
from understudy.privacy.accounting import rounded_up
from understudy.privacy.guarantee import Adjacency
from understudy.samplers.proposals import prior_centre
from understudy.support.randomness import Source

_SPREADS = (0.0, 1.0, 2.0)
"""How far from the prior's centre tables are simulated: w is another one for each of them."""
_STARTS = 3
"""Records at random from which a search for two begins, beside the longest."""
_TURNS = 2
"""How often each of two neighbours is moved away from the other."""
_ADDED = 9
"""Records that are added to a table, beside those that the search found."""
_POINTS = 401
_REACH = 6.0
"""How far noise is drawn, in scales."""


def audit_sums(
    mechanism: Mechanism, model: Model, *, n: int, adjacency: Adjacency, target: float, seed: int
) -> Audit:
    """Search for the record that moves the sums of a mechanism most, and try the sums themselves.

    Args:
        mechanism: What to break.
        model: The model of a row.
        n: Records of the simulated table.
        adjacency: Which tables are neighbours.
        target: The ε that was asked for.
        seed: From which everything is drawn.
    """
    found = []
    for spread in _SPREADS:
        fresh = partial(
            simulated_request, mechanism, as_declared(model), n=n, seed=seed, spread=spread
        )
        found.append(_audited(fresh, adjacency, target, np.random.default_rng(seed)))
        if found[-1].broken:
            break
    return max(found, key=lambda audit: (audit.broken, audit.largest_log_ratio))


def _audited(
    fresh: Callable[[], Request],
    adjacency: Adjacency,
    target: float,
    generator: np.random.Generator,
) -> Audit:
    """Return what was found on one table."""
    request = fresh()
    mechanism = request.mechanism
    plan = mechanism.plan(request)
    if plan.delta is not None:
        raise BadInput("the audit of sums compares pure ε: leave out `delta`.")
    stated = plan.epsilon
    bench = SumBench(request, tuple(mechanism.measures(request)), adjacency)
    pairs = bench.search(generator)
    best, fault = max(pairs, key=bench.log_ratio), bench.fault(pairs, fresh, generator)
    return Audit(
        mechanism=mechanism.name,
        adjacency=adjacency,
        target=target,
        largest_log_ratio=math.inf if fault else float_above(bench.log_ratio(best)),
        claimed=None if stated is None else min(asked(mechanism, adjacency), stated[adjacency]),
        n=request.size,
        neighbour=fault or bench.in_words(best),
        curves=() if fault else bench.curves(best),
        density="Density of the noisy sum",
        rounds=bench.rounds(pairs),
    )


def asked(mechanism: Mechanism, adjacency: Adjacency) -> float:
    """Return the ε that a mechanism was asked for, as it is under an adjacency."""
    target = math.inf if mechanism.target is None else mechanism.target
    return target * adjacency.steps / mechanism.adjacency.steps


def simulated_request(
    mechanism: Mechanism, model: Model, *, n: int, seed: int, spread: float = 0.0
) -> Request:
    """Return a table from the prior's centre, with predictors from all over their domain.

    Args:
        mechanism: Who is asked.
        model: The model of a record.
        n: How many.
        seed: From which they are drawn.
        spread: How far from the centre, in unconstrained coordinates.
    """
    schema, source = model.schema, Source(seed)
    if schema.unit is not None:
        raise BadInput("the audit of sums takes a row for a record, but the schema declares units.")
    everywhere = schema.public_points(n)
    public = {column.name: everywhere[column.name] for column in schema.public}
    away = spread * source.generator().normal(size=model.dimension)
    theta = model.constrain(jnp.asarray(prior_centre(model) + away))
    made = model.simulate(source.key(), theta, public, n)
    return Request(
        mechanism=mechanism,
        model=model,
        schema=schema,
        records=Held(schema.standing_alone({**public, **made})),
        skeleton=Skeleton(public, n, copied=bool(public)),
        size=n,
        sampler=resolve_sampler("auto", mechanism, model),
        source=source,
    )


def float_above(number: Fraction | float) -> float:
    """Return the smallest float that is not below a number."""
    return rounded_up(number) if isinstance(number, Fraction) else number


@dataclass(frozen=True, eq=False)
class Neighbours:
    """A record that is added to a table, or that takes the place of another one."""

    before: Columns | None
    after: Columns
    shifts: tuple[Wholes, ...]
    """By what it moves what each round published."""
    lengths: tuple[float, ...]
    """How far that is, in units."""


@dataclass(frozen=True, eq=False)
class SumBench:
    """A simulated table, what was measured of it, and how its neighbours are told apart."""

    request: Request
    measured: tuple[Measurement | Choice, ...]
    adjacency: Adjacency

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """What each round published."""
        return tuple(published(each, self.request.columns) for each in self.measured)

    @property
    def domain(self) -> Domain:
        """Every record that there may be."""
        return Domain(self.request.schema)

    def search(self, generator: np.random.Generator) -> list[Neighbours]:
        """Return the neighbours told apart best by each round, and by all of them together.

        Of two records that replace each other, each is in turn moved away from the other. Public
        values that are copied belong to a record's place, and stay.
        """
        alone = self._farthest(self.domain, None, generator)
        if self.adjacency is Adjacency.ADD_REMOVE:
            return alone
        anywhere = self.domain.start(generator)
        places = generator.integers(count_records(anywhere), size=_STARTS)
        starts = [each.after for each in alone] + [chosen(anywhere, [place]) for place in places]
        pairs = []
        for start in starts:
            record = start
            for _ in range(2 * _TURNS):
                found = self._farthest(self.domain.beside(record), record, generator)
                pairs += found
                record = found[-1].after
        return pairs

    def _farthest(
        self, domain: Domain, before: Columns | None, generator: np.random.Generator
    ) -> list[Neighbours]:
        """Return the neighbours of one record, or of none, by each round and by all of them."""
        origins = self._vectors(before)
        scales = np.array([float(each.scale) for each in self.published])

        def moved(records: Columns) -> list[Wholes]:
            return [v - o for v, o in zip(self._vectors(records), origins, strict=True)]

        def counted(records: Columns) -> NDArray[np.float64]:
            ratios = np.array(self._lengths(moved(records))) / scales[:, None]
            return np.concatenate([ratios, ratios.sum(axis=0, keepdims=True)])

        found = most_counted(domain, counted, generator)
        vectors = moved(found)
        lengths = np.array(self._lengths(vectors))
        return [
            Neighbours(
                before,
                chosen(found, [place]),
                tuple(v[place] for v in vectors),
                tuple(lengths[:, place].tolist()),
            )
            for place in range(len(self.measured) + 1)
        ]

    def _lengths(self, vectors: Sequence[Wholes]) -> list[NDArray[np.float64]]:
        return [each.lengths(v) for each, v in zip(self.published, vectors, strict=True)]

    def _vectors(self, records: Columns | None) -> list[Wholes]:
        """Return what each record does to each round; where there is none, nothing."""
        if records is None:
            return [np.zeros((1, each.entries), dtype=np.int64) for each in self.published]
        whole = self.request.schema.standing_alone(records)
        return [each.each(whole) for each in self.published]

    def log_ratio(self, pair: Neighbours) -> Fraction | float:
        """Return what two neighbours are told apart by at most, all rounds together."""
        both = zip(self.published, pair.lengths, strict=True)
        return sum((each.told_apart(length) for each, length in both), Fraction())

    def rounds(self, pairs: Sequence[Neighbours]) -> tuple[Round, ...]:
        """Return the longest that was found in each round, beside what it may be."""
        longest = np.max([pair.lengths for pair in pairs], axis=0).tolist()
        steps = self.adjacency.steps

        def judged(each: Published, length: float) -> Round:
            bound = steps * each.bound
            return Round(
                kind=each.kind,
                entries=each.entries,
                epsilon=steps * each.epsilon,
                bound=bound,
                longest=length,
                passed=length > bound or each.told_apart(length) > steps * Fraction(each.epsilon),
            )

        return tuple(map(judged, self.published, longest))

    def fault(
        self,
        pairs: Sequence[Neighbours],
        fresh: Callable[[], Request],
        generator: np.random.Generator,
    ) -> str | None:
        """Say which sum is not one of contributions, or not of public ones, if any is not."""
        for pair in pairs:
            if not all(map(math.isfinite, pair.lengths)):
                return f"{self.in_words(pair)}, which contributes no vector of whole numbers"
        schema, start = self.request.schema, self.domain.start(generator)
        table = joined(self.request.columns, schema.standing_alone(start))
        some = chosen(start, generator.integers(count_records(start), size=_ADDED))
        records = schema.standing_alone(joined(*(pair.after for pair in pairs[-3:]), some))
        for number, each in enumerate(self.published, start=1):
            found = each.fault(table, records, generator)
            if found is not None:
                where = f"the {each.what} of round {number}"
                return f"none is needed: {where} {found}, so nothing bounds what it tells"
        found = fault_of_rounds(fresh, self.measured, start, generator)
        return found and f"none is needed: {found}, so nothing bounds what it tells"

    def in_words(self, pair: Neighbours) -> str:
        """Say what was added or replaced, and among whom."""
        schema, model = self.request.schema, self.request.model
        assert model is not None
        varying = tuple(c for c in self.domain.columns if c not in schema.public)
        fixed = f" at {in_words(pair.after, schema.public)}" if schema.public else ""
        after = in_words(pair.after, varying)
        among = f"{self.request.size:,} records simulated from {model.title}"
        if pair.before is not None:
            before = in_words(pair.before, varying)
            return f"a record with {before}{fixed} replaced by one with {after} among {among}"
        if schema.public:
            return f"a record with {after}{fixed}, present or blank among {among}"
        return f"a record with {after} added to (or removed from) {among}"

    def curves(self, pair: Neighbours) -> tuple[Curve, ...]:
        """Return the noise of each sum's most telling entry for both neighbours."""
        curves = []
        for number, (each, shift) in enumerate(zip(self.measured, pair.shifts, strict=True), 1):
            if isinstance(each, Choice):
                continue  # What is published of it is no number.
            entry, unit = int(np.argmax(np.abs(shift))), each.contribution.units
            scale = each.noise.scale / unit[entry]
            before = each.contribution.total(self.request.columns)[entry] / unit[entry]
            after = before + shift[entry] / unit[entry]
            ends = min(before, after) - _REACH * scale, max(before, after) + _REACH * scale
            at = np.union1d(np.linspace(*ends, _POINTS), [before, after])
            heights = (
                np.exp(-np.abs(at - centre) / scale) / 2 / scale for centre in (before, after)
            )
            curves.append(
                Curve(f"round {number}: {each.contribution.kind}, entry {entry + 1}", at, *heights)
            )
        return tuple(curves)
