"""A release and its ledger: charged before the first draw, published when it is visible.

A run that ends in between leaves a charge without a publication. It stays charged, because nobody
knows what was seen of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import Refused

if TYPE_CHECKING:
    from understudy.ledger import Ledger
    from understudy.ledger_chain import Entry
    from understudy.pricing import Price
    from understudy.randomness import Source
    from understudy.schema import Schema


@dataclass(frozen=True)
class Charge:
    """An entry of a ledger that paid for a release."""

    ledger: Ledger
    entry: Entry

    @property
    def reference(self) -> str:
        """What the guarantee says about it; it names no file."""
        return self.entry.reference

    def publish(self) -> None:
        """Record that the release has become visible."""
        self.ledger.publish(self.entry)


def charged(
    ledger: str | Path | None,
    cost: Price | None,
    source: Source,
    *,
    label: str,
    schema: Schema,
    membership: bool,
) -> Charge | None:
    """Charge a ledger, if there is one, for what is about to be drawn; or refuse."""
    if ledger is None:
        return None
    from understudy.ledger import Ledger

    opened = Ledger.open(ledger)
    if cost is None:
        raise Refused("only a strict guarantee can be charged to a ledger, and this one is not.")
    if source.seeded:
        raise Refused("a run with a fixed seed is not for release, so the ledger is not charged.")
    details = {"schema_digest": schema.digest, "membership_protected": membership}
    entry = opened.charge(cost[opened.settings.adjacency], label=label, details=details)
    return Charge(opened, entry)
