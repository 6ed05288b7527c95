"""The half of a release that stays: how close it came, and the report that shows it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import pandas as pd

from understudy.domain.cells import measurable
from understudy.domain.frames import Tabular, frame_of, name_of
from understudy.domain.schema import Role, Schema
from understudy.domain.tables import Columns, decode, encode
from understudy.ledger.statement import statement_of
from understudy.mechanisms import Request
from understudy.mechanisms.plan import Drawn
from understudy.privacy.guarantee import Guarantee
from understudy.report.drift import Earlier
from understudy.report.intervals import Interval
from understudy.synthesis.charging import Charge
from understudy.synthesis.release import Internal


def measured(
    request: Request,
    drawn: Drawn,
    guarantee: Guarantee,
    synthetic: pd.DataFrame,
    *,
    earlier: Earlier | None,
    charge: Charge | None,
) -> Internal:
    """Return the diagnostics, and a report that is rendered when it is asked for."""
    from understudy.report.page import Page
    from understudy.report.sections import outcome
    from understudy.utility import as_population, compare, measure_pairs

    schema, columns, count = request.schema, request.records.shown, request.records.count
    sample = _measurable(columns, schema)
    weighed = as_population(columns, schema)
    confidential = sample if weighed is columns else _measurable(weighed, schema)
    synthetic = measurable(synthetic, schema.columns)
    units = None if schema.unit is None else columns[schema.unit.name]
    against = outcome(schema, sample, units)
    # That a table is empty is protected, too: nothing is refused for it.
    empty = not len(sample)
    utility = {} if empty else compare(confidential, synthetic, schema)
    compared = schema.having(Role.CONFIDENTIAL, Role.PUBLIC)
    diagnostics = _finite_numbers(
        {
            **drawn.diagnostics,
            "n": count if units is None else len(against[1]),
            "rows": count,
            "compared": len(sample),
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
            synthetic=synthetic,
            utility=utility,
            diagnostics=diagnostics,
            alpha=drawn.alpha,
            largest_score=drawn.largest_score,
            bound=drawn.bound,
            outcome=against,
            rows=count,
            sampled=len(sample) < count,
            answers=tuple(answers),
            pairs=measure_pairs(confidential, synthetic, compared),
            earlier=earlier,
            statement=None if charge is None else statement_of(charge.ledger, until=charge.entry),
        ).render()

    return Internal(diagnostics, report, charge)


def earlier_table(label: str, table: Tabular, schema: Schema) -> Earlier:
    """Return an earlier release as the report compares it, or refuse a table of another schema."""
    name = name_of(table, "the earlier release")
    coded = encode(frame_of(table), schema, roles=(Role.CONFIDENTIAL,), name=name)
    return Earlier(label, _measurable(coded, schema))


def _measurable(columns: Columns, schema: Schema) -> pd.DataFrame:
    return measurable(decode(columns, schema), schema.columns)


def _finite_numbers(value: Any) -> Any:
    """Replace numbers that JSON cannot hold by null."""
    if isinstance(value, dict):
        return {key: _finite_numbers(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
