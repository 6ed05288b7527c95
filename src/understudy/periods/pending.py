"""One period's release: the policy's settings, the ledger's latest θ as anchor, one charge.

policy -> schema and model, refused if they changed
       -> the table, refused if the policy was calibrated on it
       -> the ledger, refused if it is another population's, or this period cannot come next
       -> anchor: the latest earlier period's θ, else the policy's, else none
       -> synthesize, charged under the ledger's lock
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from understudy.adapters.loading import rebuild_model
from understudy.domain.fingerprints import Fingerprint
from understudy.domain.frames import Tabular
from understudy.domain.reading import MEMORY
from understudy.domain.schema import Schema
from understudy.domain.skeleton import Skeleton
from understudy.errors import Refused
from understudy.ledger.chain import Chain, Neighbours
from understudy.ledger.ledger import Ledger, check_neighbours
from understudy.ledger.statement import price, stated, statement_of
from understudy.mechanisms import Mechanism
from understudy.mechanisms.base import EarlierTheta
from understudy.mechanisms.plan import Plan
from understudy.mechanisms.registry import spec_of
from understudy.models.base import Model
from understudy.periods.period import Latest, Period, check_next, latest_release
from understudy.periods.policy import Policy, reference_file
from understudy.privacy.accounting import Cost
from understudy.privacy.guarantee import Kind
from understudy.privacy.rounding import plain
from understudy.support.progress import Progress, silent, stage
from understudy.support.randomness import Source
from understudy.synthesis.charging import Account, ledger_unit, opened
from understudy.synthesis.preparation import prepare
from understudy.synthesis.release import Release
from understudy.synthesis.run import carry_out
from understudy.synthesis.simulation import simulate


@dataclass(frozen=True, kw_only=True, eq=False)
class PendingRelease:
    """A period's release, ready to be made."""

    policy: Policy
    """What it has in common with every other period."""
    details: dict[str, Any]
    """What the ledger's entry says about it: its period, and under what it is released."""
    ledger: Ledger
    """What pays for it."""
    schema: Schema
    """What the table is declared to hold."""
    reference: Fingerprint
    """Of the table that the policy was calibrated on, which must not be released."""
    model: Model | None
    """The model of a record, if the mechanism needs one."""
    mechanism: Mechanism
    """As it goes on from the period before."""
    anchor: str
    """Where the anchor comes from, in words."""
    latest: Latest | None
    """The period before this one, and its θ."""
    memory: int | str = MEMORY
    """What a table may take."""

    @classmethod
    def of(
        cls,
        policy: str | os.PathLike[str],
        period: str,
        ledger: Ledger | str | os.PathLike[str],
        *,
        model: Model | str | None = None,
        memory: int | str = MEMORY,
        progress: Progress = silent,
    ) -> PendingRelease:
        """Read the policy and the ledger, and refuse what does not go together.

        Args:
            policy: The policy's file.
            period: What time the release is about, such as 2026-02.
            ledger: The ledger to charge.
            model: The policy's model again, where it is in a Python file (path/to/file.py:function)
                or was built in Python.
            memory: What a table may take, such as `1GiB`.
            progress: Told the name of each step and how much of it is done.
        """
        path = Path(policy)
        read = Policy.load(path)
        book = opened(ledger)
        _check_ledger(read, book)
        schema = read.load_schema(path)
        reference = Fingerprint.load(reference_file(path), read.reference_digest)
        details = {
            "period": Period(period).text,
            "policy_digest": read.digest,
            "schema_digest": schema.digest,
        }
        chain = book.chain()
        check_next(details, chain)
        with stage(progress, "Model"):
            built = read.load_model(schema, model)
            latest = latest_release(chain)
            mechanism, anchor = _mechanism(read, built, latest)
        return cls(
            policy=read,
            details=details | {"population": read.population, "anchor": anchor},
            ledger=book,
            schema=schema,
            reference=reference,
            model=built,
            mechanism=mechanism,
            anchor=anchor,
            latest=latest,
            memory=memory,
        )

    def quote(self, table: Tabular, *, progress: Progress = silent) -> Quote:
        """Return what the release would cost, without charging or drawing anything.

        Args:
            table: The period's confidential table, or the file that it is in.
            progress: Told the name of each step and how much of it is done.
        """
        plan = self._plan(table, progress)
        if plan.cost is None:
            raise Refused(
                f"the policy's mechanism, {self.mechanism.name}, promises no ε that could be "
                f"charged: calibrate again."
            )
        request = plan.request
        neighbours = Neighbours(ledger_unit(request.unit), request.skeleton.membership)
        check_neighbours(self.ledger.chain(), neighbours)
        cost = plan.cost[self.ledger.settings.adjacency]
        ledger = self.ledger
        return Quote(
            self, request.kind, cost, ledger.spent(), ledger.left(), fits=ledger.fits(cost)
        )

    def release(
        self,
        table: Tabular,
        *,
        destination: str | Path | None = None,
        progress: Progress = silent,
    ) -> Release:
        """Charge the ledger and make the release; it is published when it is written.

        Args:
            table: The period's confidential table, or the file that it is in.
            destination: Where the release will be written.
            progress: Told the name of each step and how much of it is done.
        """
        plan = self._plan(table, progress)
        return carry_out(
            plan,
            ledger=Account(self.ledger, self.details, self._check),
            label=self.details["period"],
            earlier=self._earlier(plan.request.skeleton),
            destination=destination,
        )

    def _check(self, chain: Chain) -> None:
        """Refuse, while nobody else can write, what must not come next."""
        check_next(self.details, chain)
        if latest_release(chain) != self.latest:
            raise Refused(
                "another period was released since this run began, and is the anchor of this one: "
                "run it again; nothing was charged."
            )

    def _plan(self, table: Tabular, progress: Progress) -> Plan:
        """Read the table, and refuse the very one that the policy was calibrated on."""
        request = prepare(
            self.model or self.schema,
            table,
            self.mechanism,
            rows=self.policy.rows,
            balanced=self.policy.balanced,
            calibrated_on=self.policy.reference_is,
            period=self.details["period"],
            memory=self.memory,
            progress=progress,
        )
        if self.reference.fits(request.records, self.schema):
            raise Refused(_OWN_REFERENCE[self.policy.reference_is])
        return self.mechanism.plan(request)

    def _earlier(self, skeleton: Skeleton) -> tuple[str, pd.DataFrame] | None:
        """Simulate the period before this one again from its θ, for the report to compare with."""
        if self.latest is None:
            return None
        latest, model, balanced = self.latest, self.model, self.policy.balanced
        if model is not None:
            model = _model_of(latest, model)
        published = {
            "parameters": latest.theta,
            "model": latest.model or spec_of(self.mechanism, self.model),
            "schema": self.schema.to_dict(),
        }
        return latest.period.text, simulate(
            published, skeleton, Source(None), model=model, balanced=balanced
        )


