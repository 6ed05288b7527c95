"""From a reference table to a policy.

The choice looks at the reference alone, so it costs nothing of the budget of the tables to come.
That holds if the reference tells nothing about the people in them that is not public: it is public,
or an earlier release. A confidential reference is protected by no ε here: the settings that it led
to are published with the policy, and its θ is not. Every guarantee under the policy says so, and
neither kind of reference can be released under it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from understudy.domain.cells import measurable
from understudy.domain.column import checked_line
from understudy.domain.fingerprints import Fingerprint
from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.schema import Schema
from understudy.domain.tables import decode, encode
from understudy.errors import BadInput
from understudy.ledger.chain import check_budget
from understudy.ledger.statement import FURTHEST
from understudy.mechanisms import BY_NAME, Summary
from understudy.mechanisms.base import EarlierTheta, check_balanced
from understudy.mechanisms.published import anchor_of
from understudy.mechanisms.reference import reference as learn
from understudy.models.base import Model
from understudy.models.record.declared import as_declared
from understudy.periods.calibration.choice import WantedAccuracy, choose
from understudy.periods.calibration.sweep import EPSILONS, NOISELESS, Outcome, Sweep, settings
from understudy.periods.policy import Policy, model_terms, reference_file
from understudy.privacy.accounting import (
    Cost,
    check_delta,
    epsilon_at,
    exact,
    rho_within,
)
from understudy.privacy.guarantee import Adjacency, check_epsilon
from understudy.privacy.rounding import at_most, plain
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically
from understudy.support.progress import Progress, silent, stage
from understudy.support.stopping import uninterrupted
from understudy.synthesis.run import synthesize

DRAWS = 5
PERIODS = 12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Calibration(Confidential):
    """A policy, and all that was tried on the way to it on a reference that may be confidential."""

    policy: Policy
    """Complete but for the file of its schema, which is settled when it is written."""
    schema: Schema
    """What the tables are declared to hold."""
    reference: Fingerprint
    """By what the reference is recognised; stays inside."""
    chosen: Outcome
    """What came of the setting that was chosen."""
    baseline: Outcome | None
    """What came of the model without privacy, if there is a model."""
    outcomes: tuple[Outcome, ...]
    """What came of every setting that was tried."""
    target: WantedAccuracy | None
    """The accuracy that was asked for, if one was."""
    records: int
    """Of the reference."""
    draws: int
    """At each setting."""

    @property
    def periods(self) -> int:
        """How many periods the budget pays for."""
        policy = self.policy
        if policy.delta is None:
            return int(exact(policy.budget) // exact(policy.epsilon))
        return _fitting(policy.budget, policy.epsilon, policy.delta)

    def write(
        self, path: str | os.PathLike[str], *, schema: str | os.PathLike[str] | None = None
    ) -> Path:
        """Write POLICY.toml and, beside it, the reference's fingerprint and the page.

        Args:
            path: The policy to write, a .toml file.
            schema: The file that the schema is in; without one, the schema is written beside the
                policy.

        Returns:
            The page's path.
        """
        import tomli_w

        from understudy.periods.calibration.page import render

        policy = Path(path)
        if policy.suffix != ".toml":
            # Otherwise two policies might have the same file for their fingerprints.
            raise BadInput(f"the policy must be a .toml file, and '{policy}' is not.")
        page = policy.with_suffix(".html")
        with written_atomically(page, private=self.policy.reference_is == "confidential") as file:
            file.write_text(render(self, policy.name), encoding="utf-8")
        if schema is None:
            schema = policy.with_suffix(".schema.toml")
            with written_atomically(schema) as file:
                file.write_text(tomli_w.dumps(self.schema.to_dict()), encoding="utf-8")
        # A policy without its own fingerprint beside it is refused, so they change together.
        with uninterrupted():
            self.reference.write(reference_file(policy))
            replace(self.policy, schema=os.path.relpath(schema, policy.parent)).write(policy)
        return page


def calibrate(
    model: Model | Schema,
    reference: Tabular,
    *,
    reference_is: str,
    population: str,
    epsilon: float | None = None,
    delta: float | None = None,
    target: str | None = None,
    mechanisms: Sequence[str] | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
    balanced: bool = False,
    budget: float | None = None,
    periods: int = PERIODS,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress = silent,
) -> Calibration:
    """Try settings on a reference table, and choose the one to release every period with.

    Args:
        model: The model of a record; a bare schema to try mechanisms that need none.
        reference: The table to choose on, or the file that it is in.
        reference_is: Whether it is `public` or `confidential`. Every guarantee under the policy
            says so, and the reference itself can never be released under it.
        population: Who is protected, in the words of their ledger.
        epsilon: ε of each period; by default a choice among 0.1 to 5.
        delta: δ at which ε and the budget are stated, for mechanisms with normal noise; pure by
            default.
        target: An accuracy such as `max_ecdf=0.03`, to be reached with the smallest ε.
        mechanisms: Names of those to try; by default `summary` and `ph`, or, where neither can
            serve, all that can.
        adjacency: Under which ε is stated.
        rows: Rows of each release; the declared size by default.
        balanced: Whether these rows are evenly spread instead of independent.
        budget: Budget of the ledger; by default what the periods cost: ε times their number or,
            with a δ, what their ρ comes to at it.
        periods: Periods that the budget pays for.
        draws: Draws at each setting.
        seed: Seed of the trials, of which nothing is released.
        progress: Told the name of each step and how much of it is done.

    Returns:
        The policy, and everything that was tried on the way to it.
    """
    _check(reference_is, population, draws=draws, periods=periods)
    delta = _check_budget(budget, epsilon, delta, periods)
    aim = None if target is None else WantedAccuracy.parse(target)
    public, relation = reference_is == "public", Adjacency.parse(adjacency)
    schema, built = (model, None) if isinstance(model, Schema) else (model.schema, model)
    check_balanced(balanced, schema, None if built is None else as_declared(built))
    epsilons = EPSILONS if epsilon is None else (check_epsilon(epsilon),)
    tried = settings(
        schema, built, public=public, epsilons=epsilons, delta=delta, mechanisms=mechanisms
    )
    with stage(progress, "Reading"):
        frame = frame_of(reference)
        columns = encode(frame, schema, name=name_of(reference, "the reference"))
    theta = None
    if built is not None and public:
        named = [BY_NAME[each.mechanism] for each in tried]
        chains = any(not m.by_sums and m.earlier is not EarlierTheta.UNUSED for m in named)
        learned = _from_chains if chains or built.in_turn is None else _from_tables
        theta = learned(built, frame, seed, progress)
    sweep = Sweep(
        model=built,
        schema=schema,
        table=frame,
        measured=measurable(decode(columns, schema), schema.columns),
        theta=theta,
        adjacency=relation,
        rows=rows,
        balanced=balanced,
        draws=draws,
        seed=seed,
    )
    baseline, outcomes = sweep.run(tried, lambda done: progress("Settings", done))
    chosen = choose(outcomes, baseline, epsilon=epsilon, target=aim, public=public)
    recognised = Fingerprint.of(columns, schema)
    # A mechanism without a model starts from nothing.
    needed = built if BY_NAME[chosen.setting.mechanism].needs_model else None
    policy = Policy(
        **asdict(chosen.setting),
        adjacency=relation,
        **model_terms(needed),
        schema_digest=schema.digest,
        rows=rows,
        balanced=balanced,
        budget=_budget(budget, chosen.setting.epsilon, delta, periods),
        population=population,
        reference_is=reference_is,
        reference_digest=recognised.digest,
        anchor=None if needed is None else theta,
    )
    return Calibration(
        policy=policy,
        schema=schema,
        reference=recognised,
        chosen=chosen,
        baseline=baseline,
        outcomes=outcomes,
        target=aim,
        records=len(frame),
        draws=draws,
    )


def _from_chains(
    model: Model, table: pd.DataFrame, seed: int, progress: Progress
) -> dict[str, Any]:
    """Return θ of a public reference, the mean of its posterior."""
    return learn(model, table, confidential=False, seed=seed, progress=progress).theta


def _from_tables(
    model: Model, table: pd.DataFrame, seed: int, progress: Progress
) -> dict[str, Any]:
    """Return θ of a public reference, with its groups, as tables without noise tell it."""
    with stage(progress, "Reference"):
        found = synthesize(model, table, Summary(epsilon=NOISELESS), seed=seed)
    published = found.parameters[0]
    return anchor_of(published["parameters"], published["model"], model)


def _budget(asked: float | None, epsilon: float, delta: float | None, periods: int) -> float:
    """Return the budget that was asked for, or what the periods cost, as people add it up.

    With a δ, what the ledger adds up is ρ: twelve periods at 1 come to less than 4 at 10⁻⁶.
    """
    if asked is None and delta is not None:
        return float(at_most(_together(epsilon, delta, periods)))
    if asked is None:
        return float(exact(epsilon) * periods)
    if asked < epsilon:
        raise BadInput(
            f"a budget of ε = {plain(asked)} does not pay for one period at {plain(epsilon)}."
        )
    return float(asked)


def _together(epsilon: float, delta: float, periods: int) -> float:
    """Return ε at δ of so many releases, each of which is (ε, δ)-private by its ρ."""
    return epsilon_at(Cost(None, periods * rho_within(epsilon, delta=delta)), delta=delta)


def _fitting(budget: float, epsilon: float, delta: float) -> int:
    """Return how many such releases a budget pays for, as its ledger counts them."""
    counts = range(1, FURTHEST + 1)
    return bisect_right(counts, budget, key=lambda periods: _together(epsilon, delta, periods))


def _check_budget(
    budget: float | None, epsilon: float | None, delta: float | None, periods: int
) -> float | None:
    """Refuse, before anything is tried, a budget that cannot be or does not pay for one period.

    Returns δ, which is checked as well.
    """
    delta = None if delta is None else check_delta(delta)
    if budget is not None:
        check_budget(budget)
        if epsilon is not None:
            _budget(budget, check_epsilon(epsilon), delta, periods)
    return delta


def _check(reference_is: str, population: str, **numbers: int) -> None:
    if not checked_line(population, "the name of the population"):
        raise BadInput(
            "say who is protected, in the words of their ledger: `population` 'people who ...'."
        )
    if reference_is not in ("public", "confidential"):
        raise BadInput(f"`reference_is` must be public or confidential, not '{reference_is}'.")
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 1000:
            raise BadInput(f"`{name}` must be a number from 1 to 1000, not {number!r}.")
