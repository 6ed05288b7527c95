"""Which settings are tried: every mechanism that can be released period after period.

Weighted and weighted-e promise no number and cannot be charged to a ledger. censor-w promises one
where its weights are fixed before the table is seen; a public reference gives such weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.domain.schema import Schema
from understudy.errors import BadInput, nearest
from understudy.mechanisms import BY_NAME
from understudy.models.base import Model
from understudy.privacy.guarantee import check_epsilon

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


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


def calibrated_names() -> tuple[str, ...]:
    """Return the names of the mechanisms that can be calibrated."""
    return tuple(sorted(name for name, mechanism in BY_NAME.items() if mechanism.trials()))


def settings(
    schema: Schema,
    model: Model | None,
    *,
    public: bool,
    epsilons: Sequence[float] = EPSILONS,
    mechanisms: Sequence[str] | None = None,
) -> tuple[Setting, ...]:
    """Return the settings to try, cheapest ε first.

    A mechanism that cannot serve is left out, unless it was asked for by name: then it says why.
    """
    known = calibrated_names()
    asked = known if mechanisms is None else tuple(mechanisms)
    for name in asked:
        if name not in known:
            raise BadInput(
                f"'{name}' cannot be calibrated{nearest(name, known)}: a policy can have the "
                f"mechanism {', '.join(known)}, whose guarantee states an ε."
            )
    serving = [name for name in asked if _serves(name, schema, model, public, mechanisms)]
    chosen = tuple(
        Setting(mechanism=name, epsilon=epsilon, **options)
        for epsilon in sorted({check_epsilon(each) for each in epsilons})
        for name in serving
        for options in BY_NAME[name].trials()
    )
    if not chosen:
        raise BadInput("there is nothing to try: name a model, a mechanism and an ε.")
    return chosen


def _serves(
    name: str,
    schema: Schema,
    model: Model | None,
    public: bool,
    stated: Sequence[str] | None,
) -> bool:
    try:
        BY_NAME[name].check_serves(schema, model, public=public)
    except BadInput:
        if stated is not None:
            raise
        return False
    return True
