"""What the paper did and printed: the design of its study, its labels and its tables.

J. Hu, M. R. Williams and T. D. Savitsky, Mechanisms for Global Differential Privacy under Bayesian
Data Synthesis. Every number in this file is theirs.
"""

from __future__ import annotations

from typing import NamedTuple

N = 2000
"""Records in each table of the simulation."""
SHAPES = (0.5, 3.0)
"""The tables come from this Beta distribution."""
EPSILONS = (5.0, 4.0, 3.0)
DOWNSCALED_C1 = 0.8
DOWNSCALED_EPSILON = 4.0
REPLICATES = 100

ILLUSTRATION_SHAPES = (0.5, 2.0)
ILLUSTRATION_EPSILON = 1.6

APPLICATION_N = 1601
APPLICATION_EPSILON = 5.0

LABELS = {
    "data": "Data",
    "unweighted": "Unweighted",
    "weighted": "Weighted (aDP)",
    "weighted-e": "Weighted-e (aDP)",
    "censor-w": "Censor_w (DP)",
    "censor-uw": "Censor_uw (DP)",
    "ph": "PH (DP)",
}
"""What the paper calls each synthesiser, in the order of its figures."""


class Counts(NamedTuple):
    """A row of Table 1 or of the supplement's table: records that were truncated or censored."""

    minimum: float
    q1: float
    median: float
    mean: float
    q3: float
    maximum: float
    sd: float


TABLE_1 = {
    ("weighted-e", 5.0): Counts(0, 0, 0, 29, 55, 166, 48.80),
    ("censor-w", 5.0): Counts(0, 0, 0, 110, 260, 341, 129.59),
    ("censor-uw", 5.0): Counts(196, 236, 244, 247, 255, 296, 17.44),
    ("weighted-e", 4.0): Counts(0, 130, 219, 195, 272, 364, 103.48),
    ("censor-w", 4.0): Counts(0, 404, 425, 408, 440, 549, 92.56),
    ("censor-uw", 4.0): Counts(340, 398, 419, 419, 435, 481, 26.73),
    ("weighted-e", 3.0): Counts(400, 536, 574, 573, 618, 684, 60.62),
    ("censor-w", 3.0): Counts(655, 715, 741, 741, 763, 831, 35.66),
    ("censor-uw", 3.0): Counts(737, 787, 806, 809, 829, 888, 32.85),
}
"""By mechanism and ε, from 100 replicates with 2000 records each."""

SUPPLEMENT_TABLE = {
    ("weighted-e", 1.0): TABLE_1["weighted-e", 4.0],
    ("censor-w", 1.0): TABLE_1["censor-w", 4.0],
    ("weighted-e", 0.8): Counts(0, 0, 93, 91, 165, 269, 86.49),
    ("censor-w", 0.8): Counts(0, 0, 0, 144, 328, 413, 165.66),
}
"""By mechanism and c₁, at ε = 4."""

UNWEIGHTED_LIPSCHITZ = (7.5, 15.0)
WEIGHTED_LIPSCHITZ = (2.0, 3.5)
"""Ranges that section 4.2 gives in words ("around")."""

TABLE_2_COLUMNS = ("data", "weighted", "weighted-e", "censor-w", "censor-uw", "ph")
_TABLE_2 = {
    "lipschitz_bound": (None, 2.62, 2.61, 2.50, 2.50, None),
    "epsilon": (None, 5.24, 5.22, 5.00, 5.00, 5.00),
    "max_ecdf": (None, 0.0656, 0.1020, 0.0968, 0.1350, 0.1310),
    "avg_ecdf": (None, 0.0011, 0.0025, 0.0026, 0.0039, 0.0057),
    "mean": (91019, 92994, 89525, 88581, 88840, 93654),
    "median": (80000, 80135, 76451, 75642, 75211, 91180),
    "q15": (51000, 44303, 40574, 41142, 38107, 30108),
    "q90": (150000, 162351, 158037, 158426, 162686, 163872),
}
TABLE_2: dict[str, dict[str, float | None]] = {
    statistic: dict(zip(TABLE_2_COLUMNS, row, strict=True)) for statistic, row in _TABLE_2.items()
}
"""By statistic and synthesiser, the data among them."""
