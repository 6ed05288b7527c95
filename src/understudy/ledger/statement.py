"""The statement of a ledger: what each release cost, what is left, and how long it lasts.

The numbers are worked out here once, for `understudy ledger show` and for the report. An item is an
entry that was charged: whether its release became visible or not, it is paid for. What is left is
never rounded up, because it can be spent; and how many more releases fit is counted as the ledger
itself would count them, at the price of the last one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.domain.column import writable
from understudy.ledger.chain import Chain, Entry, LedgerSettings, Neighbours
from understudy.privacy.accounting import Cost, composed, epsilon_at, exact, pure, total
from understudy.privacy.guarantee import Kind
from understudy.privacy.rounding import at_least, at_most, plain
from understudy.support.aligned import aligned
from understudy.support.files import leftovers
from understudy.support.html import html_table, paragraph

if TYPE_CHECKING:
    from understudy.ledger.ledger import Ledger

FEW_RELEASES = 3
"""When fewer than these are left, it is time to talk about the budget."""
FURTHEST = 1000
"""Beyond so many releases nobody plans."""
USUAL_DELTA = 1e-6
"""The δ at which zero-concentrated totals are told where the ledger itself has none."""

_DIGITS = 15
"""All that matter of a number that was added up exactly."""
_HEADER = ("number", "time", "period", "kind", "ε", "spent", "left", "state")

_CURRENT, _UNSEEN = "this release", "under way, or never finished"


@dataclass(frozen=True, kw_only=True)
class Item:
    """One charge, and how the ledger stood after it."""

    entry: Entry
    spent: Fraction | None
    """Pure ε of all charges up to this one, exactly; None as soon as one of them has none."""
    used: Fraction
    """What they use up of the budget: pure, or at the ledger's δ where that is less."""
    left: float
    state: str

    @property
    def name(self) -> str:
        """The period that the entry names, or else its label."""
        # Unlike a label, a detail may hold any text, and this one goes to terminals.
        period, label = self.entry.details.get("period"), self.entry.label
        return period if isinstance(period, str) and period and writable(period) else label


@dataclass(frozen=True, kw_only=True)
class Statement:
    """All charges of a ledger in order, and their totals."""

    settings: LedgerSettings
    neighbours: Neighbours
    """What all ε's are about."""
    items: tuple[Item, ...]

    @property
    def _costs(self) -> list[Cost]:
        return [item.entry.cost for item in self.items]

    @cached_property
    def cost(self) -> Cost:
        """What all of them cost together."""
        return total(self._costs)

    @cached_property
    def spent(self) -> Fraction | None:
        """The same in pure ε, exactly; None as soon as one of them has none."""
        return pure(self._costs)

    @cached_property
    def used(self) -> Fraction:
        """What they use up of the budget: pure, or at the ledger's δ where that is less."""
        return composed(self._costs, delta=self.settings.delta)

    @property
    def left(self) -> float:
        """What is left of the budget."""
        return self.items[-1].left if self.items else self.settings.budget

    @property
    def delta(self) -> float:
        """The δ at which the zero-concentrated total is told."""
        return USUAL_DELTA if self.settings.delta is None else self.settings.delta

    @cached_property
    def converted(self) -> float:
        """The ε at `delta` that the zero-concentrated total stands for; at most the pure one."""
        return epsilon_at(self.cost, delta=self.delta)

    @cached_property
    def more(self) -> int | None:
        """How many more releases fit at the price of the last one; None where there is none yet."""
        costs, settings = self._costs, self.settings

        def refused(further: int) -> bool:
            together = composed([*costs, *[costs[-1]] * further], delta=settings.delta)
            return together > exact(settings.budget)

        return bisect_left(range(1, FURTHEST + 1), True, key=refused) if costs else None

    @property
    def condition(self) -> str | None:
        """On what the totals rest beyond theorems, where any entry rests on more."""
        entries = [item.entry for item in self.items]
        names = [str(each.number) for each in entries if each.guarantee is Kind.CONDITIONAL]
        if not names:
            return None
        which = f"entry {names[0]}" if len(names) == 1 else f"entries {', '.join(names)}"
        return f"the Markov chains of {which} have converged"

    @property
    def outlook(self) -> str | None:
        """How long the budget lasts, in words."""
        if self.more is None:
            return None
        last = f"at the last price, ε = {price(self._costs[-1], self.settings)}"
        if self.more == 0:
            return f"no further release fits {last}"
        if self.more >= FURTHEST:
            return f"{FURTHEST:,} or more releases fit {last}"
        return f"{self.more:,} more {'release fits' if self.more == 1 else 'releases fit'} {last}"

    @property
    def warning(self) -> str | None:
        """A warning where the budget ends soon, while there is still time to plan for it."""
        if self.more is None or self.more >= FEW_RELEASES:
            return None
        return (
            f"The budget ends: {self.outlook}, and the ledger refuses what does not fit. Decide "
            "now what may still be released about these people."
        )

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The totals, each with its name, as they are shown."""
        settings = self.settings
        spent = "" if self.spent is None else f"ε = {at_most(self.spent, _DIGITS)}"
        if self.used != self.spent:
            used = spent_part(self.used, settings)
            spent += f", or {used}" if spent else f"ε = {used}"
            spent += f" at δ = {plain(self.delta)}"
        return (
            ("population", settings.population or "(not named)"),
            ("adjacency", str(settings.adjacency)),
            ("protects", str(self.neighbours)),
            ("budget", stated(settings)),
            ("spent", spent),
            *([] if self.condition is None else [("provided", self.condition)]),
            ("zCDP", self._concentrated()),
            ("left", f"ε = {left_part(self.left, settings)}"),
            *([] if self.outlook is None else [("outlook", self.outlook)]),
        )

    def _concentrated(self) -> str:
        rho, delta = f"ρ = {at_most(self.cost.rho)}", plain(self.delta)
        if self.spent is not None and exact(self.converted) >= self.spent:
            return rho
        unused = "" if self.settings.delta is not None else ", which a pure budget does not count"
        return f"{rho}, or ε = {at_most(self.converted)} at δ = {delta}{unused}"

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield what is shown of each item, as `_HEADER` names it."""
        for item in self.items:
            yield (
                str(item.entry.number),
                item.entry.time,
                item.name,
                item.entry.guarantee,
                price(item.entry.cost, self.settings),
                _running(item, self.settings),
                left_part(item.left, self.settings),
                item.state,
            )

    def __str__(self) -> str:
        """The statement as a table for the terminal."""
        rows = [_HEADER, *self.rows()]
        lines = [*aligned(rows, left=len(_HEADER))]
        lines += ["", *(f"{name + ':':12}{fact}" for name, fact in self.facts)]
        if self.warning is not None:
            lines += ["", f"WARNING: {self.warning}"]
        return "\n".join(lines) + "\n"

    def _repr_html_(self) -> str:
        warning = "" if self.warning is None else paragraph(f"WARNING: {self.warning}")
        return html_table(self.rows(), header=_HEADER) + html_table(self.facts) + warning


