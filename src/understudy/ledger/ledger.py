"""The privacy ledger: what has been spent on one protected population, and what is left.

    ledger = Ledger.create("ledger.db", budget=2.0, adjacency="add-remove")
    entry = ledger.charge(
        Cost.of_draw(0.5), label="2025-01", kind=Kind.STRICT, unit="row", membership=True
    )
    release.write("out/")
    ledger.publish(entry)

A charge is on the disk before `charge` returns, and so before the first draw and before anything
is visible. A run that is killed leaves a charge without a publication; it stays charged, since
nobody knows what was seen of it, and a person may say that it was abandoned. Rows are added, never
changed or removed, and each is chained to the one before (`chain.py`). Every operation verifies the
chain from its beginning, and refuses a ledger that does not fit. Writers take turns, so that two
processes cannot overspend together.

Only like is added to like: a ledger is about one unit, a row or all rows of a person, and about
tables whose membership is protected or about tables where it is not. Both are settled when it is
created, or else by its first charge. Conditional guarantees are added as if their condition held,
and the ledger says which they are.

A ledger holds labels, costs and details that the caller chose; nothing from a confidential table
belongs there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from understudy.domain.column import checked_line
from understudy.errors import BadInput, Refused
from understudy.ledger.chain import (
    Chain,
    Contents,
    Entry,
    EntryKind,
    LedgerSettings,
    Neighbours,
    canonical_details,
    checked_settings,
    verified,
)
from understudy.ledger.statement import (
    left_after,
    left_part,
    price,
    spent_part,
    stated,
    statement_of,
    unfinished,
)
from understudy.privacy.accounting import Cost, composed, exact, total
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.support.html import paragraph

if TYPE_CHECKING:
    from understudy.ledger.store import LedgerStore


@dataclass(frozen=True)
class Ledger:
    """A record of spending that can only grow. Get one by `create` or `open`."""

    settings: LedgerSettings
    """What it was created with, which never changes."""
    _store: LedgerStore
    """Where its entries are."""

    @classmethod
    def create(
        cls,
        location: str | os.PathLike[str],
        *,
        budget: float,
        adjacency: Adjacency | str,
        population: str = "",
        delta: float | None = None,
        unit: str | None = None,
        membership: bool | None = None,
    ) -> Ledger:
        """Create a ledger in a new file, or in a PostgreSQL database that holds none.

        Args:
            location: Path of the new file, or a `postgresql+psycopg://` URL.
            budget: What may be spent: a pure ε or, with a δ, the ε of (ε, δ).
            adjacency: "add-remove" or "replace-one", under which every ε is counted.
            population: Who is protected, in words.
            delta: The δ of an (ε, δ) budget; None for a pure one.
            unit: "row", or the column whose values are protected with all their rows; None if the
                first charge is to settle it.
            membership: Whether taking part is protected; None if the first charge settles it.

        Raises:
            BadInput: If there is a ledger already, or a setting makes no sense.
        """
        from understudy.ledger.store import create_at

        settings = LedgerSettings(
            budget=budget,
            adjacency=Adjacency.parse(adjacency),
            population=population,
            delta=delta,
            neighbours=Neighbours(unit, membership),
            created=_now(),
        )
        create_at(location, settings.to_row())
        return cls.open(location)

    @classmethod
    def open(cls, location: str | os.PathLike[str]) -> Ledger:
        """Open an existing ledger.

        Args:
            location: Path of its file, or its `postgresql+psycopg://` URL.

        Raises:
            BadInput: If there is no ledger of a known format.
            Refused: If its settings were edited.
        """
        from understudy.ledger.store import store_at

        store = store_at(location)
        return cls(checked_settings(store.read().settings, name=store.name), store)

    def verify(self) -> None:
        """Check that nothing was edited.

        Raises:
            Refused: If something was; the sentence names the first row that does not fit.
        """
        self.chain()

    def entries(self) -> tuple[Entry, ...]:
        """Return all rows: charges, and publications that refer to them."""
        return self.chain().entries

    def spent(self) -> Cost:
        """Return what all charges cost together."""
        return total(entry.cost for entry in self.chain().charges)

    def left(self) -> float:
        """Return how much of the budget is left.

        A release whose pure ε is at most this fits a pure budget. With a δ, what a release takes
        of it depends on how it composes with those before: `charge` decides.
        """
        return left_after((entry.cost for entry in self.chain().charges), self.settings)

    def fits(self, cost: Cost) -> bool:
        """Return whether the budget would allow a charge now.

        Args:
            cost: What a release would cost.
        """
        check_countable(cost, self.settings)
        return _fits(self.chain(), cost)

    def show(self) -> str:
        """Return every period and what is left, as a table for the terminal."""
        return "\n".join([str(statement_of(self)), *unfinished(self.chain())])

    def charge(
        self,
        cost: Cost,
        *,
        label: str,
        kind: Kind,
        unit: str,
        membership: bool,
        details: Mapping[str, Any] | None = None,
        check: Callable[[Chain], None] = lambda chain: None,
    ) -> Entry:
        """Spend a cost under the ledger's adjacency, or refuse if the budget does not allow it.

        The charge is on the disk when it is returned; only then may anything be drawn.

        Args:
            cost: What the release costs.
            label: One line that names it.
            kind: How firmly its guarantee holds: strict or conditional.
            unit: Whose neighbours its ε is about: "row" or a column.
            membership: Whether taking part is protected.
            details: Plain JSON to keep with the charge; nothing from a confidential table.
            check: May refuse as well; it sees the ledger while nobody else can write.

        Returns:
            The entry, whose `reference` a release publishes.
        """
        if cost.free:
            raise BadInput("a release that costs nothing cannot be charged to a ledger.")
        if not checked_line(label, "the label of a ledger entry"):
            raise BadInput("the label of a ledger entry must not be empty.")
        if not kind.states_epsilon:
            raise BadInput(f"a guarantee that is {kind} has no ε to charge.")
        if unit is None or membership is None:
            raise BadInput("the `unit` and the `membership` of a charge must be said.")
        check_countable(cost, self.settings)
        neighbours = Neighbours(unit, membership)
        text = canonical_details(
            details, kind=str(kind), unit=unit, membership_protected=membership
        )
        if self.settings.delta is not None:
            import dp_accounting  # noqa: F401 - others should not have to wait for an import
        with self._store.writing() as connection:
            chain = self._verified(self._store.contents(connection))
            check(chain)
            check_neighbours(chain, neighbours)
            _check_budget(chain, cost)
            row = chain.following(
                kind=EntryKind.CHARGE, time=_now(), label=label, cost=cost, details=text
            )
            # A row that could not be read back would spoil the ledger for ever.
            entry = Entry.from_row(row)
            self._store.append(connection, row)
        return entry

    def publish(
        self,
        entry: Entry,
        *,
        details: Mapping[str, Any] | None = None,
        appear: Callable[[], None] = lambda: None,
    ) -> Entry:
        """Record that the release which a charge paid for has become visible, and what it is.

        Args:
            entry: The charge, as `charge` returned it.
            details: Plain JSON to keep with it; nothing from a confidential table.
            appear: Makes the release visible, while nobody else can write: of a release that was
                abandoned meanwhile, nothing appears.

        Returns:
            The entry that says so.
        """
        return self._settle(EntryKind.PUBLISHED, entry.number, entry.hash, details, appear)

    def abandon(self, number: int) -> Entry:
        """Record that the release which a charge paid for will never be visible.

        It stays charged, since nobody knows what was seen of it.

        Args:
            number: Number of the charge, as `show` lists it.

        Returns:
            The entry that says so.
        """
        return self._settle(EntryKind.ABANDONED, number, None, None, lambda: None)

    def _settle(
        self,
        kind: EntryKind,
        number: int,
        known_as: str | None,
        details: Mapping[str, Any] | None,
        appear: Callable[[], None],
    ) -> Entry:
        """Add the one row that says what became of a charge."""
        text = canonical_details(details)
        with self._store.writing() as connection:
            chain = self._verified(self._store.contents(connection))
            where = f"entry {number} of {self._store.name}"
            charge = next((each for each in chain.charges if each.number == number), None)
            if charge is None or known_as not in (None, charge.hash):
                raise BadInput(f"{where} is not a charge.")
            settled = chain.settled.get(number)
            if settled in (kind, EntryKind.PUBLISHED):
                raise BadInput(f"{where} is {settled} already.")
            if settled is not None:
                raise BadInput(f"{where} was abandoned, so what it paid for cannot be published.")
            row = chain.following(
                kind=kind, time=_now(), label=charge.label, details=text, refers_to=number
            )
            appear()
            self._store.append(connection, row)
        return Entry.from_row(row)

    def _repr_html_(self) -> str:
        left_over = map(paragraph, unfinished(self.chain()))
        return "".join([statement_of(self)._repr_html_(), *left_over])

    def chain(self) -> Chain:
        """Return all rows together with the settings, verified."""
        return self._verified(self._store.read())

    def _verified(self, contents: Contents) -> Chain:
        chain = verified(contents, name=self._store.name)
        if chain.settings != self.settings:
            raise Refused(f"{self._store.name} was replaced by another one since it was opened.")
        return chain


def check_neighbours(chain: Chain, neighbours: Neighbours) -> None:
    """Refuse an ε that is about other neighbours than those of the ledger."""
    if chain.neighbours.allows(neighbours):
        return
    raise Refused(
        f"the ledger counts ε for {chain.neighbours}, but this release protects {neighbours}: such "
        f"numbers cannot be added, so charge it to a ledger of its own; nothing was charged."
    )


def check_countable(cost: Cost, settings: LedgerSettings) -> None:
    """Refuse to count what has no pure ε against a budget of pure ε."""
    if cost.epsilon is None and settings.delta is None:
        raise Refused(
            "the ledger has a budget of pure ε, and a release with a `delta` has none: charge it "
            "to a ledger that was created with a δ, or leave out `delta`; nothing was charged."
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _fits(chain: Chain, cost: Cost) -> bool:
    costs = [*(entry.cost for entry in chain.charges), cost]
    return composed(costs, delta=chain.settings.delta) <= exact(chain.settings.budget)


def _check_budget(chain: Chain, cost: Cost) -> None:
    if _fits(chain, cost):
        return
    settings, charged = chain.settings, [entry.cost for entry in chain.charges]
    spent, left = composed(charged, delta=settings.delta), left_after(charged, settings)
    raise Refused(
        f"this release costs ε = {price(cost, settings)}, which is more than the ledger allows: of "
        f"its budget of {stated(settings)} it has spent {spent_part(spent, settings)} and has "
        f"{left_part(left, settings)} left; nothing was charged."
    )
