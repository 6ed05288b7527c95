"""Where numbers heap: single values that many records share, and the multiples of a number.

Both are public declarations, from a questionnaire or a rule of rounding. What does not fit the
declared bounds is refused with the rest of a sentence that begins with the column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from understudy.errors import BadInput

MOST_SPIKES = 200
MOST_MULTIPLES = 2_000


def check_spikes(spikes: Sequence[float], bounds: tuple[float, float], *, whole: bool) -> None:
    """Refuse single values that the declared domain does not hold.

    Args:
        spikes: The values.
        bounds: Of the column.
        whole: Whether the column holds whole numbers.
    """
    lower, upper = bounds
    if len(spikes) > MOST_SPIKES:
        raise BadInput(f"has more than {MOST_SPIKES} spikes")
    if not all(lower <= value <= upper for value in spikes):
        raise BadInput("has a spike outside its bounds")
    if whole and not all(value == math.floor(value) for value in spikes):
        raise BadInput("has a spike that is not a whole number")
    if not all(a < b for a, b in pairwise(spikes)):
        raise BadInput("needs its spikes in ascending order, each of them once")


def check_grid(grid: float, bounds: tuple[float, float], *, whole: bool) -> None:
    """Refuse a number of which the declared domain holds no multiple, or very many.

    Args:
        grid: The number.
        bounds: Of the column.
        whole: Whether the column holds whole numbers.
    """
    lower, upper = bounds
    if not math.isfinite(grid) or grid <= 0:
        raise BadInput("needs a grid above 0")
    if whole and grid != math.floor(grid):
        raise BadInput("has a grid that is not a whole number")
    # Before multiples are counted: of a tiny number there are more than can be.
    if (upper - lower) / grid > MOST_MULTIPLES + 1:
        multiples = math.inf
    else:
        multiples = math.floor(upper / grid) - math.ceil(lower / grid) + 1
    if multiples > MOST_MULTIPLES:
        raise BadInput(f"has a grid with more than {MOST_MULTIPLES:,} multiples within its bounds")
    if multiples < 1:
        raise BadInput("has a grid without any multiple within its bounds")
