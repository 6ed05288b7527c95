"""From a reference table to a policy.

The choice looks at the reference alone, so it costs nothing of the budget of the tables to come.
That holds if the reference tells nothing about the people in them that is not public: it is public,
or an earlier release. A confidential reference is protected by no ε here: the settings that it led
to are published with the policy, and its θ is not. Every guarantee under the policy says so, and
neither kind of reference can be released under it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.adapters.loading import load_model, names_file
from understudy.domain.fingerprints import Fingerprint
from understudy.domain.schema import Schema
from understudy.domain.tables import decode, encode
from understudy.errors import BadInput
from understudy.ledger.ledger import checked_budget, checked_line
from understudy.mechanisms.reference import reference as learn
from understudy.mechanisms.reference import reference_from_theta
from understudy.periods.calibration.choice import Target, choose
from understudy.periods.calibration.settings import EPSILONS, settings
from understudy.periods.calibration.sweep import Outcome, Sweep
from understudy.periods.policy import Policy, reference_file
from understudy.privacy.accounting import exact
from understudy.privacy.guarantee import Adjacency, check_epsilon
from understudy.privacy.rounding import plain
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically
from understudy.support.progress import Progress, silent, stage
from understudy.support.stopping import uninterrupted
from understudy.synthesis.preparation import frame_of, name_of

if TYPE_CHECKING:
    import pandas as pd

    from understudy.models.base import Model

DRAWS = 5
PERIODS = 12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Calibration(Confidential):
    """A policy, and all that was tried on the way to it on a reference that may be confidential."""

    policy: Policy
    reference: Fingerprint
    """By what the reference is recognised; stays inside."""
    chosen: Outcome
    baseline: Outcome | None
    outcomes: tuple[Outcome, ...]
    target: Target | None
    records: int
    draws: int

    @property
    def periods(self) -> int:
        """How many periods the budget pays for."""
        return int(exact(self.policy.budget) // exact(self.policy.epsilon))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write POLICY.toml and, beside it, the reference's fingerprint and the page.

        Return the page's path.
        """
        from understudy.periods.calibration.page import render

        policy = Path(path)
        if policy.suffix != ".toml":
            # Otherwise two policies might have the same file for their fingerprints.
            raise BadInput(f"the policy must be a .toml file, and '{policy}' is not.")
        page = policy.with_suffix(".html")
        with written_atomically(page, private=self.policy.reference_is == "confidential") as file:
            file.write_text(render(self, policy.name), encoding="utf-8")
        # A policy without its own fingerprint beside it is refused, so they change together.
        with uninterrupted():
            self.reference.write(reference_file(policy))
            self.policy.write(policy)
        return page


def calibrate(
    table: pd.DataFrame | str | Path,
    *,
    reference_is: str,
    schema: str | os.PathLike[str],
    model: str | None,
    family: str | None = None,
    priors: Sequence[str] = (),
    beside: str | os.PathLike[str] = ".",
    epsilon: float | None = None,
    target: str | None = None,
    mechanisms: Sequence[str] | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
    population: str,
    budget: float | None = None,
    periods: int = PERIODS,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress = silent,
) -> Calibration:
    """Try settings on a reference table, and choose the one to release every period with.

    `beside` is the directory in which the policy will be written; the policy names its schema
    relative to it.
    """
    _check(reference_is, population, draws=draws, periods=periods)
    if budget is not None:
        checked_budget(budget)
    aim = None if target is None else Target.parse(target)
    public = reference_is == "public"
    relation = Adjacency.parse(adjacency)
    declared = Schema.load(schema)
    with stage(progress, "Model"):
        built = None
        if model is not None:
            built = load_model(model, schema=declared, family=family, priors=priors)
    tried = settings(
        declared,
        built,
        public=public,
        epsilons=EPSILONS if epsilon is None else (check_epsilon(epsilon),),
        mechanisms=mechanisms,
    )
    with stage(progress, "Reading"):
        frame = frame_of(table)
        columns = encode(frame, declared, name=name_of(table, "the reference"))
    learned = weights = None
    if built is not None and public:
        learned = learn(built, frame, confidential=False, seed=seed, progress=progress)
        weights = reference_from_theta(built, learned.theta)
    sweep = Sweep(
        model=built,
        schema=declared,
        table=frame,
        measured=decode(columns, declared),
        weights=weights,
        adjacency=relation,
        rows=rows,
        draws=draws,
        seed=seed,
    )
    baseline, outcomes = sweep.run(tried, lambda done: progress("Settings", done))
    chosen = choose(outcomes, baseline, epsilon=epsilon, target=aim, public=public)
    assert chosen.setting is not None
    # The histogram has no model, and starts from nothing.
    modelled = chosen.setting.mechanism != "ph"
    recognised = Fingerprint.of(columns, declared)
    policy = Policy(
        **asdict(chosen.setting),
        adjacency=relation,
        **(_model_terms(model, built) if modelled else {}),
        family=family if modelled else None,
        priors=tuple(priors) if modelled else (),
        schema=os.path.relpath(schema, beside),
        schema_digest=declared.digest,
        rows=rows,
        budget=_budget(budget, chosen.setting.epsilon, periods),
        population=population,
        reference_is=reference_is,
        reference_digest=recognised.digest,
        anchor=learned.theta if modelled and learned is not None else None,
    )
    return Calibration(
        policy=policy,
        reference=recognised,
        chosen=chosen,
        baseline=baseline,
        outcomes=outcomes,
        target=aim,
        records=len(frame),
        draws=draws,
    )


def _model_terms(model: str | None, built: Model | None) -> dict[str, Any]:
    """Return what the policy says of the model: of a file the name and the digest that it ran with.

    Where the file lies is nobody's business, and whoever releases says so again.
    """
    named = None if model is None else names_file(model)
    if named is None or built is None:
        return {"model": model}
    return {"model": f"{named[0].name}:{named[1]}", "model_digest": built.spec["digest"]}


def _budget(asked: float | None, epsilon: float, periods: int) -> float:
    """Return the budget that was asked for, or what the periods cost, as people add it up."""
    if asked is None:
        return float(exact(epsilon) * periods)
    if asked < epsilon:
        raise BadInput(
            f"a budget of ε = {plain(asked)} does not pay for one period at {plain(epsilon)}."
        )
    return float(asked)


def _check(reference_is: str, population: str, **numbers: int) -> None:
    if not checked_line(population, "the name of the population"):
        raise BadInput(
            "say who is protected, in the words of their ledger: `population` 'people who ...'."
        )
    if reference_is not in ("public", "confidential"):
        raise BadInput(f"the reference must be public or confidential, not '{reference_is}'.")
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 1000:
            raise BadInput(f"{name} must be a number from 1 to 1000, not {number!r}.")
