"""What a release promises: how much, how firmly, to whom, and on which assumptions.

One draw of θ from the equation of `score.py`, with weights and offsets that are functions of the
record alone and a prior that does not depend on the table, is

    2B-differentially private   when neighbouring tables differ by one record added or removed,
    4B-differentially private   when they differ by one record replaced,

for tables of any size. Adding record x multiplies the unnormalised density by exp(s_θ(x)) and the
normalising constant by an average of the same factor; both lie in [exp(−B), exp(B)], so the ratio
of the densities lies in [exp(−2B), exp(2B)]. Replacing a record is a removal and an addition.
Neither constant can be improved.

With normal noise no ε holds alone. (ε, δ)-differential privacy says of every set of outcomes that

    P(outcome in the set)  ≤  e^ε · P(the same for a neighbour)  +  δ,

so that a factor bounds all but a remainder of at most δ. Such a promise is as strict as a pure one:
it holds by a theorem and exact arithmetic, with the δ that it states.

So ε means nothing without its neighbour relation, and a `Guarantee` always states it under both.

The theorem is about a draw from the equation. Exact draws are that, to the last bit. A draw by
Markov chains is not: at a distance of γ in total variation from its target it costs δ = γ(1 + e^ε)
more, and no diagnostic can prove that γ is small. Its guarantee is `conditional`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from understudy.errors import BadInput
from understudy.privacy.rounding import at_most, factor_at_most, plain
from understudy.support.html import bullets, html_table, paragraph

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 1e6
"""Beyond these, noise and bounds leave the range in which they mean anything."""


class Adjacency(StrEnum):
    """When two tables count as neighbours. Defined here, and nowhere else."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def parse(cls, text: str) -> Adjacency:
        """Read an adjacency by its name.

        Args:
            text: "add-remove" or "replace-one"; anything else is refused.
        """
        try:
            return cls(text)
        except ValueError:
            known = " or ".join(f"'{adjacency}'" for adjacency in cls)
            raise BadInput(f"`adjacency` must be {known}, not {text!r}.") from None

    @property
    def steps(self) -> int:
        """Additions and removals that lead from a table to its neighbour."""
        return 1 if self is Adjacency.ADD_REMOVE else 2


class Kind(StrEnum):
    """How firmly a guarantee holds."""

    STRICT = "strict"
    CONDITIONAL = "conditional"
    ASYMPTOTIC = "asymptotic"
    NONE = "none"

    @property
    def states_epsilon(self) -> bool:
        """Whether a number is promised: such a guarantee can be charged, and adds up."""
        return self in (Kind.STRICT, Kind.CONDITIONAL)

    @property
    def meaning(self) -> str:
        """What it means, in the words of every file and page."""
        return _MEANINGS[self]


class Weights(StrEnum):
    """Where the record weights come from: it decides whether censoring is enough."""

    NONE = "none"
    RECORD_FUNCTION = "record-function"
    SAME_DATA = "same-data"


