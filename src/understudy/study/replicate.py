"""One replicate of the simulation: a table, every synthesiser on it, every statistic.

A replicate is a pure function of the study's seed and its own number. Its table comes first, so
the two samplers see the same tables. Every fit of a replicate then draws with the same random
numbers: each synthesiser alone behaves as it would with its own, but two of them that differ in
nothing else give the same synthetic table, and what differs in their results is due to them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import numpy as np

from understudy import utility
from understudy._jax import jax, jnp
from understudy.mechanisms import Mechanism, RowMechanism, Unweighted, Weighted
from understudy.mechanisms.fitting import DRAWS
from understudy.mechanisms.ladder import AnchoredPlan, climb
from understudy.models.base import Data, Model
from understudy.models.log_gamma import log_gamma
from understudy.privacy.guarantee import Weights
from understudy.samplers.nuts import nuts
from understudy.samplers.quadrature import quadratures
from understudy.score import Row
from understudy.study import paper, synthesisers
from understudy.study.arms import DOWNSCALED, TARGETED, ResultRow
from understudy.study.synthesisers import study_model, study_request
from understudy.support.randomness import Source

POINTS = 49
"""Nodes a side: cells of about a third of a standard deviation."""
_NEARBY = 1.0
"""How far from the Unweighted posterior the search for the others begins to look."""

_SIDE_BY_SIDE = 256
_UNROLL = 8


class StudyFit(NamedTuple):
    """A fit of one mechanism: independent draws, and what they say about the records."""

    mechanism: RowMechanism
    row: Row
    draws: np.ndarray
    """Unconstrained, shape (DRAWS, 2)."""
    risk: np.ndarray
    """max |f| over the draws, shape (n,)."""
    converged: bool
    truncated: int = 0
    """Records whose weight Weighted-e set to zero."""

    @property
    def reached(self) -> np.ndarray:
        """The largest |score| of each record: a clip keeps the order, so it may come last."""
        return np.minimum(np.asarray(self.row.alpha) * self.risk, float(self.row.bound))


def replicate(number: int, *, seed: int, sampler: str = "quadrature") -> list[ResultRow]:
    """Run one replicate of the study, with everything in it."""
    source, values = begun(number, seed)
    results = _rows(number, "data", None, asdict(utility.summarise(values)))
    downscaled = synthesisers.bayesian(paper.DOWNSCALED_EPSILON, paper.DOWNSCALED_C1)
    rows = [*paper_rows(), *(downscaled[name] for name in DOWNSCALED)]
    fits = explore(values, rows, source, sampler)
    syntheses = _simulated(np.stack([fit.draws[0] for fit in fits]), source)
    for fit, synthetic in zip(fits, syntheses, strict=True):
        numbers = _privacy(fit) | _utility(values, synthetic)
        if sampler == "nuts":
            numbers["converged"] = float(fit.converged)
        results += _rows(number, fit.mechanism.name, fit.mechanism, numbers)
    for epsilon in paper.EPSILONS:
        for name, mechanism in synthesisers.others(epsilon).items():
            synthetic = _synthesised(values, mechanism, source)
            results += _rows(number, name, mechanism, _utility(values, synthetic))
    return results


def explore(
    values: np.ndarray, mechanisms: Iterable[RowMechanism], source: Source, sampler: str
) -> list[StudyFit]:
    """Fit the Unweighted model, turn its risks into weights, and fit all the others at once."""
    model = study_model()
    data = model.prepare({"x": values})
    nothing = jnp.zeros(len(values))
    plain = Row(jnp.ones(len(values)), nothing, jnp.asarray(math.inf))
    (unweighted,) = _fitted(model, data, [(Unweighted(), plain)], source, sampler)
    risk = jnp.asarray(unweighted.risk)
    rows = [(m, Row(m.alpha(risk), nothing, jnp.asarray(m.bound))) for m in mechanisms]
    centre = unweighted.draws.mean(axis=0)
    nearby = (centre - _NEARBY, centre + _NEARBY)
    fits = _fitted(model, data, rows, source, sampler, start=nearby)
    return [unweighted, *(fit._replace(truncated=_truncated(fit, risk)) for fit in fits)]


def _truncated(fit: StudyFit, risk: jax.Array) -> int:
    """Return how many records have no weight that would have one if ε were no concern."""
    if fit.mechanism.weights is not Weights.SAME_DATA:
        return 0
    before = Weighted(c1=getattr(fit.mechanism, "c1", 1.0)).alpha(risk)
    return int(jnp.sum((fit.row.alpha == 0) & (before > 0)))


def _fitted(
    model: Model,
    data: Data,
    rows: list[tuple[RowMechanism, Row]],
    source: Source,
    sampler: str,
    *,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[StudyFit]:
    converged = [True] * len(rows)
    if sampler == "nuts":
        chains = [nuts(model, data, row, source) for _, row in rows]
        converged = [not fit.convergence.failing() for fit in chains]
        draws = np.stack(
            [_common(source).permutation(np.asarray(fit.thinned(DRAWS))) for fit in chains]
        )
    else:
        stacked = Row(*(jnp.stack(column) for column in zip(*(r for _, r in rows), strict=True)))
        grids = quadratures(model, data, stacked, points=POINTS, heights=heights, start=start)
        draws = np.stack([grid.draws(_common(source), DRAWS) for grid in grids])
    risk = np.asarray(risks(model, jnp.asarray(draws), data))
    return [
        StudyFit(mechanism, row, draws[k], risk[k], converged[k])
        for k, (mechanism, row) in enumerate(rows)
    ]


def paper_rows() -> list[RowMechanism]:
    """Return the paper's Bayesian synthesisers but the Unweighted one, at every ε."""
    at_each = [synthesisers.bayesian(epsilon) for epsilon in paper.EPSILONS]
    return [Weighted(), *(arms[name] for arms in at_each for name in TARGETED)]


