"""How many rows to simulate, and from which public values.

The number of records of the confidential table is protected under add-remove. It is used here only
where it is public anyway: under replace-one, or when public columns are copied from the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.errors import BadInput
from understudy.guarantee import Adjacency

if TYPE_CHECKING:
    import numpy as np

    from understudy.schema import Schema
    from understudy.tables import Columns


@dataclass(frozen=True)
class Predictors:
    """Public columns for the synthetic rows, and how many rows there will be."""

    public: Columns
    rows: int
    copied: bool = False
    """The public columns are those of the confidential table."""
    true_size: bool = False
    """The number of rows was taken from the confidential table."""

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise BadInput(f"rows must be a positive whole number, not {self.rows!r}.")

    def drawn(self, generator: np.random.Generator) -> Columns:
        """Return the public rows as they are, or with replacement where their number differs."""
        if not self.public or self.rows == count_records(self.public):
            return self.public
        chosen = generator.integers(count_records(self.public), size=self.rows)
        return {name: values[chosen] for name, values in self.public.items()}


def plan_predictors(
    schema: Schema,
    table: Columns,
    adjacency: Adjacency,
    *,
    rows: int | None = None,
    separate: Columns | None = None,
) -> Predictors:
    """Decide from what was declared and asked for; `separate` are predictors from another file."""
    if separate == {}:
        raise BadInput("predictors were given, but the schema declares no public column.")
    if separate is None:
        public = {column.name: table[column.name] for column in schema.public}
    else:
        public = separate
    copied = bool(public) and separate is None
    rows = schema.size if rows is None else rows
    if rows is not None:
        return Predictors(public, rows, copied=copied)
    if public:
        return Predictors(public, count_records(public), copied=copied)
    if adjacency is Adjacency.REPLACE_ONE:
        return Predictors({}, count_records(table), true_size=True)
    raise BadInput(
        "how many rows to synthesise is not known, and the number of records is protected under "
        "add-remove: declare size under [table] in the schema, or give --rows."
    )


def count_records(columns: Columns) -> int:
    """Return the number of records of a table that has at least one column."""
    return len(next(iter(columns.values())))
