"""What a model of all columns sees of a column: one of a list of values, by its code.

Levels are codes as they are, and so are whole numbers with few values. Other numbers are told apart
by narrow public intervals of the scale

    u = (y − lower) / (upper − lower),      t = log((u + δ) / (1 − u + δ)),      δ = 0.01,

which is logarithmic near either bound, as skewed amounts want it, and even in between; within an
interval every value is equally likely. A value that may be missing has one code more, the last.

A distribution over codes can differ from an even one in some directions, which are functions of the
code. The logarithm of each code's probability is a sum of directions times coefficients, up to a
constant, so the posterior of the coefficients has one peak.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.domain.schema import Column, Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.models.balance import Floats, codes_at
from understudy.models.base import Parameter

Codes = NDArray[np.int64]

FEW = 20
"""Whole numbers with at most so many values are told apart one by one."""
OFFSET = 0.01
REACH = math.log((1 + OFFSET) / OFFSET)
"""t at the upper bound; −t at the lower."""
INTERVALS = 64
WAVES = 10
WAVE_LENGTH = 0.8
CURVE, WAVE = 5.0, 2.0
"""Widths of the line and parabola in t, and of what waves add to them."""
CONSTANT, MAIN, PAIR = 1.5, 0.5, 0.25
"""Widths of log probabilities, by the number of other variables that an effect is of."""
LARGEST_DIMENSION = 1000
_MOST_CONTRASTS = 16_000_000
"""Entries of all contrasts among levels, which are squares: one column of 4,000 levels."""
_MISSING_SHARE = 0.1
_FEATURE_DEGREE = 2


@dataclass(frozen=True, eq=False)
class Variable:
    """A column as codes, with what prior and predictions need to know about them.

    `directions` has a column for each coefficient of the log probabilities; `widths` says for each
    order of an effect (constant, main effect, pair) how wide its coefficients are, which are those
    of the leading directions.
    """

    column: Column
    base: Floats
    """Log probability of each code when all coefficients are zero, up to a constant."""
    unit: Floats
    """Log probability (or density of u) of a value, given its code."""
    directions: Floats
    widths: tuple[Floats, ...]
    features: Floats
    """By which other variables depend on this one, shape (codes, features)."""
    edges: Floats | None = None
    """Where the intervals begin and end, in the column's units; None where codes are values."""
    missing: bool = False

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def count(self) -> int:
        """How many codes there are, that of a missing value included."""
        return len(self.base)

    def read(self, columns: Columns) -> Codes:
        """Return the code of each record."""
        values = columns[self.name]
        absent = np.isnan(values) if self.column.numeric else values < 0
        if self.edges is not None:
            codes = np.searchsorted(self.edges[1:-1], values, side="right")
        else:
            codes = np.where(absent, 0, values - (self.column.lower if self.column.numeric else 0))
        return np.where(absent, self.count - 1, codes).astype(np.int64)

    def write(self, generator: np.random.Generator, codes: Codes) -> NDArray[np.generic]:
        """Return a value for each code, as a table holds it, anywhere in the code's interval."""
        places = np.zeros(len(codes)) if self.edges is None else generator.random(len(codes))
        return self.values(codes, places)

    def values(self, codes: Codes, within: Floats) -> NDArray[np.generic]:
        """Return a value for each code, so far within its interval: from 0 to 1."""
        absent = self.missing & (codes == self.count - 1)
        if not self.column.numeric:
            return np.where(absent, -1, codes)
        if self.edges is None:
            return np.where(absent, np.nan, self.column.lower + codes)
        place = np.where(absent, 0, codes)
        low, high = self.edges[place], self.edges[place + 1]
        values = low + (high - low) * within
        if self.column.whole:
            values = np.clip(np.rint(values), low + 0.5, high - 0.5)
        return np.where(absent, np.nan, values)


def variable(column: Column) -> Variable:
    """Return what the model sees of a column."""
    missing = column.missing == "model"
    if column.levels is not None:
        return _levels(column, len(column.levels) + missing, missing)
    few = column.whole and column.width < FEW
    plain = _few(column, int(column.width) + 1) if few else _number(column)
    return _with_missing(plain) if missing else plain