def release(
    policy: str | os.PathLike[str],
    table: Tabular,
    *,
    period: str,
    ledger: Ledger | str | os.PathLike[str],
    model: Model | str | None = None,
    destination: str | Path | None = None,
    memory: int | str = MEMORY,
    progress: Progress = silent,
) -> Release:
    """Release one period under a policy, charged to a ledger.

    Args:
        policy: The policy's file.
        table: The period's confidential table, or the file that it is in.
        period: What time it is about, such as 2026-02.
        ledger: Charged before anything is drawn, and told when the release is written.
        model: The policy's model again, where it is in a Python file (path/to/file.py:function) or
            was built in Python: nothing that a policy names is executed.
        destination: Where the release will be written.
        memory: What the table may take, such as `1GiB`.
        progress: Told the name of each step and how much of it is done.

    Returns:
        The release, anchored at the period before; it is published when it is written.
    """
    pending = PendingRelease.of(
        policy, period, ledger, model=model, memory=memory, progress=progress
    )
    return pending.release(table, destination=destination, progress=progress)


_OWN_REFERENCE = {
    "public": (
        "this is the table that the policy was calibrated on as a public reference, so its "
        "settings and its anchor were learned from it: calibrate on another one."
    ),
    "confidential": (
        "the policy's settings were chosen by looking at this very table, which no ε covers: "
        "calibrate on another one, in which nobody is who is to be protected."
    ),
}


@dataclass(frozen=True)
class Quote:
    """What a period's release would cost."""

    pending: PendingRelease
    kind: Kind
    cost: Cost
    spent: Cost
    left: float
    fits: bool
    """Whether the ledger would allow it."""

    def __str__(self) -> str:
        pending, policy = self.pending, self.pending.policy
        settings = pending.ledger.settings
        fits = "" if self.fits else " (more than is left: it would be refused)"
        facts = {
            "period": pending.details["period"],
            "follows": "none: the first" if pending.latest is None else pending.latest.period.text,
            "mechanism": policy.mechanism,
            "anchor": pending.anchor,
            "guarantee": f"{self.kind}: {self.kind.meaning}",
            "would spend": f"ε = {price(self.cost, settings)} under {policy.adjacency}{fits}",
            "spent so far": f"ε = {price(self.spent, settings)} of {plain(policy.budget)}",
            "left now": f"ε = {plain(self.left)}",
        }
        lines = [f"{name + ':':14}{fact}" for name, fact in facts.items()]
        warning = statement_of(self.pending.ledger).warning
        lines += [] if warning is None else [warning]
        return "\n".join([*lines, "Nothing was charged and nothing was drawn."])


def _check_ledger(policy: Policy, ledger: Ledger) -> None:
    settings = ledger.settings
    if not settings.population and policy.population:
        raise Refused(
            f"the ledger names no population, but the policy is about '{policy.population}': "
            f"charge one that `Ledger.create` made for that population."
        )
    if settings.population != policy.population:
        raise Refused(
            f"the ledger protects '{settings.population}', but the policy is about "
            f"'{policy.population}': charge the ledger of the people who are in the table."
        )
    if settings.adjacency is not policy.adjacency:
        raise Refused(
            f"the ledger counts under {settings.adjacency}, but the policy's ε is under "
            f"{policy.adjacency}: use a ledger with the policy's adjacency."
        )
    if settings.delta != policy.delta or settings.budget != policy.budget:
        agreed = "no δ" if policy.delta is None else f"δ = {plain(policy.delta)}"
        raise Refused(
            f"the ledger has a budget of {stated(settings)}, but the policy was agreed on with "
            f"ε = {plain(policy.budget)} and {agreed}: use a ledger with that budget."
        )


def _model_of(latest: Latest, model: Model) -> Model:
    """Return the model of an earlier period: the policy's, for a whole table in its own groups."""
    if latest.model is None or latest.model == model.spec or model.in_turn is None:
        return model
    return rebuild_model(dict(latest.model), schema=model.schema)


def _mechanism(policy: Policy, model: Model | None, latest: Latest | None) -> tuple[Mechanism, str]:
    """Return the policy's mechanism as it goes on from the latest period, and from where."""
    if latest is None:
        built = policy.build(model, None)
    else:
        built = policy.build(None if model is None else _model_of(latest, model), latest.theta)
    if built.earlier is EarlierTheta.UNUSED:
        return built, "none, as this mechanism needs none"
    if latest is not None:
        return built, f"θ of period {latest.period}"
    if policy.anchor is not None:
        return built, "θ of the policy's public reference"
    return built, "none: it starts from nothing"