def check_epsilon(epsilon: object) -> float:
    """Return ε as a float if it is a positive finite number, and refuse it otherwise."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        raise BadInput(f"`epsilon` must be a positive number, not {epsilon!r}.")
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise BadInput(
            f"`epsilon` must be a positive number from {SMALLEST_EPSILON:g} to "
            f"{LARGEST_EPSILON:g}, not {epsilon!r}."
        )
    return float(epsilon)


def bound_for(*, epsilon: float, adjacency: Adjacency) -> float:
    """Return the censoring bound B at which one draw costs ε under the given adjacency."""
    return epsilon / (2 * adjacency.steps)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A release's promise, in the form in which it is published."""

    mechanism: str
    """Name of the mechanism that made the release."""
    kind: Kind
    """How firmly it holds."""
    asked: Adjacency
    """The adjacency under which the user stated ε."""
    epsilon: dict[Adjacency, float] | None
    """ε under each adjacency; None unless `kind` is strict or conditional: an asymptotic mechanism
    has no number that holds for the table at hand. Not pure, but at `delta`, where that is
    positive."""
    draws: int
    """How many draws of θ were released."""
    weights: Weights
    """Where the record weights come from."""
    sampler: str
    """How θ was drawn: `exact`, `nuts`, or as the mechanism names it."""
    assumptions: tuple[str, ...]
    """What it rests on, and how to read it, in sentences."""
    seeded: bool
    """Whether the randomness can be replayed, which voids the promise."""
    rows: int
    """Rows of each synthetic table."""
    rho: dict[Adjacency, float] | None = None
    """The same as zero-concentrated differential privacy, which composes better over many draws."""
    membership: bool = True
    """Whether taking part is protected; not where the release shows who or how many take part."""
    accept_poor_mixing: bool = False
    """Whether it was accepted in advance that chains may not have converged."""
    stages: int = 1
    """In how many stages each θ was drawn; of a summary, in how many rounds sums were measured."""
    measured_once: bool = False
    """Whether every θ was computed from noisy sums that were measured once, so that ε is that of
    the sums, however many θ there are."""
    charged: str | None = None
    """The ledger's entry that paid for the release."""
    period: str | None = None
    """What time the release is about, where it is one of several."""
    population: str | None = None
    """Who is protected, in the words of the ledger."""
    unit: str | None = None
    """The column whose values are protected with all their rows; None where a row is a record."""
    delta: float | None = None
    """δ: of a strict guarantee 0 unless said otherwise; None where no number can be claimed."""

    def __post_init__(self) -> None:
        if self.delta and self.kind is not Kind.STRICT:
            raise ValueError("only a strict guarantee states delta")
        pure = 0.0 if self.kind is Kind.STRICT else None
        object.__setattr__(self, "delta", self.delta or pure)
        if (self.epsilon is not None) != self.kind.states_epsilon:
            raise ValueError("a guarantee states epsilon exactly when it is strict or conditional")
        if self.kind is Kind.STRICT and (self.sampler == "nuts" or self.accept_poor_mixing):
            raise ValueError("a draw by Markov chains is never strict")

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of `guarantee.json`."""
        stated = self.epsilon or {}
        return {
            "mechanism": self.mechanism,
            "kind": str(self.kind),
            "epsilon": {str(adjacency): stated.get(adjacency) for adjacency in Adjacency},
            "rho": {str(adjacency): (self.rho or {}).get(adjacency) for adjacency in Adjacency},
            "asked_under": str(self.asked),
            "delta": self.delta,
            "draws": self.draws,
            "stages": self.stages,
            "weights": str(self.weights),
            "sampler": self.sampler,
            "assumptions": list(self.assumptions),
            "unit": self.unit,
            "membership_protected": self.membership and self.epsilon is not None,
            "convergence_waived": self.accept_poor_mixing,
            "seeded": self.seeded,
            "charged": self.charged,
            "period": self.period,
            "population": self.population,
            "rows": self.rows,
        }

    @property
    def headline(self) -> str:
        """The promise in a few sentences, with whatever voids it in front."""
        warning = f"NOT FOR RELEASE: {SEEDED} " if self.seeded else ""
        return warning + (self._promise() if self.epsilon else _UNSTATED[self.kind].format(self))

    @property
    def changes(self) -> dict[Adjacency, str]:
        """What neighbouring tables differ by, in words that follow 'when'."""
        what = "one record" if self.unit is None else f"all rows of one '{self.unit}'"
        if not self.membership:
            values = "confidential values"
            what = f"{what}'s {values}" if self.unit is None else f"the {values} in {what}"
        verb = "is" if self.unit is None and self.membership else "are"
        gone = "added or removed" if self.membership else "blanked"
        return {
            Adjacency.ADD_REMOVE: f"{what} {verb} {gone}",
            Adjacency.REPLACE_ONE: f"{what} {verb} replaced",
        }

    def _promise(self) -> str:
        stated = self.epsilon or {}
        added, replaced = stated[Adjacency.ADD_REMOVE], stated[Adjacency.REPLACE_ONE]
        when, changed = self.changes.values()
        part = "by taking part" if self.membership else "by providing them"
        who = "one record" if self.unit is None else f"one '{self.unit}'"
        both = rest = ""
        if self.delta:
            both = f", both with δ = {plain(self.delta)}"
            rest = f", apart from a remainder of at most {plain(self.delta)} that no factor bounds"
        return (
            f"{self._opening()} ε = {at_most(added)} when {when}, and ε = {at_most(replaced)} when "
            f"{changed}{both}. Whatever is concluded from this release, {who} can have changed its "
            f"probability by a factor of at most {factor_at_most(added)} {part}, or "
            f"{factor_at_most(replaced)} by having other values{rest}."
        )

    def _opening(self) -> str:
        if self.kind is Kind.STRICT:
            return f"Strict {'(ε, δ)-' if self.delta else ''}differential privacy with"
        asked = at_most((self.epsilon or {})[self.asked])
        unchecked = ", WHICH WAS NOT REQUIRED OF THEM" if self.accept_poor_mixing else ""
        return (
            f"ε = {asked}, provided that the Markov chains have converged{unchecked}. If they have,"
        )

    @property
    def origin(self) -> tuple[str, str]:
        """Where the parameters come from: what to call that, and the answer."""
        if not self.measured_once:
            stages = f", each in {self.stages} stages" if self.stages > 1 else ""
            return "Draws of the parameters", f"{self.draws:,}{stages}"
        rounds = "one round" if self.stages == 1 else f"{self.stages} rounds"
        given = "one estimate" if self.draws == 1 else f"{self.draws:,} draws"
        return "Parameters", f"{given} from noisy sums, which were measured once, in {rounds}"

    def _facts(self) -> list[tuple[str, object]]:
        return [
            *([] if self.period is None else [("Period", self.period)]),
            *([] if self.population is None else [("Population", self.population)]),
            ("Kind", f"{self.kind} ({self.kind.meaning})"),
            ("Mechanism", self.mechanism),
            self.origin,
            ("Rows in each synthetic table", self.rows),
            ("Ledger", self.charged or "not charged to any ledger"),
        ]

    @property
    def _reading(self) -> str:
        return "What this rests on, and how to read it:" if self.epsilon else "What to know:"

    def __str__(self) -> str:
        """The contents of `guarantee.txt`: the promise in plain words."""
        facts = [f"{name}: {fact}" for name, fact in self._facts()]
        sentences = [f"  - {sentence}" for sentence in self.assumptions]
        return "\n".join([self.headline, "", *facts, "", self._reading, *sentences]) + "\n"

    def _repr_html_(self) -> str:
        promise = paragraph(self.headline) + html_table(self._facts())
        return promise + paragraph(self._reading) + bullets(self.assumptions)


SEEDED = (
    "a fixed seed was used, so the run is reproducible and anyone who knows the seed can undo the "
    "noise; run it again without a seed before anything is published."
)

_MEANINGS = {
    Kind.STRICT: "ε holds by a theorem and exact arithmetic",
    Kind.CONDITIONAL: "ε holds, provided that the Markov chains have converged",
    Kind.ASYMPTOTIC: "no ε holds for the table at hand, only in the limit of ever larger tables",
    Kind.NONE: "nobody is protected",
}

_UNSTATED = {
    Kind.ASYMPTOTIC: (
        "No strict guarantee: the paper calls {0.mechanism} asymptotically differentially private, "
        "but no ε holds for this table, and one record can move this release by much."
    ),
    Kind.NONE: (
        "No privacy guarantee: {0.mechanism} draws from the ordinary posterior, which protects "
        "nobody."
    ),
}