def shares_of(heights: ArrayLike) -> Floats:
    """Return probabilities in proportion to the exponentials of each row, up to a constant."""
    logarithms = np.asarray(heights, dtype=np.float64)
    return np.exp(logarithms - logarithms.max(axis=1, keepdims=True))


def draw_codes(generator: np.random.Generator, heights: ArrayLike, rows: Codes) -> Codes:
    """Draw a code for each record, whose row of log probabilities is named by `rows`.

    They may lack a constant, as long as it is the same for all codes of a row.
    """
    return codes_at(generator.uniform(size=len(rows)), shares_of(heights), rows)[0]


def neighbours(codes: Mapping[str, Codes], variables: Iterable[Variable]) -> list[Codes]:
    """Return the codes by which rows are neighbours: those of the fewest values first."""
    return [codes[each.name] for each in sorted(variables, key=lambda each: each.count)]


def _levels(column: Column, count: int, missing: bool) -> Variable:
    directions = contrasts(count)
    even = np.ones(count - 1)
    return Variable(
        column=column,
        base=np.zeros(count),
        unit=np.zeros(count),
        directions=directions,
        widths=(CONSTANT * even, MAIN * even, PAIR * even),
        features=directions,
        missing=missing,
    )


def _few(column: Column, count: int) -> Variable:
    directions = polynomials(np.arange(float(count)), count - 1)
    decay = np.arange(1.0, count) ** -1.5
    return Variable(
        column=column,
        base=np.zeros(count),
        unit=np.zeros(count),
        directions=directions,
        widths=(CONSTANT * decay, MAIN * decay[:4], PAIR * decay[:2]),
        features=directions[:, :_FEATURE_DEGREE],
    )


def _number(column: Column) -> Variable:
    margin = 0.5 if column.whole else 0.0
    lower, width = column.lower - margin, column.width + 2 * margin
    edges = _intervals(lower, width, column.whole)
    u = (edges - lower) / width
    ends = np.log((u + OFFSET) / (1 - u + OFFSET))
    middles = (ends[1:] + ends[:-1]) / 2
    plain = np.column_stack([middles, middles**2 / 2])
    shapes, sizes = waves(middles, WAVE_LENGTH, WAVES)
    within = np.diff(edges) if column.whole else np.diff(edges) / width
    return Variable(
        column=column,
        base=np.log(np.diff(ends) / (2 * REACH)),
        unit=-np.log(within),
        directions=np.column_stack([plain, shapes]),
        widths=(
            np.array([CURVE, CURVE, *(WAVE * sizes)]),
            MAIN * np.array([1.0, 0.5, *(0.5 * sizes[:3])]),
            PAIR * np.array([1.0]),
        ),
        features=3.0 * np.column_stack([middles, middles**2 / REACH]),
        edges=edges,
    )


def _intervals(lower: float, width: float, whole: bool) -> Floats:
    """Return the ends of the intervals, even on the scale t; those of whole numbers at halves."""
    share = (1 + 2 * OFFSET) / (1 + np.exp(-np.linspace(-REACH, REACH, INTERVALS + 1))) - OFFSET
    edges = lower + width * np.clip(share, 0.0, 1.0)
    edges[0], edges[-1] = lower, lower + width
    return np.unique(np.rint(edges - 0.5) + 0.5) if whole else edges


def _with_missing(plain: Variable) -> Variable:
    """Return the variable with one more code, of which nothing else is known."""

    def also(rows: Floats) -> Floats:
        """Put a direction of the new code's own before the others."""
        bordered = np.zeros((len(rows) + 1, rows.shape[1] + 1))
        bordered[:-1, 1:], bordered[-1, 0] = rows, 1.0
        return bordered

    total = np.log(np.exp(plain.base).sum())
    return replace(
        plain,
        base=np.append(plain.base - total, math.log(_MISSING_SHARE)),
        unit=np.append(plain.unit, 0.0),
        directions=also(plain.directions),
        widths=tuple(map(np.append, (CONSTANT, MAIN, PAIR), plain.widths)),
        features=also(plain.features),
        missing=True,
    )


