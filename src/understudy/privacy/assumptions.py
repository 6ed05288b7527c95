"""What must be true for a guarantee to hold, as sentences for the person who relies on it.

The sentences follow from the mechanism and from what was asked for, never from the table: they are
published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from understudy.mechanisms import Mechanism, PerturbedHistogram
from understudy.privacy.guarantee import SEEDED, Kind


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What was asked for, as far as the assumptions depend on it."""

    mechanism: Mechanism
    kind: Kind
    draws: int
    sampler: str
    copied_predictors: bool
    """Public columns of the table are copied into the release."""
    separate_predictors: bool
    """Public columns come from another file."""
    true_size: bool
    """Rows or stages were chosen by the number of records."""
    poor_mixing_accepted: bool
    seeded: bool
    unit: str | None = None
    """The column that says which rows belong together."""
    row_is_unit: bool = False
    """The schema says that each row is protected by itself."""
    survey_weight: str | None = None
    """The column of survey weights."""
    calibrated_on: str | None = None
    """What the settings were chosen on, if on a reference: one that is public or confidential."""


def assumptions(asked: Circumstances) -> tuple[str, ...]:
    """Return the sentences, the most particular first."""
    return tuple(_sentences(asked))


def _sentences(asked: Circumstances) -> Iterator[str]:
    mechanism = asked.mechanism
    if mechanism.reason:
        yield mechanism.reason
    if asked.sampler == "nuts":
        yield from _sampling(asked)
    reference = getattr(mechanism, "reference", None)
    if reference is not None:
        yield _ORIGINS[reference.origin]
    if getattr(mechanism, "anchor", None) is not None:
        yield _RELEASED
    if asked.calibrated_on is not None:
        yield CALIBRATED_ON[asked.calibrated_on]
    if mechanism.kind is not Kind.NONE:
        yield from _circumstances(asked)
    if asked.kind.states_epsilon:
        yield "Every other release about the same people adds its own ε to this one."
    if asked.seeded:
        yield SEEDED[0].upper() + SEEDED[1:]


def _circumstances(asked: Circumstances) -> Iterator[str]:
    settings = "Size, bounds, levels and every other setting were"
    whose = "one record's confidential values"
    if asked.unit is not None:
        whose = f"the confidential values in all rows of one '{asked.unit}'"
    if asked.copied_predictors:
        yield (
            "Public columns are copied from the table, so the table's public values and the number "
            f"of its records are known and membership is not protected: add-remove means here that "
            f"{whose} are present or blank, replace-one that they change."
        )
    elif asked.separate_predictors:
        yield "The predictor rows come from a public source, and not from the confidential table."
    elif asked.true_size:
        yield (
            "No size was declared, so the release shows the number of records and membership is "
            "not protected: add-remove means here that one record's values are present or blank, "
            "replace-one that they change."
        )
    yield from _units(asked)
    if asked.survey_weight is not None:
        yield (
            f"The survey weights in '{asked.survey_weight}' are held fixed: where they were raked "
            f"or calibrated on other records, the guarantee is conditional on them."
        )
    yield f"{settings} chosen without looking at the confidential table."
    if not isinstance(asked.mechanism, PerturbedHistogram):
        yield "The model and its prior were chosen without looking at the confidential table."
    yield "Only the files under public/ are published; diagnostics and the report stay inside."


def _units(asked: Circumstances) -> Iterator[str]:
    if asked.unit is not None:
        yield (
            f"A protected person or unit is one value of '{asked.unit}': the guarantee is per "
            f"'{asked.unit}', with all its rows, and nobody appears under two of them."
        )
    elif asked.row_is_unit:
        yield (
            "The schema declares that a row is the unit: each row is protected by itself, and a "
            "person with k rows is protected k times less."
        )
    else:
        yield "Each protected person or unit has at most one record in the table."


_RELEASED = (
    "The anchor or reference is an earlier private release, or a value chosen before this table "
    "was seen; for people who are in both tables, its ε adds to this one, as firmly as it holds."
)
_ORIGINS = {
    "public": "The reference is public, and holds nothing that came from the confidential table.",
    "confidential": (
        "The reference table is confidential: its records are not protected by this ε, and the "
        "guarantee needs that nobody who is protected here is in both tables."
    ),
    "release": _RELEASED,
}

CALIBRATED_ON = {
    "public": (
        "The settings of this release were chosen on a public reference table, which holds nothing "
        "that came from the confidential table."
    ),
    "confidential": (
        "The settings of this release were chosen on a confidential reference table, whose records "
        "this ε does not cover: what the settings tell about them is not accounted for, and nobody "
        "who is protected here may be in it."
    ),
}


def _sampling(asked: Circumstances) -> Iterator[str]:
    several = asked.draws > 1
    drawn = f"the {asked.draws} draws are" if several else "the draw is"
    alone = " and of each other" if several else ""
    if asked.kind is Kind.CONDITIONAL:
        yield (
            f"The Markov chains have converged, so that {drawn} independent of their starting "
            f"points{alone}: a distance of γ in total variation from the target would add "
            f"δ = γ(1 + e^ε) for each draw, no diagnostic can prove that γ is small, and sums are "
            f"computed in double precision."
        )
    if asked.poor_mixing_accepted:
        yield (
            "Poor mixing of the chains was accepted in advance, so the usual checks of convergence "
            "were not required."
        )
    else:
        yield (
            "A run whose chains do not pass the checks of convergence is refused, and whether one "
            "was refused depends on the confidential table and can be seen from outside: that is "
            "not accounted for."
        )