def _synthesised(values: np.ndarray, mechanism: Mechanism, source: Source) -> np.ndarray:
    request, model = study_request(values, mechanism, source), study_model()
    plan = mechanism.plan(request)
    if isinstance(plan, AnchoredPlan):  # Climbed here without the diagnostics that a release has.
        rungs = climb(request, model.prepare(request.columns), plan.mechanism, plan.ladder)
        return _simulated(rungs[-1].z[None], source)[0]
    (theta,) = plan.draw().thetas
    if mechanism.needs_model:
        return _simulated(np.asarray(model.unconstrain(theta))[None], source)[0]
    draw = mechanism.simulator(theta, source, schema=model.schema, model=None)
    return draw({}, paper.N)["x"]


def _simulated(z: np.ndarray, source: Source) -> list[np.ndarray]:
    """Return a synthetic table from each row of unconstrained coordinates."""
    pairs = np.transpose(shapes(study_model(), jnp.asarray(z)))
    return [_common(source).beta(a, b, paper.N) for a, b in pairs]


def _privacy(fit: StudyFit) -> dict[str, float]:
    """Return the Lipschitz bound, and how many records were truncated or censored."""
    numbers = {"lipschitz_bound": float(fit.reached.max())}
    bound = float(fit.row.bound)
    if math.isfinite(bound):
        numbers["records"] = float(np.sum(fit.reached >= bound))
        if fit.mechanism.weights is Weights.SAME_DATA:
            beyond = float(np.sum(fit.risk >= bound))
            numbers["records_unweighted"] = beyond if numbers["records"] else 0.0
    elif fit.mechanism.target is not None:
        numbers["records"] = float(fit.truncated)
    return numbers


def _utility(values: np.ndarray, synthetic: np.ndarray) -> dict[str, float]:
    return {
        "max_ecdf": utility.max_ecdf(values, synthetic),
        "avg_ecdf": utility.avg_ecdf(values, synthetic),
        **asdict(utility.summarise(synthetic)),
    }


def _rows(
    number: int, name: str, mechanism: Mechanism | None, numbers: dict[str, float]
) -> list[ResultRow]:
    epsilon = getattr(mechanism, "target", None) or math.nan
    arm = (name, epsilon, getattr(mechanism, "c1", math.nan))
    return [ResultRow(number, *arm, *pair) for pair in numbers.items()]


def begun(number: int, seed: int) -> tuple[Source, np.ndarray]:
    """Return the randomness of a replicate, and its table."""
    state = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)
    source = Source(int(state[0] >> 1))
    return source, source.generator().beta(*paper.SHAPES, paper.N)


def _common(source: Source) -> np.random.Generator:
    """Return the generator that every fit of a replicate draws with, from its beginning."""
    assert source.seed is not None
    return np.random.default_rng([source.seed, 0])


def heights(model: Model, nodes: jax.Array, data: Data, row: Row) -> jax.Array:
    """Return the log target at each node, shape (nodes,), as fast as two cores allow.

    Given log u and log(1 − u), the record log-likelihood is linear in three numbers of θ,

        f = (a − 1) log u + (b − 1) log(1 − u) + c,      c = log Γ(a + b) − log Γ(a) − log Γ(b),

    so a kernel that walks along the records and holds many θ side by side needs half a dozen
    operations for each pair, all of them on vectors. Tables of the study hold no exact 0 or 1, so
    that the rules for infinite densities in `score.py` are superfluous here.
    """
    records = (data["log_u"], data["log_1mu"], row.alpha, row.offset)

    def block(z: jax.Array) -> jax.Array:
        a, b, c = _coefficients(model, z)

        def add(total: jax.Array, record: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
            log_u, log_1mu, alpha, offset = record
            pull = alpha * (a * log_u + b * log_1mu + (c - offset))
            return total + jnp.clip(pull, -row.bound, row.bound), None

        prior = jax.vmap(model.log_prior_unconstrained)(z)
        return jax.lax.scan(add, prior, records, unroll=_UNROLL)[0]

    padded = jnp.pad(nodes, ((0, -len(nodes) % _SIDE_BY_SIDE), (0, 0)), mode="edge")
    blocks = jnp.reshape(padded, (-1, _SIDE_BY_SIDE, model.dimension))
    return jnp.ravel(jax.lax.map(block, blocks))[: len(nodes)]


@partial(jax.jit, static_argnames="model")
def risks(model: Model, draws: jax.Array, data: Data) -> jax.Array:
    """Return max |f| over the draws of each fit, shape (fits, n), from (fits, draws, 2)."""
    log_u, log_1mu = data["log_u"], data["log_1mu"]

    def one_fit(z: jax.Array) -> jax.Array:
        def step(largest: jax.Array, at: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
            a, b, c = at
            return jnp.maximum(largest, jnp.abs(a * log_u + b * log_1mu + c)), None

        nothing = jnp.zeros_like(log_u)
        return jax.lax.scan(step, nothing, _coefficients(model, z), unroll=_UNROLL)[0]

    return jax.lax.map(one_fit, draws)


@partial(jax.jit, static_argnames="model")
def shapes(model: Model, z: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return a and b at each row of unconstrained coordinates."""
    theta = jax.vmap(model.constrain)(z)
    return theta["lambda"] * theta["phi"], theta["lambda"] * (1 - theta["phi"])


def _coefficients(model: Model, z: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    a, b = shapes(model, z)
    return a - 1, b - 1, log_gamma(a + b) - log_gamma(a) - log_gamma(b)
