"""Tables as people give them: in a file, or in memory by pandas, Polars or Arrow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from understudy.domain.table_files import read
from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd
    from narwhals.typing import IntoDataFrame

Tabular: TypeAlias = Union[str, os.PathLike[str], "IntoDataFrame"]
"""The path of a file, or a table in memory of any library that narwhals knows."""


def frame_of(table: Tabular) -> pd.DataFrame:
    """Return a table as pandas has it, whoever holds it; one of pandas is returned as it is."""
    if isinstance(table, str | os.PathLike):
        return read(table)
    import narwhals as nw
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table
    try:
        arrow = nw.from_native(table, eager_only=True).to_arrow()
    except TypeError:
        raise BadInput(
            f"a table must be a file, or a table in memory of pandas, Polars or Arrow, not a "
            f"{type(table).__name__}; collect a lazy one first."
        ) from None
    except nw.exceptions.DuplicateError:
        raise BadInput("two columns of the table have the same name: give each its own.") from None
    # What pandas once noted about an index must not take columns away.
    return arrow.to_pandas(types_mapper=_whole, ignore_metadata=True)


def name_of(table: Tabular, otherwise: str) -> str:
    """Return what sentences call a table: its file, or else its part in the work."""
    return str(table) if isinstance(table, str | os.PathLike) else otherwise


def _whole(arrow_type: Any) -> Any:
    """Return a type that keeps whole numbers whole beside missing ones: long ids stay exact."""
    import pandas as pd
    import pyarrow as pa

    if arrow_type == pa.uint64():
        return pd.UInt64Dtype()
    return pd.Int64Dtype() if pa.types.is_integer(arrow_type) else None
