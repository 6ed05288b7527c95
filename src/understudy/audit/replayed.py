"""Rounds, measured again of other tables: does w depend on what was published, and on nothing else?

The w of a round may depend on all that earlier rounds published, and on the table in no other way.
So the rounds are measured once more with the same noise, of a table in which half of the records
are blank or absent, and of one whose records are others in the same cells, so that its first sum is
the very same. As long as the same was published, the next question has to be the same, to the bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from understudy.audit.moved import answer, question
from understudy.audit.records import chosen, joined
from understudy.domain.records import Held
from understudy.domain.tables import Columns, count_records
from understudy.inference.contribution import Contribution
from understudy.inference.measurement import Measurement
from understudy.mechanisms import Request
from understudy.mechanisms.choosing import Choice


def fault_of_rounds(
    fresh: Callable[[], Request],
    measured: Sequence[Measurement | Choice],
    pool: Columns,
    generator: np.random.Generator,
) -> str | None:
    """Say which round asked what it could not know, if any did.

    Args:
        fresh: Returns the request, each time with the same randomness ahead of it.
        measured: What its rounds measured and chose.
        pool: Records that may take the place of others.
        generator: Where the choice among them comes from.
    """
    columns = fresh().columns
    half = chosen(columns, slice(0, count_records(columns) // 2))
    first = next(each for each in measured if isinstance(each, Measurement))
    others = exchanged(first.contribution, columns, pool, generator)
    for table in (half, others):
        request = replace(fresh(), records=Held(table))
        again = request.mechanism.measures(request)
        for number, (one, other) in enumerate(zip(measured, again, strict=True), start=1):
            if question(one) != question(other):
                return f"what round {number} measures depends on more than was published"
            if answer(one) != answer(other):
                break
    return None


def exchanged(
    contribution: Contribution, columns: Columns, pool: Columns, generator: np.random.Generator
) -> Columns:
    """Return a table of other records, each of which contributes what the one in its place does.

    Public values stay, since they are known; where nobody else contributes the same, the record
    stays as well.
    """
    schema = contribution.model.schema
    count = count_records(columns)
    names = [column.name for column in schema.confidential]
    alike = defaultdict(list)
    for place, vector in enumerate(contribution.each(schema.standing_alone(pool))):
        alike[vector.tobytes()].append(count + place)
    sources = np.arange(count)
    for place, vector in enumerate(contribution.each(columns)):
        candidates = alike.get(vector.tobytes())
        if candidates:
            sources[place] = generator.choice(candidates)
    both = joined(*({name: table[name] for name in names} for table in (columns, pool)))
    return {**columns, **chosen(both, sources)}
