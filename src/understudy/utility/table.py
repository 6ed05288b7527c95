"""The utility of a whole table: its columns, its pairs of columns, and all of it at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from understudy.domain import tables
from understudy.domain.schema import Column, Role, Schema
from understudy.support.confidential import Confidential
from understudy.utility.marginal import CategoricalUtility, Utility, compare
from understudy.utility.pairs import Pair, measure_pairs
from understudy.utility.population import as_population
from understudy.utility.propensity import Propensity, measure_propensity
from understudy.utility.regression import Regression, measure_regression

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True, repr=False)
class TableUtility(Confidential):
    """How close a synthetic table is to the confidential one. All of it is confidential."""

    columns: dict[str, Utility | CategoricalUtility]
    """Each confidential column by itself, over the values that are not missing."""
    pairs: tuple[Pair, ...]
    propensity: Propensity
    regression: Regression | None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON can hold them."""
        return {
            "utility": {name: measured.to_dict() for name, measured in self.columns.items()},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "propensity": self.propensity.to_dict(),
            "regression": None if self.regression is None else self.regression.to_dict(),
        }

    def headlines(self) -> dict[str, float | None]:
        """Return the few numbers by which several syntheses are compared, by what they are."""
        found: dict[str, float | None] = {}
        for name, measured in self.columns.items():
            if isinstance(measured, Utility):
                found[f"{name}: max-ECDF"] = measured.max_ecdf
            else:
                found[f"{name}: total variation"] = measured.total_variation
        distances = [p.total_variation for p in self.pairs if p.total_variation is not None]
        if distances:
            found["pairs: mean total variation"] = sum(distances) / len(distances)
            found["pairs: largest total variation"] = max(distances)
        found["propensity: pMSE ratio"] = self.propensity.ratio
        if self.regression is not None:
            found["regression: mean overlap"] = self.regression.mean_overlap
        return found


def measure_table(
    confidential: DataFrame,
    synthetic: DataFrame,
    schema: Schema,
    *,
    regression: str | None = None,
) -> TableUtility:
    """Return the utility of a synthetic table, which may have more or fewer rows.

    Public columns count in pairs, propensity and regression where both tables have them.
    `regression` is a formula such as `log(pay) ~ gender + age`; without it none is fitted.
    """
    shared = in_both(schema, confidential, synthetic)
    return measure_checked(
        population(confidential, shared, "the confidential table"),
        checked(synthetic, shared, "the synthetic table"),
        shared,
        regression=regression,
    )


def in_both(schema: Schema, *frames: DataFrame) -> Schema:
    """Return the columns to compare: the confidential ones, and the public ones of all tables."""

    def compared(column: Column) -> bool:
        public = column.role is Role.PUBLIC
        everywhere = all(column.name in frame.columns for frame in frames)
        return column.role in (Role.CONFIDENTIAL, Role.SURVEY_WEIGHT) or (public and everywhere)

    columns = (c if compared(c) else Column(c.name, Role.IGNORE) for c in schema.columns)
    return Schema(size=schema.size, columns=tuple(columns))


def checked(frame: DataFrame, schema: Schema, name: str) -> DataFrame:
    """Return the confidential and public columns as declared; what does not fit is refused."""
    coded = tables.encode(frame, schema, roles=(Role.CONFIDENTIAL, Role.PUBLIC), name=name)
    return tables.decode(coded, schema)


def population(frame: DataFrame, schema: Schema, name: str) -> DataFrame:
    """Return the confidential table likewise, as the population that its survey weights make."""
    return tables.decode(as_population(tables.encode(frame, schema, name=name), schema), schema)


def measure_checked(
    confidential: DataFrame, synthetic: DataFrame, schema: Schema, *, regression: str | None
) -> TableUtility:
    """Return the utility of tables that have been checked against the schema."""
    columns = schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
    return TableUtility(
        columns=compare(confidential, synthetic, schema),
        pairs=measure_pairs(confidential, synthetic, columns),
        propensity=measure_propensity(confidential, synthetic, columns),
        regression=(
            None
            if regression is None
            else measure_regression(confidential, synthetic, schema, regression)
        ),
    )
