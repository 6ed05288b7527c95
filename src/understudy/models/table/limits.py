"""How large a model of all columns may become, told before anything of it is built."""

from __future__ import annotations

import math
from collections import Counter

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.base import Parameter

LARGEST_DIMENSION = 1000
_MOST_CONTRASTS = 16_000_000
"""Entries of all contrasts among levels, which are squares: one column of 4,000 levels."""


def check_columns(model: str, schema: Schema, least: int) -> None:
    """Refuse columns of which nothing or too much would have to be built; nothing is built yet.

    `least` is a number of parameters that the model has in any case. A schema may come from a
    published file, in which a few lines declare a great many columns or levels.
    """
    if not schema.confidential:
        raise BadInput(f"the {model} model needs a confidential column, but the schema has none.")
    _check_dimension(model, least, "at least ")
    columns = (*schema.public, *schema.confidential)
    widest = max(columns, key=lambda column: len(column.levels or ()))
    if sum(len(column.levels or ()) ** 2 for column in columns) > _MOST_CONTRASTS:
        raise BadInput(
            f"these columns have too many levels for the {model} model, '{widest.name}' alone "
            f"{len(widest.levels or ()):,}: declare fewer, or leave columns out with the role "
            f"'ignore'."
        )


def check_size(model: str, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return the parameters, unless there are too many for a chain, or two of one name."""
    _check_dimension(model, sum(math.prod(parameter.shape) for parameter in parameters))
    repeated = [n for n, times in Counter(p.name for p in parameters).items() if times > 1]
    if repeated:
        raise BadInput(
            f"the columns' names make two parameters of the {model} model '{repeated[0]}': rename "
            f"a column."
        )
    return parameters


def _check_dimension(model: str, dimension: int, words: str = "") -> None:
    if dimension > LARGEST_DIMENSION:
        raise BadInput(
            f"the {model} model of these columns has {words}{dimension:,} parameters, more than "
            f"{LARGEST_DIMENSION:,}: declare fewer levels, or leave columns out with the role "
            f"'ignore'."
        )
