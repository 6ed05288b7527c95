"""A sum that is not the sum of what its records contribute is found out."""

from dataclasses import dataclass

import numpy as np
import pytest

from mechanisms.test_choosing import columns_of, errors_of
from summaries import BETA, OUTCOMES
from understudy.audit.recomputed import fault_of, fault_of_scores
from understudy.inference.cells import coarse
from understudy.inference.contribution import UNIT, ScoreContribution, TableContribution
from understudy.mechanisms.choosing import PairErrors

TABLE = {"x": np.random.default_rng(3).beta(0.5, 3, 5000)}
RECORDS = {"x": np.array([0.0, 1.0, 0.5, 1e-300])}
SCORES = ScoreContribution(
    BETA, z=np.array([-1.0, 0.5]), directions=np.eye(2), centre=np.zeros(2), length=2 * UNIT
)


def fault(contribution, table=TABLE, records=RECORDS):
    return fault_of(contribution, table, records, np.random.default_rng(1))


@pytest.mark.parametrize("name", OUTCOMES)
def test_sums_of_every_kind_of_outcome_are_sound(name):
    model, few = OUTCOMES[name]
    many = {key: values[np.arange(4500) % 8] for key, values in few.items()}
    tables = tuple(coarse(column, 1e5) for column in model.schema.confidential)
    size = model.dimension
    scores = ScoreContribution(model, np.zeros(size), np.eye(size), np.zeros(size), 3 * UNIT, 5)
    for contribution in (scores, TableContribution(model, tables)):
        assert fault(contribution, many, few) is None


def careless(total, each=None):
    """Return scores whose sums are others; without `each`, so are those of what records add."""
    changes = {"total": total, "each": each or (lambda self, columns: total(self, columns)[None])}
    made = dataclass(frozen=True, eq=False)(type("Careless", (ScoreContribution,), changes))
    return made(BETA, SCORES.z, SCORES.directions, SCORES.centre, SCORES.length)


def ordered(self, columns):
    """Numbers in single precision: what is rounded off depends on the order."""
    values = SCORES.each(columns).astype(np.float32)
    return np.cumsum(values, axis=0)[-1].astype(np.int64)


def first_counts(self, columns):
    """The first record of the table counts twice."""
    return SCORES.total(columns) + SCORES.each(columns)[0]


def by_chunk(self, columns):
    """Each chunk of 2048 loses a unit."""
    return SCORES.total(columns) - (-len(columns["x"]) // 2048)


def centred(self, columns):
    """What a record contributes depends on who else is there."""
    values = SCORES.each(columns)
    return values - np.trunc(values.mean(axis=0)).astype(np.int64)


def as_floats(self, columns):
    return SCORES.total(columns).astype(float)


def doubled(self, columns):
    return 2 * SCORES.total(columns)


def added(each):
    """Return the sum over contributions that are not those of records."""
    return lambda self, columns: each(self, columns).sum(axis=0)


MUTANTS = [
    *((careless(total, ScoreContribution.each), "is not that of what its records contribute")
      for total in (doubled, first_counts, by_chunk, as_floats)),
    (careless(ordered), "depends on the order"),
    (careless(first_counts), "depends on the order"),
    (careless(by_chunk), "depends on how the table is cut"),
    (careless(added(centred), centred), "depends on how the table is cut"),
]  # fmt: skip


@pytest.mark.parametrize(("mutant", "words"), MUTANTS)
def test_a_careless_sum_is_found_out(mutant, words):
    assert words in fault(mutant)


def test_a_record_that_others_notice_is_found_out():
    """Everything agrees, until a record is there that makes all the others count less."""

    def shrinking(self, columns):
        values = SCORES.each(columns)
        return values // 2 if (columns["x"] == 1e-300).any() else values

    mutant = careless(
        total=lambda self, columns: shrinking(self, columns).sum(axis=0), each=shrinking
    )
    assert "something else than it contributes" in fault(mutant)


class AllTogether(PairErrors):
    """One record more moves every score: the number of records is predicted by the table."""

    def scores(self, columns):
        size = float(len(columns["a"]))
        return PairErrors(self.schema, self.pairs, self.pool, size, self.noise).scores(columns)


class InOrder(PairErrors):
    """Scores that know who came first."""

    def scores(self, columns):
        return super().scores(columns) + np.arange(len(columns["a"])) @ columns["a"]


ERRORS = errors_of("rows", 3)
ROWS = [[(k % 2, k % 3 - 1, float(k % 7), 5.0)] for k in range(20)]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (PairErrors, None),
        (AllTogether, "by something else than its own cells"),
        (InOrder, "depend on the order"),
    ],
)
def test_scores_are_moved_by_a_record_s_own_cells_alone(kind, said):
    errors = kind(ERRORS.schema, ERRORS.pairs, ERRORS.pool, ERRORS.size, ERRORS.noise)
    tables = columns_of(ROWS), columns_of(ROWS[:5])
    found = fault_of_scores(errors, *tables, np.random.default_rng(4))
    assert found is None if said is None else said in found
