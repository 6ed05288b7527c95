"""Which settings are tried: every mechanism that can be released period after period.

Weighted and weighted-e promise no number and cannot be charged to a ledger. censor-w promises one
where its weights are fixed before the table is seen; a public reference gives such weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from understudy.errors import BadInput, nearest
from understudy.privacy.guarantee import check_epsilon

if TYPE_CHECKING:
    from understudy.domain.schema import Schema
    from understudy.models.base import Model

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
THRESHOLDS = (1.0, 1.5, 2.0, 4.0)
"""Below 1 a draw now and then lands far off, too seldom for a few draws to show it."""
WEIGHTS = ((1.0, 0.0), (0.8, 0.0), (0.8, 0.2), (0.5, 0.5))
MECHANISMS = ("anchored", "censor-uw", "censor-w", "ph")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A mechanism with its settings, as a policy holds them."""

    mechanism: str
    epsilon: float
    threshold: float | None = None
    c1: float | None = None
    c2: float | None = None

    def __str__(self) -> str:
        options = {"T": self.threshold, "c₁": self.c1, "c₂": self.c2}
        given = ", ".join(
            f"{name} = {value:g}" for name, value in options.items() if value is not None
        )
        return f"{self.mechanism}{', ' if given else ''}{given}"


def settings(
    schema: Schema,
    model: Model | None,
    *,
    public: bool,
    epsilons: Sequence[float] = EPSILONS,
    mechanisms: Sequence[str] | None = None,
) -> tuple[Setting, ...]:
    """Return the settings to try, cheapest ε first."""
    asked = MECHANISMS if mechanisms is None else tuple(mechanisms)
    for name in asked:
        if name not in MECHANISMS:
            raise BadInput(
                f"'{name}' cannot be calibrated{nearest(name, MECHANISMS)}: a policy can have the "
                f"mechanism {', '.join(MECHANISMS)}, whose guarantee states an ε."
            )
    chosen = tuple(
        setting
        for epsilon in sorted({check_epsilon(e) for e in epsilons})
        for name in asked
        if _possible(name, schema, model, public, stated=mechanisms is not None)
        for setting in _of(name, epsilon)
    )
    if not chosen:
        raise BadInput("there is nothing to try: name a model, a mechanism and an ε.")
    return chosen


def _of(name: str, epsilon: float) -> Iterator[Setting]:
    if name == "anchored":
        for threshold in THRESHOLDS:
            yield Setting(mechanism=name, epsilon=epsilon, threshold=threshold)
    elif name == "censor-w":
        for c1, c2 in WEIGHTS:
            yield Setting(mechanism=name, epsilon=epsilon, c1=c1, c2=c2)
    else:
        yield Setting(mechanism=name, epsilon=epsilon)


def _possible(
    name: str, schema: Schema, model: Model | None, public: bool, *, stated: bool
) -> bool:
    """Whether a mechanism can serve; one that was asked for by name says why it cannot."""
    from understudy.mechanisms.histogram import histogram_column

    if name == "ph":
        try:
            histogram_column(schema)
        except BadInput:
            if stated:
                raise
            return False
        if schema.public and stated:
            raise BadInput("ph synthesises one column alone, but the schema has public ones.")
        return not schema.public
    if model is None:
        if stated:
            raise BadInput(f"the mechanism {name} needs `model`.")
        return False
    if name == "censor-w" and not public:
        if stated:
            raise BadInput(
                "censor-w takes its weights from the reference, which has to be public for that."
            )
        return False
    return True
