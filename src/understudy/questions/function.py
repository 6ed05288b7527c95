"""A question that is a function of a table, for those who ask in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from understudy.domain.kinds import why_missing
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns, decode
from understudy.errors import BadInput
from understudy.questions.question import Question

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FunctionQuestion(Question):
    """What a function makes of a table: a number, or several by name."""

    function: Callable[[pd.DataFrame], Any]
    schema: Schema

    def answer(self, columns: Columns) -> dict[str, float]:
        """Return the function's numbers; a single one bears the function's name."""
        import pandas as pd

        # The companions of its columns say why values are missing.
        wanted = {*self.columns, *map(why_missing, self.columns)}
        own = {name: values for name, values in columns.items() if name in wanted}
        found = self.function(decode(own, self.schema))
        if isinstance(found, pd.Series):
            found = found.to_dict()
        named = found if isinstance(found, Mapping) else {self.text: found}
        for number in named.values():
            if not isinstance(number, Real):
                raise BadInput(
                    f"the function '{self.text}' must return a number, or numbers by name in a "
                    f"dict or a Series, not a {type(number).__name__}."
                )
        return {str(name): float(number) for name, number in named.items()}

    def analyse(self, columns: Columns) -> dict[str, tuple[float, float]]:
        """Refuse: nobody knows the variance of what any function returns."""
        raise BadInput(
            f"the sampling variance of what the function '{self.text}' returns is not known, and "
            f"analyses cannot be combined without it: ask in words, such as 'mean(y) by g'."
        )

    def influence(self, columns: Columns) -> dict[str, NDArray[np.float64]]:
        """Refuse: nobody knows it of any function."""
        raise BadInput(
            f"how single records move what the function '{self.text}' returns is not known, and "
            f"nothing can be said of the table's own records without it: ask in words, such as "
            f"'mean(y) by g', or about the population."
        )
