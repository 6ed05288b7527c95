"""The public skeleton of a synthetic table: how many rows it has, and their public columns.

The number of records of the confidential table is protected under add-remove. It is used here only
where it is public anyway: under replace-one, or when public columns are copied from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.domain.records import Records
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns, count_records
from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency

LARGEST_ROWS = 1_000_000_000
_LARGEST_MULTIPLIED = 100_000_000
"""Rows up to which a table has more than its size, where nobody asked for a number."""


@dataclass(frozen=True)
class Skeleton:
    """Public rows to choose from, and how many rows the synthetic table will have."""

    public: Columns
    rows: int
    copied: bool = False
    """The public columns are those of the confidential table."""
    true_size: bool = False
    """Rows or stages were chosen by the number of records of the confidential table."""
    reweighted: bool = False
    """Each table weighs the public rows anew, so that tables differ as populations do that such
    rows may have come from."""

    @property
    def membership(self) -> bool:
        """Whether the release leaves it open who and how many are in the table."""
        return not (self.copied or self.true_size)

    def __post_init__(self) -> None:
        if type(self.rows) is not int or not 1 <= self.rows <= LARGEST_ROWS:
            raise BadInput(
                f"`rows` must be a positive whole number up to {LARGEST_ROWS:,}, not {self.rows!r}."
            )

    def drawn(self, generator: np.random.Generator, *, balanced: bool = False) -> Columns:
        """Return the public rows: each once, or with replacement where another number is wanted.

        Balanced, no row is taken once more before all others are. Reweighted, rows are drawn by
        weights that are drawn first, from Dirichlet(1, ..., 1): a Bayesian bootstrap, which stands
        for not knowing the population behind these rows.

        Rows of the confidential table are shuffled: it may be sorted by a confidential column, and
        then the order of its public values would tell what no ε accounts for.
        """
        return next(self.in_batches(generator, self.rows, balanced=balanced))

    def in_batches(
        self, generator: np.random.Generator, batch: int, *, balanced: bool = False
    ) -> Iterator[Columns]:
        """Yield the same rows so many at a time; of a table without public columns, nothing each.

        Args:
            generator: Where chance comes from.
            batch: Rows of each but the last.
            balanced: Whether no row is taken once more before all others are.
        """
        choose = self._choice(generator, balanced=balanced)
        for start in range(0, self.rows, batch):
            chosen = choose(slice(start, min(start + batch, self.rows)))
            yield {name: values[chosen] for name, values in self.public.items()}

    def _choice(
        self, generator: np.random.Generator, *, balanced: bool
    ) -> Callable[[slice], slice | NDArray[np.int64]]:
        """Return what chooses, for some rows after the other, where they are among the public."""
        available = count_records(self.public) if self.public else 0
        if available and self.reweighted:
            upto = np.cumsum(generator.standard_exponential(available))
            shares = upto / upto[-1]
            return lambda some: np.searchsorted(
                shares, generator.random(some.stop - some.start), side="right"
            )
        if not available or (self.rows == available and not self.copied):
            return lambda some: some
        if self.rows == available:
            return generator.permutation(available).__getitem__
        if balanced:
            # Which rows are taken, and where they stand, are both left to chance.
            chosen = np.resize(generator.permutation(available), self.rows)
            return generator.permutation(chosen).__getitem__
        return lambda some: generator.integers(available, size=some.stop - some.start)


def skeleton_for(
    schema: Schema,
    table: Records,
    adjacency: Adjacency,
    *,
    rows: int | None = None,
    separate: Columns | None = None,
    times: int = 1,
) -> Skeleton:
    """Decide from what was declared and asked for; `separate` are another file's public columns.

    Where no number of rows is asked for, it is so many times the declared size.
    """
    if separate == {}:
        raise BadInput("predictors were given, but the schema declares no public column.")
    names = [column.name for column in schema.public]
    if separate is not None and _same_rows(separate, table, names):
        # Were they taken for copied ones, the guarantee would tell a table from its neighbours.
        raise BadInput(
            "the predictors are the table's own public rows: leave out `predictors`, so that they "
            "are copied and the guarantee says so, or give rows that come from elsewhere."
        )
    public, copied = (table.only(names), bool(names)) if separate is None else (separate, False)
    if rows is not None:
        return Skeleton(public, rows, copied=copied)
    if schema.size is not None:
        return Skeleton(public, _multiplied(schema.size, times), copied=copied)
    if public:
        return Skeleton(public, _multiplied(count_records(public), times), copied=copied)
    if _keeps_size(adjacency, schema):
        return Skeleton({}, _multiplied(table.count, times), true_size=True)
    raise BadInput(
        f"how many rows to synthesise is not known, and the number of records is protected under "
        f"{_protecting(adjacency)}: declare size under [table] in the schema, or give `rows`."
    )


def _multiplied(size: int, times: int) -> int:
    """Return so many times the size, up to a limit; never less than the size."""
    return max(size, min(times * size, _LARGEST_MULTIPLIED))


def _same_rows(one: Columns, table: Records, names: Sequence[str]) -> bool:
    """Whether rows are those of a table, in whatever order."""
    if count_records(one) != table.count:
        return False
    other = table.only(names)
    places = [np.lexsort([table[name] for name in one]) for table in (one, other)]
    return all(np.array_equal(one[n][places[0]], other[n][places[1]]) for n in one)


def with_public_size(
    skeleton: Skeleton, schema: Schema, table: Records, adjacency: Adjacency
) -> tuple[Skeleton, int]:
    """Return the size that stages and widths may depend on, and the skeleton that admits to it.

    It is the declared size, or that of the table where it is known anyway; then the number of
    records shows in the release, and the skeleton says so.
    """
    if schema.size is not None:
        return skeleton, schema.size
    if skeleton.copied or _keeps_size(adjacency, schema):
        return replace(skeleton, true_size=not skeleton.copied), table.count
    raise BadInput(
        f"what the mechanism does depends on the size of the table, which is protected "
        f"under {_protecting(adjacency)}: declare size under [table] in the schema."
    )


def _keeps_size(adjacency: Adjacency, schema: Schema) -> bool:
    """Whether neighbouring tables have the same number of rows; units may differ in theirs."""
    return adjacency is Adjacency.REPLACE_ONE and schema.unit is None


def _protecting(adjacency: Adjacency) -> str:
    return adjacency if adjacency is Adjacency.ADD_REMOVE else f"{adjacency} of whole units"


def in_order(public: Columns) -> Columns:
    """Return public rows in an order of their own.

    Which rows there are is public, but not the order in which a confidential table has them: it may
    be sorted by what is confidential, and neither a choice of rows nor a rounding error may tell.

    Args:
        public: Columns of public rows.
    """
    if not public:
        return {}
    order = np.lexsort([public[name] for name in sorted(public)])
    return {name: values[order] for name, values in public.items()}
