"""A release and its ledger: charged before the first draw, published when it is visible.

A run that ends in between leaves a charge without a publication. It stays charged, because nobody
knows what was seen of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import BadInput, Refused
from understudy.ledger.chain import ROW, Chain, Entry
from understudy.ledger.ledger import Ledger
from understudy.mechanisms.plan import Plan
from understudy.support.stopping import COMPLETE, NOTHING, leave, uninterrupted


@dataclass(frozen=True)
class Account:
    """A ledger, with what it has to check and to remember about a period's release."""

    ledger: Ledger
    details: Mapping[str, Any]
    check: Callable[[Chain], None]


@dataclass(frozen=True)
class Charge:
    """An entry of a ledger that paid for a release."""

    ledger: Ledger
    entry: Entry

    def check(self) -> None:
        """Refuse to write a release a second time: one charge pays for one."""
        if self.entry.number in self.ledger.chain().published:
            raise BadInput("this release has been written already, and its charge paid for one.")

    def publish(self, published: Mapping[str, Any], appear: Callable[[], None]) -> None:
        """Make the release visible and record it, with the θ from which it was simulated."""
        details = {"theta": published["parameters"], "model": published["model"]}
        visible = False

        def appeared() -> None:
            nonlocal visible
            appear()
            visible = True

        with uninterrupted():
            try:
                self.ledger.publish(self.entry, details=details, appear=appeared)
            except (BadInput, Refused) as error:
                if not visible:
                    raise
                raise Refused(
                    f"the release is written and charged, but the ledger could not record that it "
                    f"is published: {error}"
                ) from None
            finally:
                if visible:
                    leave(COMPLETE)


def opened(ledger: object) -> Ledger:
    """Return a ledger, wherever it is."""
    if isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, str | os.PathLike):
        kind = type(ledger).__name__
        raise BadInput(f"`ledger` must be a ledger or the file that it is in, not a {kind}.")
    return Ledger.open(ledger)


def charged(
    ledger: Ledger | Account | str | Path | None,
    plan: Plan,
    *,
    label: str,
    details: Mapping[str, Any],
) -> Charge | None:
    """Charge a ledger, if there is one, for what is about to be drawn; or refuse."""
    if ledger is None:
        return None
    request, cost = plan.request, plan.cost
    if isinstance(ledger, Account):
        account = ledger
    else:
        account = Account(opened(ledger), {}, lambda chain: None)
    if cost is None:
        raise Refused(
            f"only a strict or conditional guarantee can be charged to a ledger, and this one is "
            f"{request.kind}."
        )
    if request.source.seeded:
        raise Refused("a run with a fixed seed is not for release, so the ledger is not charged.")
    if request.accept_poor_mixing:
        raise Refused(
            "a guarantee whose chains need not have converged (`accept_poor_mixing`) cannot be "
            "charged to a ledger."
        )
    entry = account.ledger.charge(
        cost[account.ledger.settings.adjacency],
        label=label,
        kind=request.kind,
        unit=ledger_unit(request.unit),
        membership=request.skeleton.membership,
        details={"schema_digest": request.schema.digest, **details, **account.details},
        check=account.check,
    )
    leave(f"{NOTHING}, but entry {entry.number} of the ledger stays charged")
    return Charge(account.ledger, entry)


def ledger_unit(column: str | None) -> str:
    """Return what a ledger calls the unit, and refuse a column that it would take for none."""
    if column == ROW:
        raise BadInput(
            f"the unit column is called '{ROW}', which to a ledger means that each row is "
            f"protected by itself: rename the column."
        )
    return ROW if column is None else column
