"""PH: the perturbed histogram, outside the equation (paper, section 2.3 and Supplement 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.domain.column import Column, Type
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.inference.measurement import Noise
from understudy.mechanisms.arguments import LARGEST_BINS
from understudy.mechanisms.base import Mechanism
from understudy.mechanisms.noise import with_laplace
from understudy.mechanisms.plan import Drawn, Plan, Price
from understudy.mechanisms.published import numbers
from understudy.mechanisms.request import Request
from understudy.models.balance import among_public, codes_at, evenly
from understudy.models.base import Model
from understudy.privacy.accounting import Cost, exact, rounded_up, total
from understudy.privacy.guarantee import Adjacency, Kind, Weights
from understudy.support.randomness import Source


@dataclass(frozen=True, kw_only=True)
class PerturbedHistogram(Mechanism):
    """Counts in equal bins, with discrete Laplace noise of scale 1/ε or 2/ε. Strict.

    Adding or removing a record changes one count by one, so noise of scale 1/ε gives ε under
    add-remove; replacing one can change two counts, which takes 2/ε. Bins are fixed by the declared
    bounds and the declared size, never by the table.
    """

    epsilon: float
    """The privacy loss of one table of counts."""
    bins: str | int = "sqrt"
    """`sqrt` or `ln` of the declared size, or a number."""

    name = "ph"
    kind = Kind.STRICT
    weights = Weights.NONE
    needs_model = False
    tried_unasked = True

    def plan(self, request: Request) -> HistogramPlan:
        """Return the counts to be perturbed, of the one column that a histogram can synthesise."""
        return HistogramPlan(request, self, histogram_column(request.schema))

    def samplers(self, model: Model) -> Sequence[str]:
        """It draws no parameters of a model."""
        return ("none",)

    @classmethod
    def check_serves(cls, schema: Schema, model: Model | None, *, public: bool) -> None:
        """Refuse a schema that a histogram cannot synthesise."""
        histogram_column(schema)
        if schema.public:
            raise BadInput("ph synthesises one column alone, but the schema has public ones.")

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """It has nothing to settle but ε."""
        return ({},)

    @classmethod
    def reads(cls, theta: Mapping[str, Any], model: Model | None) -> bool:
        """Whether θ is a list of counts."""
        noisy = numbers(theta["counts"]) if theta.keys() == {"counts"} else None
        return noisy is not None and noisy.ndim == 1 and noisy.size > 0 and bool((noisy >= 0).all())

    @classmethod
    def simulator(
        cls,
        theta: Mapping[str, Any],
        source: Source,
        *,
        schema: Schema,
        model: Model | None,
        balanced: bool = False,
    ) -> Callable[[Columns, int], Columns]:
        """Return what draws records from noisy counts."""
        column, noisy = histogram_column(schema), np.asarray(theta["counts"])
        generator = source.generator()

        def draw(public: Columns, rows: int) -> Columns:
            if not balanced:
                return {column.name: draw_rows(noisy, column, rows, generator)}
            u = evenly(generator, rows, among_public(schema, public))
            chosen, within = codes_at(u, _shares(noisy)[None], np.zeros(rows, dtype=np.int64))
            return {column.name: column.lower + column.width * (chosen + within) / len(noisy)}

        return draw

    @property
    def sensitivity(self) -> int:
        """The most by which a neighbouring table's counts differ, added up over the bins."""
        return self.adjacency.steps

    def bin_count(self, size: int | None) -> int:
        """Return the number of bins for a declared size.

        Args:
            size: The declared size, if there is one.
        """
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


@dataclass(frozen=True, eq=False, repr=False)
class HistogramPlan(Plan):
    """Counts of one column with noise, once for each table."""

    mechanism: PerturbedHistogram
    column: Column

    @property
    def cost(self) -> Price:
        """ε for each table, under the adjacency that it was asked for."""
        mechanism, tables = self.mechanism, self.request.tables

        def one_table(adjacency: Adjacency) -> Cost:
            pure = mechanism.epsilon / mechanism.sensitivity * adjacency.steps
            return Cost(pure, rounded_up(exact(pure) ** 2 / 2))

        return {each: total([one_table(each)] * tables) for each in Adjacency}

    def draw(self) -> Drawn:
        """Count, and add noise."""
        request, mechanism = self.request, self.mechanism
        bins = mechanism.bin_count(request.schema.size)
        true = counts(request.columns[self.column.name], self.column, bins)
        drawn = [perturbed(true, mechanism, request.source) for _ in range(request.tables)]
        _, noise = drawn[0]
        nothing = ("lipschitz_bound", "local_epsilon", "censored_records", "divergences")
        return Drawn(
            thetas=[{"counts": noisy.tolist()} for noisy, _ in drawn],
            diagnostics={"parameters": {}} | dict.fromkeys(nothing),
            released={"noise": noise.to_dict()},
        )


def histogram_column(schema: Schema) -> Column:
    """Return the one confidential column that a histogram can synthesise, or refuse."""
    schema.refuse_released_weight("ph")
    columns = schema.confidential
    if len(columns) != 1 or columns[0].type is not Type.CONTINUOUS:
        declared_columns = ", ".join(f"{c.name} ({c.type})" for c in columns) or "none"
        raise BadInput(
            f"ph synthesises exactly one confidential column, a continuous one, but the schema "
            f"declares {declared_columns}: give the others the role 'ignore', or use a model."
        )
    for declared, what in (
        (schema.unit, "a unit with several rows is in several bins"),
        (schema.survey_weight, "survey weights are no part of it"),
        (columns[0] if columns[0].missing == "model" else None, "a missing value is in no bin"),
    ):
        if declared is not None:
            raise BadInput(
                f"ph counts rows, and {what}, so column {declared.name!r} cannot be declared as it "
                "is: use a model."
            )
    return columns[0]


def counts(values: np.ndarray, column: Column, bins: int) -> np.ndarray:
    """Count the records in equal bins over the declared bounds; the last bin is closed above."""
    position = np.floor((values - column.lower) / column.width * bins).astype(np.int64)
    return np.bincount(np.clip(position, 0, bins - 1), minlength=bins)


def perturbed(
    true: np.ndarray, mechanism: PerturbedHistogram, source: Source
) -> tuple[np.ndarray, Noise]:
    """Return the counts with noise, negative ones raised to zero, and which noise it is."""
    noisy, scale = with_laplace(
        true, sensitivity=mechanism.sensitivity, epsilon=mechanism.epsilon, source=source
    )
    return np.maximum(noisy, 0), Noise(scale)


def draw_rows(
    noisy: np.ndarray, column: Column, rows: int, generator: np.random.Generator
) -> np.ndarray:
    """Draw records: a bin in proportion to its count, then evenly within it."""
    chosen = generator.choice(len(noisy), size=rows, p=_shares(noisy))
    return column.lower + column.width * (chosen + generator.uniform(size=rows)) / len(noisy)


def _shares(noisy: np.ndarray) -> np.ndarray:
    """Return the share of each bin."""
    total = noisy.sum()
    # Noise can leave nothing; then the counts say nothing and every bin is as good.
    return noisy / total if total > 0 else np.full(len(noisy), 1 / len(noisy))
