"""Arms are compared on the same tables, and too few replicates decide nothing."""

import numpy as np
import pytest

from study_results import made_up
from understudy.study.arms import Results
from understudy.study.findings import (
    Agreement,
    Finding,
    Order,
    compare,
    expect,
    expect_lower,
    expect_not_higher,
    number,
)


def test_arms_are_compared_on_the_same_tables():
    generator = np.random.default_rng(5)
    tables = generator.normal(10, 3, 100)
    assert compare(tables - 0.1 + generator.normal(0, 0.1, 100), tables) is Order.LOWER
    # The same shift is lost among tables that have nothing to do with each other.
    assert compare(generator.normal(10, 3, 100) - 0.1, tables) is Order.EQUAL
    assert compare(tables[:3] - 5, tables[:3]) is Order.UNCLEAR


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.097, "0.0970"), (2, "2.00"), (1055.4, "1,055"), (0.00009432, "0.000094"), (0, "0")],
)
def test_numbers_are_written_without_powers_of_ten(value, text):
    assert number(value) == text


def test_equal_arms_contradict_lower_only_with_as_many_replicates_as_the_paper(results):
    few = Results(made_up(12))
    assert expect_lower(results, [Order.LOWER, Order.LOWER]) is Agreement.AGREES
    assert expect_lower(results, [Order.LOWER, Order.EQUAL]) is Agreement.DIFFERS
    assert expect_lower(few, [Order.LOWER, Order.EQUAL]) is Agreement.OPEN
    assert expect_lower(few, [Order.LOWER, Order.HIGHER]) is Agreement.DIFFERS


def test_medians_above_contradict_only_beyond_chance(results):
    generator = np.random.default_rng(3)
    lower = generator.normal(10, 1, 100)
    assert expect_not_higher(results, [(lower, lower + 1)]) is Agreement.AGREES
    assert expect_not_higher(results, [(lower + 1, lower)]) is Agreement.DIFFERS
    other = generator.permutation(lower)
    assert expect_not_higher(results, [(other + 1e-6, lower)]) is Agreement.AGREES
    three = Results(made_up(3))
    assert expect_not_higher(three, [(lower[:3] + 1, lower[:3])]) is Agreement.OPEN
    assert expect(True, three) is Agreement.OPEN


def test_a_sentence_gives_the_reason_of_a_difference_only():
    assert Finding(Agreement.AGREES, "all is well", "a reason").sentence == "All is well."
    assert Finding(Agreement.DIFFERS, "it is not", "it rains").sentence == (
        "It is not, because it rains."
    )
    assert (
        Finding(Agreement.DIFFERS, "max-ECDF: no").sentence == "max-ECDF: no; no reason is known."
    )
