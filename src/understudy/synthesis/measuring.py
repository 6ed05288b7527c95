"""The half of a release that stays: how close it came, and the report that shows it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import pandas as pd

from understudy.domain.cells import measurable
from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.records import Held, Streamed
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns, decode, encode
from understudy.ledger.statement import statement_of
from understudy.mechanisms import Request
from understudy.mechanisms.plan import Drawn
from understudy.privacy.guarantee import Guarantee
from understudy.report.drift import Earlier
from understudy.report.intervals import Interval
from understudy.support.progress import stage
from understudy.synthesis.charging import Charge
from understudy.synthesis.release import Internal
from understudy.utility.counting import Counted, Counting


def counted(request: Request) -> Counted | None:
    """Count a table of which only some records are held; None of any other.

    It is read for that before anything is charged: nothing is lost if a file is found changed.
    Survey weights make a population of records that are held, so a weighted table is measured on
    those that are shown.
    """
    records, schema = request.records, request.schema
    if not isinstance(records, Streamed) or schema.survey_weight is not None:
        return None
    with stage(request.progress, "Counting"):
        return Counting.like(records.shown, schema).of(records)


def measured(
    request: Request,
    drawn: Drawn,
    guarantee: Guarantee,
    synthetic: pd.DataFrame,
    *,
    everyone: Counted | None,
    earlier: Earlier | None,
    charge: Charge | None,
) -> Internal:
    """Return the diagnostics, and a report that is rendered when it is asked for.

    Args:
        request: What was asked for.
        drawn: What the mechanism drew.
        guarantee: The promise.
        synthetic: The synthetic table, or as many rows of it as are shown.
        everyone: What was counted of a table of which only some records are held.
        earlier: The last period's release.
        charge: What the ledger was charged.
    """
    from understudy.report.page import Page
    from understudy.report.sections import outcome
    from understudy.utility import BothTables, as_population

    schema, columns, count = request.schema, request.records.shown, request.records.count
    sample = _measurable(columns, schema)
    weighed = as_population(columns, schema)
    confidential = sample if weighed is columns else _measurable(weighed, schema)
    counts = None if everyone is None else (everyone, _like(everyone, synthetic, schema))
    both = BothTables(schema, confidential, measurable(synthetic, schema.columns), counts)
    units = None if schema.unit is None else columns[schema.unit.name]
    against = outcome(schema, sample, units)
    # That a table is empty is protected, too: nothing is refused for it.
    empty = not len(sample)
    utility = {} if empty else both.columns()
    diagnostics = _finite_numbers(
        {
            **drawn.diagnostics,
            "n": count if units is None else len(against[1]),
            "rows": count,
            "compared": len(sample) if everyone is None else count,
            "seconds": time.monotonic() - request.started,
            "utility": {name: each.to_dict() for name, each in utility.items()},
        }
    )

    def report(answers: Sequence[Interval] = ()) -> str:
        if empty:
            return "<!doctype html><title>Report</title><p>The table has no records.</p>\n"
        return Page(
            title=schema.confidential[0].name if request.model is None else request.model.title,
            guarantee=guarantee,
            schema=schema,
            confidential=confidential,
            synthetic=both.synthetic,
            utility=utility,
            diagnostics=diagnostics,
            alpha=drawn.alpha,
            largest_score=drawn.largest_score,
            bound=drawn.bound,
            outcome=against,
            rows=count,
            sampled=len(sample) < count,
            answers=tuple(answers),
            pairs=both.pairs(),
            earlier=earlier,
            statement=None if charge is None else statement_of(charge.ledger, until=charge.entry),
        ).render()

    return Internal(diagnostics, report, charge)


def earlier_table(label: str, table: Tabular, schema: Schema) -> Earlier:
    """Return an earlier release as the report compares it, or refuse a table of another schema."""
    name = name_of(table, "the earlier release")
    coded = encode(frame_of(table), schema, roles=(Role.CONFIDENTIAL,), name=name)
    return Earlier(label, _measurable(coded, schema))


def _like(everyone: Counted, synthetic: pd.DataFrame, schema: Schema) -> Counted:
    """Count a synthetic table, as it is written, as the confidential one was counted."""
    coded = encode(synthetic, schema, roles=(Role.CONFIDENTIAL, Role.PUBLIC))
    return everyone.counting.of(Held(coded))


def _measurable(columns: Columns, schema: Schema) -> pd.DataFrame:
    return measurable(decode(columns, schema), schema.columns)


def _finite_numbers(value: Any) -> Any:
    """Replace numbers that JSON cannot hold by null."""
    if isinstance(value, dict):
        return {key: _finite_numbers(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
