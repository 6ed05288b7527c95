"""What must be true for a guarantee to hold, as sentences for the person who relies on it.

They follow from what was asked for, never from the table: they are published.
"""

from __future__ import annotations

from collections.abc import Iterator

from understudy.privacy.guarantee import Kind

ADDS_UP = "Every other release about the same people adds its own ε to this one."
ADDS_UP_WITH_DELTA = (
    "Every other release about the same people adds its own ε, and its own δ, to these; a ledger "
    "with a δ adds up ρ instead, which comes to less."
)
NORMAL_NOISE = (
    "The noise is normal, so no ε holds without a δ, and the smaller δ, the larger ε; ρ states all "
    "such pairs at once. δ is by how much one record can change a probability beyond the factor "
    "that ε allows, and should be far below one over the number of records."
)
SETTINGS = (
    "Size, bounds, levels and every other setting were chosen without looking at the confidential "
    "table."
)
MODEL = (
    "The model and its prior were chosen without looking at the confidential table, and what it "
    "says of a record depends on no other record."
)
PUBLIC_FILES = "Only the files under public/ are published; diagnostics and the report stay inside."
BALANCED = (
    "The rows are balanced (systematic sampling): their distributions are less noisy than those of "
    "independent rows, so combining rules, standard errors and tests that assume independent rows "
    "do not apply to them."
)

MEASURED_ONCE = (
    "Noise was added once, to the sums in parameters.json: parameters, rows and whatever else is "
    "computed from these sums, by anybody and as often as they like, adds nothing to ε."
)

ORIGINS = {
    "public": "The reference is public, and holds nothing that came from the confidential table.",
    "confidential": (
        "The reference table is confidential: its records are not protected by this ε, and the "
        "guarantee needs that nobody who is protected here is in both tables."
    ),
    "release": (
        "The anchor or reference is an earlier private release, or a value chosen before this "
        "table was seen; for people who are in both tables, its ε adds to this one, as firmly as "
        "it holds."
    ),
    "carried": (
        "The prior is what an earlier release knew of the parameters: estimates and draws assume "
        "that these have not changed since, and that the two tables tell of them independently. "
        "ε does not depend on it."
    ),
}
"""Where a mechanism has learned something from."""

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


def chains(kind: Kind, draws: int, *, accept_poor_mixing: bool) -> Iterator[str]:
    """Yield what draws by Markov chains rest on."""
    several = draws > 1
    drawn = f"the {draws} draws are" if several else "the draw is"
    alone = " and of each other" if several else ""
    if kind is Kind.CONDITIONAL:
        yield (
            f"The Markov chains have converged, so that {drawn} independent of their starting "
            f"points{alone}: a distance of γ in total variation from the target would add "
            f"δ = γ(1 + e^ε) for each draw, no diagnostic can prove that γ is small, and sums are "
            f"computed in double precision."
        )
    if accept_poor_mixing:
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


def copied_predictors(unit: str | None) -> str:
    """Return what follows where public columns of the table are copied into the release."""
    whose = "one record's confidential values"
    if unit is not None:
        whose = f"the confidential values in all rows of one '{unit}'"
    return (
        "Public columns are copied from the table, so the table's public values and the number "
        f"of its records are known and membership is not protected: add-remove means here that "
        f"{whose} are present or blank, replace-one that they change."
    )


SEPARATE_PREDICTORS = (
    "The predictor rows come from a public source, and not from the confidential table."
)
TRUE_SIZE = (
    "No size was declared, so the release shows the number of records and membership is not "
    "protected: add-remove means here that one record's values are present or blank, replace-one "
    "that they change."
)


def protected(unit: str | None, *, row_is_unit: bool) -> str:
    """Return whom the guarantee is about."""
    if unit is not None:
        return (
            f"A protected person or unit is one value of '{unit}': the guarantee is per "
            f"'{unit}', with all its rows, and nobody appears under two of them."
        )
    if row_is_unit:
        return (
            "The schema declares that a row is the unit: each row is protected by itself, and a "
            "person with k rows is protected k times less."
        )
    return "Each protected person or unit has at most one record in the table."


def survey_weights(column: str) -> str:
    """Return what survey weights rest on."""
    return (
        f"The survey weights in '{column}' are held fixed: where they were raked or calibrated on "
        f"other records, the guarantee is conditional on them."
    )
