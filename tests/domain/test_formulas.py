"""A formula is counted and read as syntax before anything of it is evaluated."""

import numpy as np
import pandas as pd
import pytest
from formulaic import model_matrix

from understudy.domain.column import Column, Role, Type
from understudy.domain.formulas import (
    LARGEST_WIDTH,
    LONGEST,
    Extent,
    check_width,
    extent,
    sides,
    variables,
)
from understudy.errors import BadInput

GENERATOR = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": GENERATOR.uniform(1, 9, 200),
        "b": GENERATOR.uniform(1, 9, 200),
        "hours worked": GENERATOR.uniform(1, 9, 200),
        "c": pd.Categorical(GENERATOR.choice(list("uvw"), 200)),
    }
)
EXTENTS = {name: Extent(1, 200) for name in FRAME.columns} | {"c": Extent(3, 3)}


@pytest.mark.parametrize(
    ("formula", "left", "right"),
    [
        ("y ~ a + b", {"y"}, {"a", "b"}),
        ("log(y) ~ a * b + np.sqrt(b)", {"y"}, {"a", "b"}),
        ("y ~ C(c) + I(a + `hours worked`)", {"y"}, {"a", "c", "hours worked"}),
        ("y ~ bs(a, df=4) + poly(b, 2)", {"y"}, {"a", "b"}),
        ("y ~ 1", {"y"}, set()),
    ],
)
def test_the_columns_of_both_sides_are_named(formula, left, right):
    outcome, predictors = sides(formula)
    assert variables(formula, outcome) == left
    assert variables(formula, predictors) == right


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ __import__('os').system('true')",
        "y ~ a[0]",
        "y ~ I(lambda: a)",
        "y ~ np.load('x')",
        "y ~ eval('a')",
        "y ~ I([x for x in a])",
        "y ~ I(9 ** 9 ** 9)",
        "y ~ bs(a, df=1000000000)",
        "y ~ bs(a, df=b)",
        "y ~ poly(a, -1)",
    ],
)
def test_what_is_neither_arithmetic_nor_a_known_function_is_refused(formula):
    with pytest.raises(BadInput, match="formula"):
        variables(formula, sides(formula)[1])


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ (a + b)**10", "power above 9"),
        ("y ~ (a + b)**(2 + 8 + 10)", "power above 9"),
        ("y ~ " + "*".join(f"x{k}" for k in range(30)), "more than 10,000 terms"),
        ("y ~ " + "a + " * LONGEST + "a", "characters, more than 10,000"),
        ("y ~ ~ a", "cannot be used"),
    ],
)
def test_what_would_have_no_end_is_refused_before_it_is_expanded(formula, said):
    with pytest.raises(BadInput, match=said):
        sides(formula)


@pytest.mark.parametrize(
    "terms",
    ["a + b", "a * b", "c", "c * a", "(a + b + c)**2", "bs(a, df=5)", "c:poly(b, 3)", "C(c)"],
)
def test_a_design_is_never_wider_than_was_counted(terms, monkeypatch):
    """With a limit of one column less than formulaic makes, the formula must be refused."""
    formula = f"y ~ {terms}"
    check_width(formula, sides(formula)[1], EXTENTS)
    width = model_matrix(terms, FRAME).shape[1]
    monkeypatch.setattr("understudy.domain.formulas.LARGEST_WIDTH", width - 1)
    with pytest.raises(BadInput, match="would make a design"):
        check_width(formula, sides(formula)[1], EXTENTS)


def test_a_design_that_is_too_wide_is_refused_with_its_widest_term():
    extents = {"a": Extent(1, 10), "c": Extent(LARGEST_WIDTH, LARGEST_WIDTH)}
    with pytest.raises(BadInput, match=r"up to 1,002 columns, .* of which 'c' has 1,000"):
        check_width("y ~ a + c", sides("y ~ a + c")[1], extents)


def test_the_extent_of_a_column_follows_from_its_declaration():
    levelled = Column("x", Role.PUBLIC, Type.CATEGORICAL, levels=("a", "b", "c"))
    whole = Column("x", Role.PUBLIC, Type.INTEGER, (0, 9))
    continuous = Column("x", Role.PUBLIC, Type.CONTINUOUS, (0, 9))
    assert extent(levelled, 50) == (3, 3)
    assert extent(whole, 50) == (1, 10)
    assert extent(whole, 5) == (1, 5)
    assert extent(continuous, 50) == (1, 50)
