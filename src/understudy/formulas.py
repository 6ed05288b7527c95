"""Formulas that may be evaluated: known columns, arithmetic and known functions, nothing else.

formulaic evaluates the terms of a formula as Python. A formula may come from a published file or
from somebody else's notes, so what formulaic would evaluate, to the letter, is read as a syntax
tree first, and refused unless it is made of these parts alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from understudy.errors import BadInput

_LARGE_POWER = re.compile(r"(\*\*|\^)[\s(]*\d\d")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
STATELESS = frozenset(
    {"C", "I", "exp", "exp10", "exp2", "log", "log10", "log2"}
    | {f"np.{name}" for name in ("abs", "exp", "expm1", "log", "log10", "log1p", "log2", "sqrt")}
)
"""Functions of one value at a time."""
STATEFUL = frozenset({"bs", "center", "cc", "cr", "cs", "poly", "scale"})
"""Functions with constants (a mean, a basis) that are learned from the rows they first see."""
FUNCTIONS = STATELESS | STATEFUL


def sides(formula: str) -> tuple[Any, Any]:
    """Return both sides of a formula, None for one that is not there; nothing is evaluated yet."""
    from formulaic import Formula

    if _LARGE_POWER.search(formula):
        raise BadInput(f"the formula '{formula}' has a power above 9, which is not understood.")
    with refusing(formula):
        read = Formula(formula)
    found = (getattr(read, "lhs", None), getattr(read, "rhs", None))
    return found if not any(isinstance(side, tuple) for side in found) else (None, None)


def variables(formula: str, side: Any, functions: frozenset[str] = FUNCTIONS) -> set[str]:
    """Return the columns that one side of a parsed formula names, or refuse what is not known."""
    from formulaic.utils.code import sanitize_variable_names

    found: set[str] = set()
    for factor in {factor for term in side for factor in term.factors}:
        if factor.eval_method is factor.EvalMethod.LOOKUP:
            found.add(factor.expr)
        elif factor.eval_method is factor.EvalMethod.PYTHON:
            columns: dict[str, str] = {}
            with refusing(formula):
                evaluated = sanitize_variable_names(factor.expr, {}, columns)
                tree = ast.parse(evaluated, mode="eval")
            names = _names(formula, tree.body, functions)
            found |= {columns.get(name, name) for name in names}
    return found


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
    ) as error:
        if isinstance(error, BadInput):
            raise
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        reason = said.splitlines()[0].strip().rstrip(".") if said else "not understood"
        raise BadInput(f"the formula '{formula}' cannot be used: {reason}.") from None