def contrasts(count: int) -> Floats:
    """Return orthogonal contrasts among levels, under which every level has variance one.

    Shape (levels, levels − 1). No level is singled out as the one to compare with.
    """
    rows = np.tril(np.ones((count, count)))
    rows[np.arange(count - 1), np.arange(1, count)] = -np.arange(1.0, count)
    orthonormal = (rows / np.linalg.norm(rows, axis=1, keepdims=True))[: count - 1].T
    return orthonormal * math.sqrt(count / (count - 1))


def polynomials(points: Floats, degree: int) -> Floats:
    """Return orthogonal polynomials of degree 1, 2, ... over the points, with mean square one."""
    centred = points - points.mean()
    basis = np.ones((len(points), 1))
    for _ in range(degree):
        column = centred * basis[:, -1]
        # Freed of all before it, twice: once leaves rounding errors that add up.
        for _ in range(2):
            column = column - basis @ (basis.T @ column) / len(points)
        column *= math.sqrt(len(points)) / np.linalg.norm(column)
        basis = np.column_stack([basis, column])
    return basis[:, 1:]


def waves(points: Floats, length: float, count: int) -> tuple[Floats, Floats]:
    """Return smooth functions beyond line and parabola, and the width of each.

    They are the leading components of a Gaussian process with the given length, and of variance
    one, freed of constant, line and parabola. Shapes (points, count) and (count,).
    """
    nearness = np.exp(-((points[:, None] - points) ** 2) / (2 * length**2))
    plain = np.column_stack([np.ones(len(points)), polynomials(points, 2)]) / math.sqrt(len(points))
    rest = np.eye(len(points)) - plain @ plain.T
    variances, functions = np.linalg.eigh(rest @ nearness @ rest)
    leading = np.argsort(variances)[::-1][:count]
    functions = functions[:, leading]
    # The sign of an eigenvector is the library's whim; a release must mean the same everywhere.
    # Like a Legendre polynomial, each of them is far from zero at the ends.
    functions *= np.sign(functions[-1])
    root = math.sqrt(len(points))
    return functions * root, np.sqrt(variances[leading]) / root


def check_columns(model: str, schema: Schema, least: int) -> None:
    """Refuse columns of which nothing or too much would have to be built; nothing is built yet.

    `least` is a number of parameters that the model has in any case. A schema may come from a
    published file, in which a few lines declare a great many columns or levels.
    """
    if not schema.confidential:
        raise BadInput(f"the {model} model needs a confidential column, but the schema has none.")
    _check_dimension(model, least, "at least ")
    columns = (*schema.public, *schema.confidential)
    widest = max(columns, key=lambda column: len(column.levels or ()))
    if sum(len(column.levels or ()) ** 2 for column in columns) > _MOST_CONTRASTS:
        raise BadInput(
            f"these columns have too many levels for the {model} model, '{widest.name}' alone "
            f"{len(widest.levels or ()):,}: declare fewer, or leave columns out with the role "
            f"'ignore'."
        )


def check_size(model: str, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return the parameters, unless there are too many for a chain, or two of one name."""
    _check_dimension(model, sum(math.prod(parameter.shape) for parameter in parameters))
    repeated = [n for n, times in Counter(p.name for p in parameters).items() if times > 1]
    if repeated:
        raise BadInput(
            f"the columns' names make two parameters of the {model} model '{repeated[0]}': rename "
            f"a column."
        )
    return parameters


def _check_dimension(model: str, dimension: int, words: str = "") -> None:
    if dimension > LARGEST_DIMENSION:
        raise BadInput(
            f"the {model} model of these columns has {words}{dimension:,} parameters, more than "
            f"{LARGEST_DIMENSION:,}: declare fewer levels, or leave columns out with the role "
            f"'ignore'."
        )
