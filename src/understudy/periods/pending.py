"""One period's release: the policy's settings, the ledger's latest θ as anchor, one charge.

policy -> schema and model, refused if they changed
       -> the table, refused if the policy was calibrated on it
       -> the ledger, refused if it is another population's, or this period cannot come next
       -> anchor: the latest earlier period's θ, else the policy's, else the ladder
       -> synthesize, charged under the ledger's lock
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.domain.fingerprints import Fingerprint
from understudy.domain.tables import encode
from understudy.errors import Refused
from understudy.ledger.chain import Neighbours
from understudy.ledger.ledger import Ledger, check_neighbours
from understudy.ledger.statement import stated, statement_of
from understudy.mechanisms import Mechanism, histogram
from understudy.periods.period import Period, Terms, latest_release
from understudy.periods.policy import Policy
from understudy.privacy.rounding import plain
from understudy.support.progress import Progress, silent, stage
from understudy.support.randomness import Source
from understudy.synthesis.charging import Account, ledger_unit
from understudy.synthesis.preparation import Prepared, frame_of, name_of, prepare
from understudy.synthesis.run import synthesize
from understudy.synthesis.simulation import simulate

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.schema import Schema
    from understudy.ledger.chain import Chain
    from understudy.models.base import Model
    from understudy.privacy.accounting import Cost
    from understudy.privacy.guarantee import Kind
    from understudy.synthesis.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class PendingRelease:
    """A period's release, ready to be made."""

    policy: Policy
    terms: Terms
    ledger: Ledger
    schema: Schema
    reference: Fingerprint
    """Of the table that the policy was calibrated on, which must not be released."""
    model: Model | None
    mechanism: Mechanism
    anchor: str
    """Where the anchor comes from, in words."""
    latest: tuple[Period, dict[str, Any]] | None
    """The period before this one, and its θ."""

    @classmethod
    def of(
        cls,
        policy: str | os.PathLike[str],
        period: str,
        ledger: str | os.PathLike[str],
        *,
        model: str | None = None,
        progress: Progress = silent,
    ) -> PendingRelease:
        """Read the policy and the ledger, and refuse what does not go together.

        Where the policy's model is in a Python file, `model` names it as `--model` does.
        """
        path = Path(policy)
        read = Policy.load(path)
        opened = Ledger.open(ledger)
        _check_ledger(read, opened)
        schema = read.load_schema(path)
        reference = read.load_reference(path)
        terms = Terms(
            period=Period(period),
            policy_digest=read.digest,
            schema_digest=schema.digest,
        )
        chain = opened.chain()
        terms.check(chain)
        with stage(progress, "Model"):
            built = read.load_model(schema, model)
            latest = latest_release(chain)
            mechanism, anchor = _mechanism(read, built, latest)
        return cls(
            policy=read,
            terms=terms,
            ledger=opened,
            schema=schema,
            reference=reference,
            model=built,
            mechanism=mechanism,
            anchor=anchor,
            latest=latest,
        )

    def quote(self, table: pd.DataFrame | str | Path, *, progress: Progress = silent) -> Quote:
        """Return what the release would cost, without charging or drawing anything."""
        frame = self._frame(table)
        ready = self._prepared(frame, progress)
        if ready.cost is None:
            raise Refused(
                f"the policy's mechanism, {self.mechanism.name}, promises no ε that could be "
                f"charged: calibrate again."
            )
        cost = ready.cost[self.ledger.settings.adjacency]
        unit, membership = self.schema.unit, ready.job.predictors.membership
        named = ledger_unit(None if unit is None else unit.name)
        check_neighbours(self.ledger.chain(), Neighbours(named, membership))
        return Quote(self, ready.job.kind, cost, self.ledger.spent(), self.ledger.left())

    def release(
        self,
        table: pd.DataFrame | str | Path,
        *,
        destination: str | Path | None = None,
        progress: Progress = silent,
    ) -> Release:
        """Charge the ledger and make the release; it is published when it is written.

        `destination` is where that will be.
        """
        frame = self._frame(table)
        return synthesize(
            self.model or self.schema,
            frame,
            self.mechanism,
            rows=self.policy.rows,
            period=self.terms.period.text,
            earlier=self._earlier(frame),
            calibrated_on=self.policy.reference_is,
            ledger=Account(
                self.ledger,
                {
                    **self.terms.details,
                    "population": self.policy.population,
                    "anchor": self.anchor,
                },
                self._check,
            ),
            label=self.terms.period.text,
            destination=destination,
            progress=progress,
        )

    def _check(self, chain: Chain) -> None:
        """Refuse, while nobody else can write, what must not come next."""
        self.terms.check(chain)
        if latest_release(chain) != self.latest:
            raise Refused(
                "another period was released since this run began, and is the anchor of this one: "
                "run it again; nothing was charged."
            )

    def _frame(self, table: pd.DataFrame | str | Path) -> pd.DataFrame:
        """Read the table, and refuse the very one that the policy was calibrated on."""
        frame = frame_of(table)
        columns = encode(frame, self.schema, name=name_of(table, "the table"))
        if self.reference.fits(columns, self.schema):
            raise Refused(_OWN_REFERENCE[self.policy.reference_is])
        return frame

    def _prepared(self, table: pd.DataFrame | str | Path, progress: Progress = silent) -> Prepared:
        return prepare(
            self.model or self.schema,
            table,
            self.mechanism,
            rows=self.policy.rows,
            progress=progress,
        )

    def _earlier(self, frame: pd.DataFrame) -> tuple[str, pd.DataFrame] | None:
        """Simulate the period before this one again from its θ, for the report to compare with."""
        if self.latest is None:
            return None
        period, theta = self.latest
        published = {
            "parameters": theta,
            "model": histogram.SPEC if self.model is None else self.model.spec,
            "schema": self.schema.to_dict(),
        }
        predictors = self._prepared(frame).job.predictors
        return period.text, simulate(published, predictors, Source(None), model=self.model)


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

    issue: PendingRelease
    kind: Kind
    cost: Cost
    spent: Cost
    left: float

    @property
    def fits(self) -> bool:
        """Whether the ledger would allow it."""
        return self.cost.epsilon <= self.left

    def __str__(self) -> str:
        issue, policy = self.issue, self.issue.policy
        fits = "" if self.fits else " (more than is left: it would be refused)"
        facts = {
            "period": issue.terms.period.text,
            "follows": "none: the first" if issue.latest is None else issue.latest[0].text,
            "mechanism": policy.mechanism,
            "anchor": issue.anchor,
            "guarantee": f"{self.kind}: {self.kind.meaning}",
            "would spend": f"ε = {plain(self.cost.epsilon)} under {policy.adjacency}{fits}",
            "spent so far": f"ε = {plain(self.spent.epsilon)} of {plain(policy.budget)}",
            "left now": f"ε = {plain(self.left)}",
        }
        lines = [f"{name + ':':14}{fact}" for name, fact in facts.items()]
        warning = statement_of(issue.ledger).warning
        lines += [] if warning is None else [warning]
        return "\n".join([*lines, "Nothing was charged and nothing was drawn."])


def _check_ledger(policy: Policy, ledger: Ledger) -> None:
    settings = ledger.settings
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
    if settings.delta is not None or settings.budget != policy.budget:
        raise Refused(
            f"the ledger has a budget of {stated(settings)}, but the policy was agreed on with "
            f"ε = {plain(policy.budget)} and no δ: use a ledger with that budget."
        )


def _mechanism(
    policy: Policy, model: Model | None, found: tuple[Period, dict[str, Any]] | None
) -> tuple[Mechanism, str]:
    earlier: dict[str, Any] | None = None if found is None else found[1]
    built = policy.build(model, earlier)
    if not hasattr(built, "reference"):
        return built, "none, as this mechanism needs none"
    if found is not None:
        return built, f"θ of period {found[0]}"
    if policy.anchor is not None:
        return built, "θ of the policy's public reference"
    return built, "none: a ladder from nothing"
