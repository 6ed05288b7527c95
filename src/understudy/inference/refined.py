"""A mode from so many simulated records that simulation adds little to what is not known.

κN²Σ/M is measured, not assumed: what simulation left open at the mode, which falls like 1/M.
"""

from __future__ import annotations

import math

from understudy.inference.evidence import Evidence
from understudy.inference.mode import RECORDS, Mode, approached, find_mode
from understudy.inference.moments import MOST
from understudy.support.randomness import Source

_SHARE = 0.02
"""Share of any posterior variance that simulation may add, as far as records allow."""
_MUCH = 0.1
"""What simulation from the most records of an ordinary fit may add."""
_VERY_MANY = 2_000_000
"""Beyond that so many are simulated, for few steps. Never more: what is left open is part of the
covariance anyway."""


def refined(evidence: Evidence, mode: Mode, source: Source) -> Mode:
    """Return the mode again, from enough records.

    Args:
        evidence: What was measured.
        mode: From `RECORDS` records.
        source: Where randomness comes from.
    """
    needed = RECORDS * mode.simulation / _SHARE
    if needed <= RECORDS:
        return mode
    if _left_open(mode.simulation) > _MUCH:
        for records in (MOST // 4, _VERY_MANY):
            mode = approached(evidence, mode, source, records=records)
        return mode
    # In powers of two: kernels that simulate are compiled for a number of records.
    records = min(2 ** math.ceil(math.log2(needed)), MOST)
    return find_mode(evidence, mode.point, source, records=records, hot=False)


def _left_open(share: float) -> float:
    """Return what simulation would add to a posterior variance, relative to it, from most records.

    Args:
        share: Of a posterior variance that is due to simulation from an ordinary number of them.
    """
    return share / max(1 - share, 1e-9) * RECORDS / MOST
