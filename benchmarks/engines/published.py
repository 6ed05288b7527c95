"""What every engine is given: the noisy tables of one release, and what `joint` makes of columns.

One release of `summary` for `joint` measures tables of single columns, code by code, and of pairs
of columns in groups, which it chooses itself. That is all that an engine knows. It returns groups
of rows, and codes are spread inside groups in one way for all: by the shape that the column's own
table has, as `joint` fits it to make groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import understudy as us
from understudy.adapters.loading import rebuild_model
from understudy.domain import tables
from understudy.inference.grouping import shares_of_codes
from understudy.inference.moments import Population
from understudy.inference.noisy_tables import Tables
from understudy.inference.rebuilt import measurements
from understudy.inference.whole import Whole
from understudy.models.balance import along
from understudy.models.table.conditional import Conditional, Grouped
from understudy.synthesis.preparation import prepare

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Groups = Mapping[str, Codes]
"""The group of each row, by column."""


def measure(
    table: pd.DataFrame, schema: us.Schema, epsilon: float, seed: int | None = None
) -> dict[str, Any]:
    """Return what a release publishes of its measurements: strict ε, a record added or removed.

    Args:
        table: The confidential one.
        schema: What it is declared to hold.
        epsilon: For all of it, with what it costs to choose pairs.
        seed: Fixes the noise, for tests.
    """
    mechanism = us.Summary(epsilon=epsilon)
    rounds = mechanism.plan(prepare(us.joint(schema), table, mechanism, seed=seed)).measure()
    return {
        "schema": schema.to_dict(),
        "model": rounds.population.model.spec,
        "rounds": [each.to_dict() for each in rounds.published],
    }


@dataclass(frozen=True, eq=False)
class Published:
    """The same, read back."""

    schema: us.Schema
    whole: Whole
    """`joint` with its groups and parents, and what was measured."""

    @classmethod
    def of(cls, contents: Mapping[str, Any]) -> Published:
        """Return what was published as `measure` returns it."""
        schema = us.Schema.from_dict(contents["schema"])
        model = rebuild_model(contents["model"], schema=schema)
        assert schema.size is not None
        population = Population(model, {}, schema.size, known=False)
        return cls(schema, Whole(population, measurements(contents["rounds"], model)))

    @property
    def rows(self) -> int:
        """The declared size, and that of a synthetic table."""
        assert self.schema.size is not None
        return self.schema.size

    @property
    def tables(self) -> Tables:
        """What was measured."""
        return self.whole.tables

    @property
    def columns(self) -> dict[str, Grouped]:
        """Each column with its groups."""
        return self.whole.columns.grouped

    @cached_property
    def _shares(self) -> dict[str, Floats]:
        single = self.tables.single
        return {n: shares_of_codes(each.variable, single[n]) for n, each in self.columns.items()}

    @cached_property
    def groups(self) -> dict[str, Floats]:
        """How each column is distributed over its groups, as far as its own table tells."""
        return {
            name: np.asarray(np.bincount(each.groups, self._shares[name], each.count))
            for name, each in self.columns.items()
        }

    @cached_property
    def inside(self) -> dict[str, Floats]:
        """The share of each code in its group."""
        return {
            name: self._shares[name] / np.maximum(self.groups[name], 1e-300)[each.groups]
            for name, each in self.columns.items()
        }

    def frame(self, groups: Groups, generator: np.random.Generator) -> pd.DataFrame:
        """Return rows with the given groups, codes evenly spread inside each."""
        values: tables.Columns = {}
        for turn, (name, column) in enumerate(self.columns.items()):
            own = groups[name]
            spread = along(generator, len(own), [own], turn)
            codes, within = Conditional(column, ()).code_in(own, spread, self.inside[name])
            values |= column.variable.values(codes, within)
        return tables.decode(values, self.schema)