def statement_of(ledger: Ledger, *, until: Entry | None = None) -> Statement:
    """Return a ledger's statement; `until` is the charge of the release at hand, if there is one.

    With it the statement ends there, so that a report says the same whenever it is rendered.
    """
    chain = ledger.chain()
    charges = [entry for entry in chain.charges if until is None or entry.number <= until.number]
    states: dict[int, str] = {number: str(kind) for number, kind in chain.settled.items()}
    if until is not None:
        states[until.number] = _CURRENT
    costs = [entry.cost for entry in charges]
    items = (
        Item(
            entry=entry,
            spent=pure(costs[:count]),
            used=composed(costs[:count], delta=ledger.settings.delta),
            left=left_after(costs[:count], ledger.settings),
            state=states.get(entry.number, _UNSEEN),
        )
        for count, entry in enumerate(charges, start=1)
    )
    return Statement(settings=ledger.settings, neighbours=chain.neighbours, items=tuple(items))


def unfinished(chain: Chain) -> tuple[str, ...]:
    """Return a line for each charge whose run was killed and whose files are still there.

    Only the latest charge for a destination can have left them: each run sweeps it first.
    """
    latest = {
        place: entry
        for entry in chain.charges
        if isinstance(place := entry.details.get("destination"), str) and writable(place)
    }
    return tuple(
        f"entry {entry.number}: left unfinished files in '{left}'; the next run to the same place "
        f"removes them, or remove the directory yourself.\n"
        for place, entry in latest.items()
        if entry.number not in chain.published
        for left in leftovers(Path(place))
    )


def left_after(costs: Iterable[Cost], settings: LedgerSettings) -> float:
    """Return what several charges leave of the budget; never more than can be spent."""
    rest = exact(settings.budget) - composed(costs, delta=settings.delta)
    nearest = float(rest)
    return max(0.0, nearest if exact(nearest) <= rest else math.nextafter(nearest, 0))


def stated(settings: LedgerSettings) -> str:
    """Return the budget as it was set."""
    at = "" if settings.delta is None else f" at δ = {plain(settings.delta)}"
    return f"ε = {plain(settings.budget)}{at}"


def price(cost: Cost, settings: LedgerSettings) -> str:
    """Return what a release costs by itself: its pure ε, or else its ε at the ledger's δ."""
    if cost.epsilon is not None:
        return at_most(cost.epsilon, _DIGITS)
    assert settings.delta is not None
    return f"{at_most(epsilon_at(cost, delta=settings.delta))} at δ = {plain(settings.delta)}"


def _running(item: Item, settings: LedgerSettings) -> str:
    if item.spent is not None:
        return at_most(item.spent, _DIGITS)
    assert settings.delta is not None
    return f"{spent_part(item.used, settings)} at δ = {plain(settings.delta)}"


def spent_part(number: float | Fraction, settings: LedgerSettings) -> str:
    """Return what is spent of a budget: exactly, except where it was converted to δ."""
    return at_most(number, _DIGITS if settings.delta is None else 6)


def left_part(number: float | Fraction, settings: LedgerSettings) -> str:
    """Return what is left of a budget, which is never overstated."""
    return at_least(number, _DIGITS if settings.delta is None else 6)
