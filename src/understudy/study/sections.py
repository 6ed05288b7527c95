"""The order of the page: the paper's sections, with their figures and tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A section of the paper, and what it shows, by name."""

    id: str
    title: str
    lead: str
    shows: tuple[str, ...]


ILLUSTRATION, UTILITY = "illustration", "utility"
TABLE_1, SUPPLEMENT_TABLE = "table-1", "table-supplement"

BEFORE_APPLICATION = (
    Section(
        "censoring",
        "Section 3: What censoring does",
        "Censoring bounds what one record can contribute, at the price of a distorted posterior.",
        (ILLUSTRATION,),
    ),
    Section(
        "privacy",
        "Section 4.2: Privacy",
        "The Lipschitz bound of a table is the most that any record contributes to the "
        "log-likelihood at any draw; twice the bound is the table’s local ε.",
        ("lipschitz", TABLE_1),
    ),
    Section(
        "utility",
        "Section 4.3: Utility",
        "How far the synthetic tables lie from the confidential ones: by the largest (max-ECDF) "
        "and the mean squared (avg-ECDF) difference of their distribution functions, and by "
        "statistics that people compute.",
        ("max-ecdf", "avg-ecdf", "median-at-5", UTILITY),
    ),
    Section(
        "downscaling",
        "Section 4.4: Downscaling",
        "Multiplying all weights by c₁ = 0.8 brings the bounds below the target, so that fewer "
        "records have to be truncated or censored.",
        ("downscaling-lipschitz", "downscaling-avg-ecdf", "downscaling-q15"),
    ),
)
AFTER_APPLICATION = (
    Section(
        "supplement-privacy",
        "Supplement 3: More on privacy and utility",
        "The figures that the text of sections 4.2 and 4.3 refers to.",
        ("lipschitz-unweighted", "q15-at-5", "q90-at-5", "q15", "q90", "median", "mean"),
    ),
    Section(
        "supplement-downscaling",
        "Supplement 4: More on downscaling",
        "The table and the figures that the text of section 4.4 refers to.",
        (
            SUPPLEMENT_TABLE,
            *(f"downscaling-{each}" for each in ("max-ecdf", "mean", "median", "q90")),
        ),
    ),
)
