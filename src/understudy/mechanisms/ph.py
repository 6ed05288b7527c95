"""PH: the perturbed histogram, outside the equation (paper, section 2.3 and Supplement 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy.errors import BadInput
from understudy.mechanisms.base import LARGEST_BINS, Mechanism
from understudy.privacy.guarantee import Kind, Weights


@dataclass(frozen=True, kw_only=True)
class PerturbedHistogram(Mechanism):
    """Counts in equal bins, with discrete Laplace noise of scale 1/ε or 2/ε. Strict.

    Adding or removing a record changes one count by one, so noise of scale 1/ε gives ε under
    add-remove; replacing one can change two counts, which takes 2/ε. Bins are fixed by the declared
    bounds and the declared size, never by the table.
    """

    epsilon: float
    bins: str | int = "sqrt"
    """`sqrt` or `ln` of the declared size, or a number."""

    name = "ph"
    kind = Kind.STRICT
    weights = Weights.NONE

    @property
    def sensitivity(self) -> int:
        """The most by which a neighbouring table's counts differ, added up over the bins."""
        return self.adjacency.steps

    def bin_count(self, size: int | None) -> int:
        """Return the number of bins for a declared size."""
        if isinstance(self.bins, int):
            return self.bins
        if size is None:
            raise BadInput(
                f"the number of bins is the {self.bins} of the declared size, but the schema "
                f"declares none: add size under [table], or give `bins` a number."
            )
        count = max(1, round(math.sqrt(size) if self.bins == "sqrt" else math.log(size)))
        if count > LARGEST_BINS:
            raise BadInput(
                f"the {self.bins} of the declared size is {count:,} bins, more than "
                f"{LARGEST_BINS:,}: give `bins` a number."
            )
        return count
