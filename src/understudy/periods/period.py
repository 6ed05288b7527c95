"""Periods of a repeated release: how they are written, and which may come next in a ledger.

    2026    2026-02    2026-Q1    2026-W07    2026-02-15

Periods of one form are in order as text is. A ledger takes them in one form and in that order, one
release each, all under one policy. The check runs where the charge is made, while nobody else can
write, so that of two releases at once only one is charged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from understudy.errors import BadInput, Refused
from understudy.ledger.chain import Chain, Entry, EntryKind

_MONTH = "(0[1-9]|1[0-2])"
_FORMS = {
    "year": "[0-9]{4}",
    "month": f"[0-9]{{4}}-{_MONTH}",
    "quarter": "[0-9]{4}-Q[1-4]",
    "week": "[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])",
    "day": f"[0-9]{{4}}-{_MONTH}-[0-9]{{2}}",
}


@dataclass(frozen=True)
class Period:
    """A stretch of time that a release is about."""

    text: str

    def __post_init__(self) -> None:
        if self.form is None or (self.form in ("day", "week") and not self._in_calendar()):
            raise BadInput(
                f"the period {self.text!r} is not understood: write a year, month, quarter, week "
                "or day as 2026, 2026-02, 2026-Q1, 2026-W07 or 2026-02-15."
            )

    @property
    def form(self) -> str | None:
        """Which of the forms it has."""
        return next((f for f, shape in _FORMS.items() if re.fullmatch(shape, self.text)), None)

    def _in_calendar(self) -> bool:
        try:
            date.fromisoformat(self.text)
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        return self.text


def check_next(details: Mapping[str, Any], chain: Chain) -> None:
    """Refuse a period that must not come next, by what its charge would say about it."""
    period, settled = Period(details["period"]), chain.settled
    for entry in periodic(chain):
        state = settled.get(entry.number)
        if state is EntryKind.ABANDONED:
            continue
        before, done = Period(entry.details["period"]), "released" if state else "charged"
        where = f"period {before} ({done} as entry {entry.number} of the ledger)"
        for name in ("policy", "schema"):
            if entry.details.get(f"{name}_digest") != details[f"{name}_digest"]:
                raise Refused(
                    f"{where} had another {name}: the {name} has changed since. Go back to it, or "
                    "begin another ledger with what is left of the budget."
                )
        if before == period and state:
            raise Refused(f"{where} cannot be released twice: nothing was charged.")
        if before.form != period.form:
            raise Refused(
                f"{where} is a {before.form}, and {period} is a {period.form}: one ledger has "
                "periods of one form, so that it can tell their order."
            )
        if not state:
            raise Refused(
                f"{where} was not published: its release is under way, or never finished. If "
                f"nothing is running, say so with `Ledger.abandon({entry.number})`; what was "
                f"charged stays charged."
            )
        if before.text > period.text:
            raise Refused(
                f"{where} comes after {period}, which is out of order: a later release was "
                "anchored without it."
            )


def periodic(chain: Chain) -> Iterator[Entry]:
    """Yield the charges that are about a period, in their order."""
    return (entry for entry in chain.charges if "period" in entry.details)


@dataclass(frozen=True)
class Latest:
    """The latest period that was released, which the next one is anchored at."""

    period: Period
    theta: Mapping[str, Any]
    model: Mapping[str, Any] | None
    """What the release says of its model: a whole table's has groups of its own. None where it says
    nothing, and the model is the policy's."""


def latest_release(chain: Chain) -> Latest | None:
    """Return the latest period that was released, if there is one."""
    about = {entry.number: entry for entry in periodic(chain)}
    for entry in reversed(chain.entries):
        details = entry.details
        if entry.refers_to in about and "theta" in details:
            period = Period(about[entry.refers_to].details["period"])
            return Latest(period, details["theta"], details.get("model"))
    return None
