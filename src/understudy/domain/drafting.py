"""The draft of a schema, for a person to complete.

A draft takes the names of the columns, and that is all it takes: size, types, bounds and levels are
left blank, because they are public declarations. Were they read off the table, its extremes, its
rare levels and whether all of its numbers are whole would be published with every release. What the
types look like is offered in comments, which are no part of a schema.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.column import Type
from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.layout import BLANK, toml_key, toml_text
from understudy.domain.table_files import check_header
from understudy.domain.tables import numbers
from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

_HEAD = """\
# Draft of a schema for {source}.
#
# A schema is public. Whatever says "{blank}" must come from public knowledge (the questionnaire,
# the law, an earlier publication), never from looking at this table: a largest value or a rare
# level that was read off the data would be published with every release.
#
# role     confidential   synthesised
#          public         copied as it is, with the number of its rows
#          ignore         left out; needs no other line
#          unit           says which rows belong to one person (or household, firm, ...), so that
#                         the guarantee is for all of them together; needs no other line, but
#                         rows_per_unit under [table]. Never released.
#          survey-weight  how many people a row stands for; needs bounds, and average = a published
#                         number by which weights are divided. Never released, but with
#                         release = true: then it is synthesised like any confidential number,
#                         rows are like those of the sample, and no average is needed.
# type     continuous | count | integer   have bounds = [lower, upper]
#          date                           has bounds = ["YYYY-MM-DD", "YYYY-MM-DD"]
#          categorical | binary           have levels = ["...", "..."]
#          Fill in bounds or levels, as the type needs, and remove the other line. A guess was read
#          off the table: whole numbers may be codes, and what is whole here need not be next year.
#          Remove the lines with a guess before anybody else sees this file.
# outside  "refuse" (the default) stops at a number outside the bounds;
#          "clamp" moves it to the nearest bound
# missing  "refuse" (the default) stops at a missing value;
#          "model" reproduces how often values of a confidential column are missing
# codes    with missing = "model", how the table writes several kinds of missing values:
#          codes = {{ "N" = "does not apply", "B" = "refused" }}; "" stands for a blank cell
# spikes   numbers that many people share, such as spikes = [0, 40]; only if it is publicly known
# grid     a number to whose multiples people round, such as grid = 1000; likewise
# ordered  true where the levels of a categorical column are written in their order
# rules    [[rules]] with if = "..." and then = "..." hold in every synthetic row

[table]
# About how many rows; needed where the number of rows is itself confidential.
# Remove the line if you do not want to declare it.
size = "{blank}"
# unit = "row" says that each row is protected by itself, although ids repeat.
"""

_COLUMN = """
[columns.{key}]
role = "confidential"
# guess: {guess} (read off the table{doubt})
type = "{blank}"
bounds = "{blank}"
levels = "{blank}"
"""


def draft(table: Tabular, *, source: str | None = None) -> str:
    """Return the TOML text of a schema for a table, with blanks for a person to fill in.

    Tables whose columns have the same names get the same draft, except for guesses in comments.

    Args:
        table: The table, or the file that it is in.
        source: What the draft calls it; by default the file's name.
    """
    frame = frame_of(table)
    source = Path(name_of(table, "the table")).name if source is None else source
    check_header(frame, name=source)
    for position, name in enumerate(frame.columns, start=1):
        if re.fullmatch(r"[-+.,\s]*\d[-+.,\d\s]*", name):
            # The draft would publish the first record of a file without a header.
            raise BadInput(
                f"column {position} of {source} has a number for a name; the first line must be a "
                "header with the names of the columns, none of them a number."
            )
    sections = [_HEAD.format(source=toml_text(source), blank=BLANK)]
    for name in frame.columns:
        guess = _guess(frame[name])
        doubt = "; whole numbers may be codes" if guess is Type.INTEGER else ""
        sections.append(_COLUMN.format(key=toml_key(name), guess=guess, doubt=doubt, blank=BLANK))
    return "".join(sections)


def _guess(series: pd.Series[Any]) -> Type:
    """Guess a type from how the column is stored and whether it holds numbers, nothing else."""
    import pandas as pd

    if series.dtype.kind == "b":
        return Type.BINARY
    if isinstance(series.dtype, pd.CategoricalDtype):
        return Type.CATEGORICAL
    values, missing = numbers(series)
    present = values[~missing]
    if not present.size or not np.isfinite(present).all():
        return Type.CATEGORICAL
    return Type.INTEGER if np.array_equal(present, np.rint(present)) else Type.CONTINUOUS
