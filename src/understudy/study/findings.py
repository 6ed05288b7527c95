"""What a statement of the paper comes to in this run: it agrees, it differs, or it stays open.

Arms are compared replicate by replicate, on the same tables, so that what the tables have in common
cancels out. A difference counts from three standard errors on. A statement that is neither borne
out nor contradicted stays open, and so does one that few replicates do not bear out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from understudy.study import paper
from understudy.study.arms import Results, TwoArms, Values
from understudy.study.tables import ENOUGH

_ERRORS = 3.0
_SMALL = 0.1
"""A change by less than this share, if it is no more than chance, is no change."""


class Agreement(StrEnum):
    """What became of a statement."""

    AGREES = "Agrees"
    DIFFERS = "Differs"
    OPEN = "Open"


@dataclass(frozen=True)
class Finding:
    """One statement, with the numbers that decide it."""

    agreement: Agreement
    written: str
    """In brackets are the words for a statement that agrees and, after a bar, those for one that
    does not: "the count [rises|does not rise]"."""
    reason: str | None = None
    """Why it differs from the paper, where that is known."""

    @property
    def text(self) -> str:
        """The statement in the words that its agreement asks for."""
        chosen = r"\1" if self.agreement is Agreement.AGREES else r"\2"
        return re.sub(r"\[(.*?)\|(.*?)\]", chosen, self.written)

    @property
    def statement(self) -> str:
        """The statement as a sentence of its own."""
        return _sentence(self.text)

    @property
    def sentence(self) -> str:
        """The statement with its reason."""
        if self.agreement is not Agreement.DIFFERS:
            return self.statement
        reason = f", because {self.reason}" if self.reason else "; no reason is known"
        return _sentence(self.text + reason)


@dataclass(frozen=True)
class Verdict:
    """Everything that is said about one table or figure."""

    findings: tuple[Finding, ...]
    beyond: str = ""
    """What this run shows that the paper does not."""


class Order(StrEnum):
    """How one arm lies to another."""

    LOWER = "lower"
    HIGHER = "higher"
    EQUAL = "equal"
    """Not to be told apart, and not far apart."""
    UNCLEAR = "unclear"
    """Not to be told apart, for want of replicates."""


def compare(first: Values, second: Values) -> Order:
    """Say how the first values lie to the second, taken on the same tables."""
    if first.size < ENOUGH:
        return Order.UNCLEAR
    shifts = first - second
    shift, error = float(shifts.mean()), float(shifts.std(ddof=1)) / math.sqrt(shifts.size)
    if abs(shift) > _ERRORS * error:
        return Order.LOWER if shift < 0 else Order.HIGHER
    return Order.EQUAL if abs(shift) <= _SMALL * abs(float(second.mean())) else Order.UNCLEAR


def expect_lower(results: Results, orders: Sequence[Order]) -> Agreement:
    """Judge "the first is lower than the second", for each of several pairs."""
    if set(orders) == {Order.LOWER}:
        return Agreement.AGREES
    contrary = {Order.HIGHER}
    if results.replicates >= paper.REPLICATES:
        contrary.add(Order.EQUAL)
    return Agreement.DIFFERS if contrary & set(orders) else Agreement.OPEN


def expect_lower_means(results: Results, pairs: Sequence[TwoArms]) -> Agreement:
    """Judge "the mean of the first is lower than that of the second", for each of several pairs.

    For quantities that hardly vary by chance from one arm to another, such as counts and bounds.
    """
    if all(first.mean() < second.mean() for first, second in pairs):
        return Agreement.AGREES
    return expect_lower(results, [compare(*pair) for pair in pairs])


def expect_not_higher(results: Results, pairs: Iterable[TwoArms]) -> Agreement:
    """Judge "the median of the first is not above that of the second", for each of several pairs.

    Medians may change places by chance where the arms cannot be told apart; that is still not
    above, unless there are too few replicates to say so.
    """
    wrong = [pair for pair in pairs if np.median(pair[0]) > np.median(pair[1])]
    if any(compare(*pair) is Order.HIGHER for pair in wrong):
        return Agreement.DIFFERS
    return Agreement.OPEN if wrong and results.replicates < ENOUGH else Agreement.AGREES


def expect(holds: bool, over: Results | None = None) -> Agreement:
    """Judge a statement that either holds or not; one over results means nothing of too few."""
    if over is not None and over.replicates < ENOUGH:
        return Agreement.OPEN
    return Agreement.AGREES if holds else Agreement.DIFFERS


def number(value: float) -> str:
    """Write a number with three digits, and without a power of ten."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = 2 - math.floor(math.log10(abs(value)))
    return f"{value:,.{min(max(decimals, 0), 6)}f}"


def numbers(values: Iterable[float]) -> str:
    """Write several numbers."""
    return ", ".join(number(value) for value in values)


def _sentence(text: str) -> str:
    """Return the text with a capital, unless it begins with a name, and a full stop."""
    named = text.startswith("max-ECDF")
    return f"{text if named else text[0].upper() + text[1:]}."
