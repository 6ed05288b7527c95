"""Varying intercepts: the terms `(1 | state)` of a formula, taken out before the rest is read.

    η = Xβ + σ z[state],      z ~ Normal(0, 1) for each declared level,      σ ~ half-normal,

the non-centred form, which samples well when groups are small. Every declared level has its
intercept, whether or not it occurs in the table, so nothing about the table shows in the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from understudy.domain.schema import Role, Schema
from understudy.errors import BadInput

_TERM = re.compile(r"\(([^|`]*(?:\|(?=\|))?)\|(.*)\)", re.DOTALL)
_BAR = re.compile(r"\([^()]*\|[^()]*\)")
_QUOTED = re.compile(r"`[^`]*`")


@dataclass(frozen=True)
class Group:
    """A public categorical column whose levels have intercepts of their own."""

    column: str
    levels: int

    @property
    def sigma(self) -> str:
        """The name of the parameter for the standard deviation of the intercepts."""
        return f"1|{self.column}_sigma"

    @property
    def offset(self) -> str:
        """The name of the parameter for the standardised intercepts."""
        return f"1|{self.column}_offset"


def separate(formula: str, schema: Schema) -> tuple[str, tuple[Group, ...]]:
    """Return the formula without its varying intercepts, and the groups that have them."""
    left, tilde, right = formula.partition("~")
    terms = _terms(right)
    varying = {term: match for term in terms if (match := _TERM.fullmatch(term.strip()))}
    for term in terms:
        if term not in varying and _BAR.search(_QUOTED.sub("", term)):
            raise BadInput(
                f"in the formula '{formula}' the term '{term.strip()}' mixes a varying intercept "
                f"with something else: add it to the others with '+'."
            )
    groups = tuple(_group(formula, varying[term], schema) for term in terms if term in varying)
    if len({group.column for group in groups}) < len(groups):
        raise BadInput(f"the formula '{formula}' has the same varying intercept twice.")
    if not groups:
        return formula, ()
    rest = [term for term in terms if term not in varying]
    return f"{left}{tilde}{'+'.join(rest) if rest else ' 1'}", groups


def _terms(right: str) -> list[str]:
    """Return the terms that are added up, outside of brackets and quoted names."""
    terms, depth, quoted = [""], 0, False
    for character in right:
        quoted ^= character == "`"
        depth += 0 if quoted else (character == "(") - (character == ")")
        if character == "+" and not quoted and depth == 0:
            terms.append("")
        else:
            terms[-1] += character
    return terms


def _group(formula: str, match: re.Match[str], schema: Schema) -> Group:
    term, effect, name = (part.strip() for part in match.group(0, 1, 2))
    if effect != "1":
        raise BadInput(
            f"in the formula '{formula}' the term '{term}' lets more than the intercept vary, but "
            f"only varying intercepts such as (1 | state) are offered."
        )
    if name not in schema.names:
        name = name.removeprefix("`").removesuffix("`")
    if name not in schema.names:
        raise BadInput(
            f"in the formula '{formula}' the term '{term}' must name one column of the schema "
            f"after the bar; nested and crossed groups are columns of their own."
        )
    column = schema.column(name)
    if column.role is Role.UNIT:
        raise BadInput(
            f"the term '{term}' is refused: '{name}' is the unit that is protected, and an "
            f"intercept for each unit would be a released parameter that only its own records "
            f"inform."
        )
    if column.role is not Role.PUBLIC:
        raise BadInput(
            f"the term '{term}' needs a public column, but '{name}' has the role '{column.role}': "
            f"groups are copied into the synthetic table."
        )
    if column.levels is None:
        raise BadInput(
            f"the term '{term}' needs a column with declared levels, but '{name}' is "
            f"{column.type}: declare it categorical."
        )
    return Group(name, len(column.levels))
