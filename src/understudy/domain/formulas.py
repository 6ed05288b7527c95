"""Formulas that may be evaluated: known columns, arithmetic and known functions, nothing else.

formulaic evaluates the terms of a formula as Python. A formula may come from a published file or
from somebody else's notes, so what formulaic would evaluate, to the letter, is read as a syntax
tree first, and refused unless it is made of these parts alone.

For the same reason nothing is built that has not been counted before. A few characters can ask for
a spline with a thousand million columns, or for every interaction of thirty predictors: terms are
counted before a formula is expanded, and columns before any of them is computed.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from understudy.domain.column import Column
from understudy.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

_LARGE_POWER = re.compile(r"(\*\*|\^)[\s(]*\d\d")
_LARGEST_POWER = 9
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
STATELESS = frozenset(
    {"C", "I", "exp", "exp10", "exp2", "log", "log10", "log2"}
    | {f"np.{name}" for name in ("abs", "exp", "expm1", "log", "log10", "log1p", "log2", "sqrt")}
)
"""Functions of one value at a time."""
STATEFUL = frozenset({"bs", "center", "cc", "cr", "cs", "poly", "scale"})
"""Functions with constants (a mean, a basis) that are learned from the rows they first see."""
FUNCTIONS = STATELESS | STATEFUL
LONGEST = 10_000
"""Characters of a formula."""
LARGEST_WIDTH = 1000
"""Columns of a design, as many as parameters of a model of whole tables."""
_MOST_TERMS = 10_000
"""Terms before those that are the same are put together: `(a + b)**9` begins with 512."""
_LARGEST_COUNT = 100
_COUNTS = {
    "bs": ("df", "knots", "degree"),
    "cc": ("df", "knots"),
    "cr": ("df", "knots"),
    "cs": ("df", "knots"),
    "poly": ("degree",),
}
"""Arguments after the first that say how many columns a function makes, in their order."""
_CUBIC = 3
"""Columns of a spline, or more, if its arguments say nothing else."""


class Extent(NamedTuple):
    """How many columns a predictor makes as it is, and how many as a category."""

    columns: int
    values: int


def extent(column: Column, points: int) -> Extent:
    """Return the extent of a declared column, of which that many public points are looked at."""
    if column.levels is not None:
        return Extent(len(column.levels), len(column.levels))
    return Extent(1, min(int(column.width) + 1, points) if column.whole else points)


def formula_frame(coded: Mapping[str, Any], declared: Sequence[Column], rows: int) -> pd.DataFrame:
    """Return coded columns as formulaic takes them: numbers, and categories of declared levels."""
    import pandas as pd

    frame = pd.DataFrame(index=range(rows))
    for column in declared:
        values = coded[column.name]
        frame[column.name] = (
            values
            if column.levels is None
            else pd.Categorical.from_codes(values, pd.Index(column.levels))
        )
    return frame


def sides(formula: str) -> tuple[Any, Any]:
    """Return both sides of a formula, None for one that is not there; nothing is evaluated yet."""
    from formulaic import Formula
    from formulaic.parser import DefaultFormulaParser

    check_length(formula)
    if _LARGE_POWER.search(formula):
        raise _power_too_large(formula)
    with refusing(formula):
        _check_terms(formula, DefaultFormulaParser().get_ast(formula))
        read = Formula(formula)
    found = (getattr(read, "lhs", None), getattr(read, "rhs", None))
    return found if not any(isinstance(side, tuple) for side in found) else (None, None)


def check_length(formula: str) -> None:
    """Refuse a formula that is longer than any that a person would write."""
    if len(formula) > LONGEST:
        raise BadInput(
            f"the formula '{formula[:50]}...' has {len(formula):,} characters, more than "
            f"{LONGEST:,}: shorten it."
        )


def _check_terms(formula: str, tree: Any) -> None:
    """Refuse a formula that would be expanded to too many terms, before it is."""
    counts: dict[int, int] = {}
    pending = [tree]
    while pending:
        node = pending[-1]
        parts = getattr(node, "args", ())
        ahead = [part for part in parts if id(part) not in counts]
        if ahead:
            pending.extend(ahead)
            continue
        pending.pop()
        count = counts[id(node)] = _terms(formula, node, [counts[id(part)] for part in parts])
        if count > _MOST_TERMS:
            raise BadInput(
                f"the formula '{formula}' has an interaction or a power that makes more than "
                f"{_MOST_TERMS:,} terms: write fewer predictors into it."
            )


def _terms(formula: str, node: Any, counts: list[int]) -> int:
    """Return how many terms an operator makes of those of its parts, before any two are one."""
    match getattr(getattr(node, "operator", None), "symbol", None), counts:
        case None, _:
            return 1
        case "*", [one, other]:
            return one + other + one * other
        case ":", [one, other]:
            return one * other
        case (("**" | "^"), [one, _]):
            power = max(_whole_numbers(node.args[1]), default=1)
            if power > _LARGEST_POWER:
                raise _power_too_large(formula)
            return int(one**power)
    return sum(counts)


def _power_too_large(formula: str) -> BadInput:
    return BadInput(
        f"the formula '{formula}' has a power above {_LARGEST_POWER}, which is not understood."
    )


def _whole_numbers(node: Any) -> Iterator[int]:
    """Yield the whole numbers in a part of a formula, as formulaic reads them."""
    if hasattr(node, "args"):
        for part in node.args:
            yield from _whole_numbers(part)
    elif re.fullmatch(r"[\d_]+", node.token):
        yield int(node.token.replace("_", "") or 0)


def variables(formula: str, side: Any, functions: frozenset[str] = FUNCTIONS) -> set[str]:
    """Return the columns that one side of a parsed formula names, or refuse what is not known."""
    found: set[str] = set()
    for factor in {factor for term in side for factor in term.factors}:
        if factor.eval_method is factor.EvalMethod.LOOKUP:
            found.add(factor.expr)
        elif factor.eval_method is factor.EvalMethod.PYTHON:
            tree, columns = _tree(formula, factor)
            with refusing(formula):
                names = _names(formula, tree, functions)
            found |= {columns.get(name, name) for name in names}
    return found


def _tree(formula: str, factor: Any) -> tuple[ast.AST, dict[str, str]]:
    """Return what formulaic would evaluate, and which columns its names stand for."""
    from formulaic.utils.code import sanitize_variable_names

    columns: dict[str, str] = {}
    with refusing(formula):
        evaluated = sanitize_variable_names(factor.expr, {}, columns)
        return ast.parse(evaluated, mode="eval").body, columns


def check_width(formula: str, side: Any, extents: Mapping[str, Extent]) -> None:
    """Refuse one side of a parsed formula whose design would be too wide; nothing is evaluated.

    `extents` are those of the columns that it names. A term has at most as many columns as its
    factors have together, one by the other; reference levels are not subtracted.
    """
    widths = {
        str(term): math.prod(_width(formula, factor, extents) for factor in term.factors)
        for term in side
    }
    total = sum(widths.values())
    if total > LARGEST_WIDTH:
        widest = max(widths, key=lambda name: widths[name])
        raise BadInput(
            f"the formula '{formula}' would make a design of up to {total:,} columns, more than "
            f"{LARGEST_WIDTH:,}, of which '{widest}' has {widths[widest]:,}: write fewer terms, or "
            f"declare fewer levels."
        )


def _width(formula: str, factor: Any, extents: Mapping[str, Extent]) -> int:
    if factor.eval_method is factor.EvalMethod.LOOKUP:
        return extents[factor.expr].columns
    if factor.eval_method is not factor.EvalMethod.PYTHON:
        return 1
    tree, columns = _tree(formula, factor)
    known = {name: extents[columns.get(name, name)] for name in _names(formula, tree, FUNCTIONS)}
    with refusing(formula):
        return _width_of(tree, known)


def _width_of(node: ast.AST, extents: Mapping[str, Extent]) -> int:
    """Return how many columns an expression has at most; those of its parts do not add up."""
    match node:
        case ast.Name(id=name):
            return extents[name].columns
        case ast.Call():
            return _width_of_call(node, extents)
        case ast.UnaryOp(operand=operand):
            return _width_of(operand, extents)
        case ast.BinOp(left=left, right=right):
            return max(_width_of(left, extents), _width_of(right, extents))
    return 1


def _width_of_call(call: ast.Call, extents: Mapping[str, Extent]) -> int:
    function = ast.unparse(call.func)
    if function == "C":
        inside = {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
        return math.prod(extents[name].values for name in inside & extents.keys())
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    widest = max((_width_of(part, extents) for part in parts), default=1)
    if function not in _COUNTS:
        return widest
    counts = [part.value for _, part in _counts(function, call) if part.value]
    return (max(sum(counts), _CUBIC) + 1) * widest


def _counts(function: str, call: ast.Call) -> list[tuple[str, Any]]:
    """Return the arguments of a call that say how many columns it makes, by name."""
    named = [(each.arg, each.value) for each in call.keywords if each.arg in _COUNTS[function]]
    return [*zip(_COUNTS[function], call.args[1:], strict=False), *named]


def _check_counts(formula: str, function: str, call: ast.Call) -> None:
    """Refuse a spline or polynomial of a size that is not written down, or too large."""
    for name, part in _counts(function, call):
        value = part.value if isinstance(part, ast.Constant) else -1
        if value is not None and (type(value) is not int or not 0 <= value <= _LARGEST_COUNT):
            raise BadInput(
                f"the formula '{formula}' has '{ast.unparse(call)}', where {name} must be a whole "
                f"number up to {_LARGEST_COUNT}."
            )


def _names(formula: str, node: ast.AST, functions: frozenset[str]) -> set[str]:
    """Return the names in an expression that is made of known functions and arithmetic alone."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Constant(value=bool() | int() | float() | None):
            return set()
        case ast.UnaryOp(operand=operand):
            return _names(formula, operand, functions)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
            base, other = (_names(formula, side, functions) for side in (left, right))
            # Powers of columns are floating-point numbers; those of whole numbers have no end.
            if base or not isinstance(operator, ast.Pow):
                return base | other
        case ast.Call(func=function, args=arguments, keywords=keywords):
            if ast.unparse(function) in functions:
                if ast.unparse(function) in _COUNTS:
                    _check_counts(formula, ast.unparse(function), node)
                parts = [*arguments, *(keyword.value for keyword in keywords)]
                return set().union(*(_names(formula, part, functions) for part in parts))
    raise BadInput(
        f"the formula '{formula}' has '{ast.unparse(node)}', but only arithmetic and these "
        f"functions are understood: {', '.join(sorted(functions))}."
    )


@contextmanager
def refusing(formula: str) -> Iterator[None]:
    """Turn formulaic's errors and warnings about a formula into one sentence."""
    from formulaic.errors import FormulaicError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (
        FormulaicError,
        Warning,
        AttributeError,
        SyntaxError,
        TypeError,
        ValueError,
        IndexError,
        MemoryError,
        RecursionError,
    ) as error:
        if isinstance(error, BadInput):
            raise
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        reason = said.splitlines()[0].strip().rstrip(".") if said else "not understood"
        raise BadInput(f"the formula '{formula}' cannot be used: {reason}.") from None
