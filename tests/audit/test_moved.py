"""How far a record moves sums and scores, and what that tells."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.test_choosing import PURE, columns_of, errors_of, permute_and_flip
from summaries import BETA, SHARE, schema_of
from understudy.audit.moved import PublishedChoice, PublishedSum, answer, published, question
from understudy.inference.cells import Cells
from understudy.inference.contribution import TableContribution
from understudy.inference.measurement import Measurement, Noise
from understudy.mechanisms.choosing import choose
from understudy.support.randomness import Source

TABLE = columns_of([[(0, 1, 3.0, 4.0)]] * 5 + [[(1, -1, 7.0, 9.0)]] * 4)
RECORDS = columns_of([[row] for row in itertools.product((0, 1), (-1, 0, 2), (0.0, 9.0), (8.0,))])


def chosen_by(name):
    errors = errors_of(name, 3)
    return choose(errors, errors.counting(TABLE), 2, allowance=PURE, source=Source(1))


def summed(scale):
    cells = Cells(schema_of(x=SHARE).column("x"), (0.5,))
    contribution = TableContribution(BETA, (cells,))
    return Measurement(contribution, np.zeros(2, dtype=np.int64), Noise(scale), 10.0)


def test_lengths_of_sums_are_exact_or_infinite():
    vectors = np.array([[3, -4], [np.iinfo(np.int64).min, 0], [2**52, 0], [2**51, 1 - 2**51]])
    each = PublishedSum(summed(1.0))
    assert each.lengths(vectors).tolist() == [7.0, np.inf, np.inf, 2.0**52 - 1]
    assert each.lengths(np.array([[0.5, 1.0], [np.nan, 0.0]])).tolist() == [np.inf, np.inf]


def test_noise_is_compared_in_fractions():
    each = published(summed(0.1), TABLE)
    assert each.told_apart(3.0) == 3 / Fraction(0.1)
    assert each.told_apart(np.inf) == np.inf


def test_what_moves_all_scores_alike_tells_nothing():
    each = published(chosen_by("rows"), TABLE)
    assert each.lengths(np.array([[4, 4, 4], [1, -1, 0]])).tolist() == [0.0, 2.0]
    assert each.lengths(np.array([[np.nan, 4, 4]])).tolist() == [np.inf]


@pytest.mark.parametrize("name", ["rows", "weights"])
def test_a_record_is_told_apart_by_no_more_than_was_paid(name):
    choice = chosen_by(name)
    each = PublishedChoice(choice, TABLE)
    assert each.each(RECORDS).shape == (len(RECORDS["a"]), each.entries) == (12, 3)
    longest = each.lengths(each.each(RECORDS)).max()
    assert 0 < longest <= each.bound
    assert each.told_apart(each.bound) <= Fraction(choice.epsilon)
    assert float(each.told_apart(each.bound)) == pytest.approx(choice.epsilon, rel=1e-6)


def test_no_pick_tells_more_than_is_said_and_some_tell_nearly_as_much():
    """By enumeration of permute-and-flip, at scores that are and at others far apart."""
    choice = chosen_by("rows")
    each, errors = PublishedChoice(choice, TABLE), choice.errors
    moved = each.each(RECORDS)
    limits = [float(each.told_apart(length)) / 2 for length in each.lengths(moved)]
    far = 50 * np.ceil(choice.scale)
    found = 0.0
    for scores in (errors.scores(TABLE), *itertools.permutations((0, far, far))):
        before = np.log(permute_and_flip(np.array(scores), choice.scale))
        for move, limit in zip(moved, limits, strict=True):
            after = np.log(permute_and_flip(np.array(scores) + move, choice.scale))
            ratio = np.abs(after - before).max()
            assert ratio <= limit + 1e-9
            found = max(found, ratio / limit if limit else 0.0)
    assert found > 0.99


def test_records_in_the_same_cells_replace_each_other_without_a_trace():
    each = PublishedChoice(chosen_by("rows"), TABLE)
    one, other = columns_of([[(0, 1, 2.5, 4.0)]]), columns_of([[(0, 1, 6.0, 4.0)]])
    assert (each.each(one) == each.each(other)).all()


def test_what_was_asked_is_compared_to_the_bit():
    choice = chosen_by("rows")
    assert question(choice) == question(chosen_by("rows"))
    assert answer(choice) == choice.pairs
    moved = replace(choice.errors, size=np.nextafter(choice.errors.size, 0))
    assert question(replace(choice, errors=moved)) != question(choice)
    assert question(summed(1.0)) == question(summed(2.0))
    assert answer(summed(1.0)) == [0, 0]
