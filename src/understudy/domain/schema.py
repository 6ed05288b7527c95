"""The declared public domain: which columns a table has, and what each may hold.

Everything that the synthesis needs to know about the domain of the data (bounds, levels, the size
of the table) is declared here by a person, from public knowledge, and is never learned from the
confidential table: a bound or a level that was read off the data would leak out of every release.
So a schema is public, its values may be quoted, and what it does not declare is refused.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.column import Column, Role, Type
from understudy.domain.layout import KEYS, declarations
from understudy.domain.rules import Rule
from understudy.errors import BadInput, nearest
from understudy.support.html import html_table

__all__ = ["Column", "Role", "Schema", "Type"]

LARGEST_UNIT = 366
"""Rows of a unit, a year of days; every unit takes the memory of the largest that is declared."""


@dataclass(frozen=True)
class Schema:
    """The declared columns, in order, the declared size of the table, and its rules."""

    size: int | None
    """About how many rows the table has."""
    columns: tuple[Column, ...]
    """In the order in which synthetic tables have them."""
    rows_per_unit: int | None = None
    """The most rows that a unit may have, where a column says which rows belong together."""
    row_is_unit: bool = False
    """Whether a person has said that each row is protected by itself."""
    rules: tuple[Rule, ...] = ()
    """What is true of every record."""

    def __post_init__(self) -> None:
        if not self.having(Role.CONFIDENTIAL, Role.PUBLIC):
            raise BadInput("no column is declared as confidential or public.")
        if len(set(self.names)) < len(self.columns):
            raise BadInput("two columns are declared under the same name.")
        for column in self.columns:
            if column.beside in self.names:
                raise BadInput(
                    f"the column {column.beside!r} has the name under which it is kept why values "
                    f"of {column.name!r} are missing: rename it."
                )
        size = self.size
        if size is not None and (type(size) is not int or size <= 0):
            raise BadInput(f"table.size must be a positive whole number, not {size!r}.")
        for role in (Role.UNIT, Role.SURVEY_WEIGHT):
            names = [column.name for column in self.columns if column.role is role]
            if len(names) > 1:
                raise BadInput(
                    f"only one column can have the role '{role}', not {', '.join(names)}."
                )
        self._check_unit()

    def _check_unit(self) -> None:
        width = self.rows_per_unit
        if self.unit is None:
            if width is not None:
                raise BadInput(
                    "table.rows_per_unit is declared, but no column has the role 'unit'; give it "
                    "to the column that says which rows belong together."
                )
            return
        if self.row_is_unit:
            raise BadInput(
                f"table.unit = 'row' contradicts column {self.unit.name!r}, which has the role "
                "'unit': remove one of them."
            )
        if width is None:
            raise BadInput(
                f"column {self.unit.name!r} has the role 'unit', so table.rows_per_unit is needed: "
                "the most rows that a unit may have, from public knowledge."
            )
        if type(width) is not int or not 1 <= width <= LARGEST_UNIT:
            raise BadInput(
                f"table.rows_per_unit must be a whole number from 1 to {LARGEST_UNIT:,}, not "
                f"{width!r}."
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a TOML file.

        Args:
            path: The file.

        Raises:
            BadInput: If it cannot be read, or what it declares makes no sense.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise BadInput(f"there is no schema file {path}.") from None
        except OSError as error:
            raise BadInput(f"the schema {path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise BadInput(f"the schema {path} is not UTF-8 text.") from None
        try:
            mapping = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the schema {path} is not valid TOML: {error}.") from None
        return cls.from_dict(mapping, source=str(path))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], source: str = "the schema") -> Schema:
        """Read a schema from the TOML layout.

        Args:
            mapping: Tables and keys, as a schema's file has them.
            source: What opens the sentence of every refusal.

        Raises:
            BadInput: If what it declares makes no sense.
        """
        try:
            return cls(**declarations(mapping))
        except BadInput as error:
            raise BadInput(f"{source}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the TOML layout, from which `from_dict` builds an equal schema."""
        table = {
            "size": self.size,
            "rows_per_unit": self.rows_per_unit,
            "unit": "row" if self.row_is_unit else None,
        }
        layout = {
            "table": {key: value for key, value in table.items() if value is not None},
            "columns": {column.name: column.to_dict() for column in self.columns},
            "rules": [rule.to_dict() for rule in self.rules],
        }
        return {part: declared for part, declared in layout.items() if declared}

    def _repr_html_(self) -> str:
        layout = self.to_dict()
        columns = layout["columns"].items()
        keys = [key for key in KEYS if any(key in each for _, each in columns)]
        rows = [[name, *(_shown(each.get(key, "")) for key in keys)] for name, each in columns]
        facts = [*layout.get("table", {}).items(), *(("rule", rule) for rule in self.rules)]
        return html_table(rows, header=("column", *keys)) + html_table(facts)

    @property
    def digest(self) -> str:
        """A fingerprint of the declarations, the same for every equivalent way to write them."""
        layout = self.to_dict()
        for column in self.columns:
            if column.codes:
                # A kind of missing value is known by its place, so their order is declared, too.
                layout["columns"][column.name]["codes"] = list(column.codes)
        canonical = json.dumps(layout, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all declared columns, ignored ones included."""
        return tuple(column.name for column in self.columns)

    @property
    def confidential(self) -> tuple[Column, ...]:
        """The columns that are synthesised, a survey weight that is released among them."""
        return self.having(Role.CONFIDENTIAL)

    @property
    def public(self) -> tuple[Column, ...]:
        """The columns that are public and copied as they are."""
        return self.having(Role.PUBLIC)

    @property
    def unit(self) -> Column | None:
        """The column that says which rows belong to one person or unit."""
        return next(iter(self.having(Role.UNIT)), None)

    @property
    def survey_weight(self) -> Column | None:
        """The column that says how many members of the population a row counts for.

        One that is released is none: rows are then those of the sample, and count alike.
        """
        return next(iter(self.having(Role.SURVEY_WEIGHT)), None)

    @property
    def released_weight(self) -> Column | None:
        """The survey weight that synthetic rows have beside them."""
        return next((column for column in self.columns if column.release), None)

    def refuse_released_weight(self, what: str) -> None:
        """Refuse a survey weight that is released, for what synthesises one column.

        Args:
            what: The model or mechanism, as the sentence calls it.
        """
        weight = self.released_weight
        if weight is not None:
            raise BadInput(
                f"{what} synthesises one column, and the survey weight '{weight.name}' has release "
                f"= true, which needs a model of whole tables, such as joint: use one, or remove "
                f"release, so that records count by their weights."
            )

    def having(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns that are treated as one of the roles.

        Args:
            roles: Which ones; a survey weight that is released is treated as confidential.
        """
        return tuple(column for column in self.columns if column.treated_as in roles)

    def column(self, name: str) -> Column:
        """Return the column of that name.

        Args:
            name: A declared name; any other is refused.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise BadInput(f"the schema declares no column {name!r}{nearest(name, self.names)}.")

    def public_points(self, count: int) -> dict[str, NDArray[Any]]:
        """Return `count` fixed records spread over the declared domain, as `tables.encode` codes.

        They know nothing but the schema. Each column visits its domain evenly, in a fixed order of
        its own, so that no column is a function of another and predictors are not collinear. The
        raw output of PCG64 serves as a shuffle because NumPy promises that it will never change.

        Args:
            count: How many.
        """
        return {
            column.name: column.spread(np.argsort(np.random.PCG64(turn).random_raw(count)))
            for turn, column in enumerate(self.having(Role.CONFIDENTIAL, Role.PUBLIC))
        }

    def standing_alone(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return public or simulated rows as units of their own, each of the average weight.

        They come without ids and weights, and a model of a table with either needs them.

        Args:
            columns: The rows, by column.
        """
        rows = len(next(iter(columns.values())))
        completed = dict(columns)
        if self.unit is not None:
            completed[self.unit.name] = np.arange(rows)
        if self.survey_weight is not None:
            completed[self.survey_weight.name] = np.full(rows, self.survey_weight.average)
        return completed


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key or 'blank'} = {meaning}" for key, meaning in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
