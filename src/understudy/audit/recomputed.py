"""Sums, computed again: is each one the sum of what its records contribute, bit for bit?

The guarantee needs w to be a function of the record alone: then a record that is added moves a sum
by w(x) whatever else is in the table. So the sum is taken of a table in another order, of pieces of
it, in which every record stands at another place of another chunk, and with a record at the
beginning, in the middle and at the end; and each time whole numbers have to agree to the last one.
Scores by which pairs are chosen are not sums of what records do, but what one more record does to
them is known, and they are tried alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from understudy.audit.records import chosen, joined
from understudy.domain.tables import Columns, count_records
from understudy.inference.contribution import Contribution, Wholes
from understudy.mechanisms.choosing import PairErrors

_CUTS = (1, 700, 2049)
"""Where a table is cut: after each of them, everybody stands elsewhere in a chunk."""
_PLACES = 3


def fault_of(
    contribution: Contribution,
    table: Columns,
    records: Columns,
    generator: np.random.Generator,
) -> str | None:
    """Say what is wrong with sums of a contribution, if anything is.

    Args:
        contribution: What each record adds.
        table: Records that stay, more than a chunk of them.
        records: Those that are added, one at a time.
        generator: Where the other order comes from.
    """
    return next(_faults(contribution, table, records, generator), None)


def _faults(
    contribution: Contribution, table: Columns, records: Columns, generator: np.random.Generator
) -> Iterator[str]:
    count, whole = count_records(table), contribution.total(table)
    if not _same(whole, contribution.each(table).sum(axis=0)):
        yield "is not that of what its records contribute"
    if not _same(whole, contribution.total(chosen(table, generator.permutation(count)))):
        yield "depends on the order of the records"
    pieces = np.split(np.arange(count), [place for place in _CUTS if place < count])
    cut = [contribution.total(chosen(table, piece)) for piece in pieces]
    if not _same(whole, np.sum(cut, axis=0)):
        yield "depends on how the table is cut"
    added = contribution.each(records)
    for number in range(count_records(records)):
        place = (number % _PLACES) * count // (_PLACES - 1)
        parts = (slice(0, place), slice(place, None))
        head, tail = (chosen(table, part) for part in parts)
        more = joined(head, chosen(records, [number]), tail)
        if not _same(contribution.total(more) - whole, added[number]):
            yield "is moved by a record that is added by something else than it contributes"


def fault_of_scores(
    errors: PairErrors, table: Columns, records: Columns, generator: np.random.Generator
) -> str | None:
    """Say what is wrong with the scores that a choice is made by, if anything is.

    Args:
        errors: The scores.
        table: Records that stay.
        records: Those that are added, one at a time.
        generator: Where the other order comes from.
    """
    count, whole = count_records(table), errors.scores(table)
    shuffled = errors.scores(chosen(table, generator.permutation(count)))
    if not _same(whole, shuffled):
        return "depend on the order of the records"
    added = errors.moved(errors.surplus(errors.counting(table)), records)
    for number in range(count_records(records)):
        more = errors.scores(joined(table, chosen(records, [number])))
        if not _same(more - whole, added[number]):
            return "are moved by a record that is added by something else than its own cells"
    return None


def _same(one: Wholes, other: Wholes) -> bool:
    """Whether two sums are the same whole numbers."""
    return np.array_equal(one, other) and all(
        np.issubdtype(values.dtype, np.integer) for values in (one, other)
    )
