"""A release and its ledger: charged before the first draw, published when it is visible.

A run that ends in between leaves a charge without a publication. It stays charged, because nobody
knows what was seen of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import BadInput, Refused

if TYPE_CHECKING:
    from understudy.ledger import Ledger
    from understudy.ledger_chain import Chain, Entry
    from understudy.pricing import Price


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

    @property
    def reference(self) -> str:
        """What the guarantee says about it; it names no file."""
        return self.entry.reference

    def check(self) -> None:
        """Refuse to write a release a second time: one charge pays for one."""
        published = {entry.refers_to for entry in self.ledger.entries()}
        if self.entry.number in published:
            raise BadInput("this release has been written already, and its charge paid for one.")

    def publish(self, theta: Mapping[str, Any]) -> None:
        """Record that the release has become visible, and the θ from which it was simulated."""
        try:
            self.ledger.publish(self.entry, details={"theta": theta})
        except (BadInput, Refused) as error:
            raise Refused(
                f"the release is written and charged, but the ledger could not record that it is "
                f"published: {error}"
            ) from None


def charged(
    ledger: str | Path | Account | None,
    cost: Price | None,
    *,
    label: str,
    details: dict[str, Any],
    seeded: bool,
    waived: bool,
) -> Charge | None:
    """Charge a ledger, if there is one, for what is about to be drawn; or refuse."""
    if ledger is None:
        return None
    from understudy.ledger import Ledger

    account = ledger
    if not isinstance(account, Account):
        account = Account(Ledger.open(account), {}, lambda chain: None)
    if cost is None:
        raise Refused("only a strict guarantee can be charged to a ledger, and this one is not.")
    if seeded:
        raise Refused("a run with a fixed seed is not for release, so the ledger is not charged.")
    if waived:
        raise Refused(
            "a guarantee whose chains need not have converged (--accept-poor-mixing) cannot be "
            "charged to a ledger."
        )
    opened = account.ledger
    entry = opened.charge(
        cost[opened.settings.adjacency],
        label=label,
        details={**details, **account.details},
        check=account.check,
    )
    return Charge(opened, entry)
