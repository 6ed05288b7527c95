"""Whom a release is about: whose public rows it has, and how much they tell of the population.

n rows that are the records' own are a sample of n people: each draw weighs them anew, by weights
from Dirichlet(1, ..., 1), a Bayesian bootstrap. Of m rows that were drawn from those n, a mean
varies by 1/n + 1/m, and M tables whose rows were drawn by weights of their own vary by 1/n + (1/n +
1/m)/M. So the weights of all their rows come from a Dirichlet distribution whose numbers add up to
one over that. Rows from elsewhere are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.domain.frames import frame_of, name_of
from understudy.domain.schema import Role
from understudy.domain.skeleton import LARGEST_ROWS
from understudy.domain.tables import Columns, count_records, encode
from understudy.errors import BadInput
from understudy.synthesis.opening import Published

OWN, DRAWN, REWEIGHTED, SEPARATE = "own", "drawn", "reweighted", "separate"
_MANY = 2**16
"""Of more public rows than this, tables need not have every one."""


@dataclass(frozen=True, eq=False)
class Whom:
    """Public rows, and where they come from."""

    size: int
    """How many records there are, or are declared to be; 0 where that is not told."""
    predictors: str | None
    """`own`, `drawn`, `reweighted` or `separate`; None without public columns."""
    public: Columns
    """The public rows of all tables."""
    tables: int
    """How many there are."""

    @classmethod
    def of(cls, published: Published) -> Whom:
        """Read whom a release is about, or refuse what no release would say."""
        schema, told = published.schema, published.contents.get("population")
        size, predictors = _read(told, published.name)
        if (predictors is None) != (not schema.public):
            raise _damaged(published.name)
        public: Columns = {}
        if schema.public:
            rows = [
                encode(
                    frame_of(each), schema, roles=(Role.PUBLIC,), name=name_of(each, "the table")
                )
                for each in published.tables
            ]
            public = {name: np.concatenate([each[name] for each in rows]) for name in rows[0]}
        if predictors == OWN and count_records(public) != size:
            raise BadInput(
                f"'{published.name}' says that its table has the public rows of {size:,} records, "
                f"and the table beside it has {count_records(public):,} rows: one of the files is "
                f"damaged."
            )
        return cls(size, predictors, public, len(published.tables))

    @property
    def sampled(self) -> bool:
        """Whether public rows are a sample of the population, as the records are."""
        return self.predictors in (OWN, DRAWN, REWEIGHTED)

    @property
    def population(self) -> str:
        """What the population is called."""
        if self.predictors == SEPARATE:
            return (
                "the population whose predictors the release has, if the records' are "
                "distributed alike"
            )
        return (
            "the population that the records are a sample of" if self.public else "the population"
        )

    @property
    def concentration(self) -> float:
        """What the numbers of the Dirichlet distribution of weights add up to."""
        rows = count_records(self.public) / self.tables
        if self.predictors == REWEIGHTED:
            return 1 / (1 / self.size + (1 / self.size + 1 / rows) / self.tables)
        if self.predictors == DRAWN:
            return 1 / (1 / self.size + 1 / rows / self.tables)
        return float(self.size)

    def rows(
        self,
        rows: int,
        weights: np.random.Generator,
        generator: np.random.Generator,
        *,
        given: bool,
    ) -> Columns:
        """Return about so many public rows, weighed by chance where they are a sample.

        Args:
            rows: How many.
            weights: Where the weights come from.
            generator: Where the choice of rows comes from.
            given: Whether the question is about people with just these predictors.
        """
        if not self.public:
            return {}
        available = count_records(self.public)
        if self.sampled and not given:
            shape = self.concentration / available
            mass = np.cumsum(weights.standard_gamma(shape, size=available))
            places = (np.arange(rows) + generator.random()) / rows
            chosen = np.searchsorted(mass, places * mass[-1], side="right")
        elif available > max(rows, _MANY):
            chosen = generator.choice(available, rows, replace=False)
        else:
            chosen = np.tile(np.arange(available), -(-rows // available))
        return {name: values[chosen] for name, values in self.public.items()}


def _read(told: object, name: str) -> tuple[int, str | None]:
    if not isinstance(told, Mapping):
        raise BadInput(f"'{name}' does not say whom it is about: make the release again.")
    size: Any = told.get("size")
    predictors: Any = told.get("predictors")
    if size is None and predictors is None:
        return 0, None  # A histogram's bins were counted, and nobody said of how many.
    counted = type(size) is int and 1 <= size <= LARGEST_ROWS
    if not counted or predictors not in (None, OWN, DRAWN, REWEIGHTED, SEPARATE):
        raise _damaged(name)
    return size, predictors


def _damaged(name: str) -> BadInput:
    return BadInput(f"what '{name}' says of its population cannot be: the file is damaged.")
