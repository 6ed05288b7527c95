"""The public card of a release: what it is, what is promised, how to use it, and its limits.

`render_card` knows the guarantee, the schema, the synthetic tables and what was measured for them,
all of which are published anyway, and nothing else. So no card can hold anything confidential: it
is computed from what is public, and this module imports nothing that has ever seen a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.cells import measurable
from understudy.domain.column import Column, Role, Type
from understudy.domain.schema import Schema
from understudy.privacy.guarantee import Adjacency, Guarantee
from understudy.privacy.rounding import at_most
from understudy.report import plain
from understudy.report.curves import bin_edges
from understudy.report.intervals import Interval, interval_row
from understudy.report.svg import printable
from understudy.report.template import fill
from understudy.report.wording import BADGES, hundredths, listed, percent, value_of

if TYPE_CHECKING:
    from pandas import DataFrame, Series

SHOWN_LEVELS = 12
NAMED_COLUMNS = 4
BARS = (240, 56)
"""Width and height of the picture of a column."""

IN_R = """\
fits <- lapply(Sys.glob("synthetic*.csv"), \\(file) lm(y ~ x, read.csv(file)))
q <- do.call(cbind, lapply(fits, coef)); m <- ncol(q); b <- (1 + 1/m) * apply(q, 1, var)
u <- rowMeans(do.call(cbind, lapply(fits, \\(fit) diag(vcov(fit))))); df <- (m - 1) * (1 - u/b)^2
rowMeans(q) + (qt(0.975, df) * sqrt(b - u)) %o% c(estimate = 0, lower = -1, upper = 1)
"""
"""The rule of `questions/combining.py` in R."""

_TYPES = {
    Type.CONTINUOUS: "a number",
    Type.COUNT: "a count",
    Type.INTEGER: "a whole number",
    Type.DATE: "a date",
    Type.CATEGORICAL: "one of {} levels",
    Type.BINARY: "one of {} levels",
}


def render_card(
    guarantee: Guarantee,
    schema: Schema,
    tables: Sequence[DataFrame],
    rounds: Sequence[Mapping[str, Any]] = (),
    *,
    rows: int | None = None,
    combined: bool = False,
    answers: Sequence[Interval] = (),
    warning: str | None = None,
) -> str:
    """Return `public/card.html`, the same text for the same release.

    `rows` is how many a table has, where `tables` hold the first of them.
    `combined` says whether a rule is known by which analyses of several tables are combined,
    `answers` what the release says of the population, and `warning` what its check of the model
    found.
    """
    first, measured = tables[0], measurable(tables[0], schema.columns)
    shown = [column for column in schema.columns if column.name in first.columns]
    return fill(
        "card.html.j2",
        title=_title([column.name for column in shown], guarantee.period),
        rows=len(first) if rows is None else rows,
        tables=len(tables),
        combining=IN_R if combined and len(tables) > 1 else None,
        answers=[interval_row(each) for each in answers],
        warning=warning,
        schema=schema,
        weighed=_weighed(schema, len(first) if rows is None else rows),
        public=any(column.role is Role.PUBLIC for column in shown),
        seeded=guarantee.seeded,
        guarantee=_promise(guarantee, schema),
        measured=[_measured(each) for each in rounds],
        price="ρ" if guarantee.delta else "ε",
        shareable=guarantee.kind.states_epsilon and not guarantee.accept_poor_mixing,
        columns=[_column(column, first[column.name], measured[column.name]) for column in shown],
    )


def _weighed(schema: Schema, rows: int) -> str | None:
    """Return how to use the survey weights of synthetic rows, where they have any."""
    weight = schema.released_weight
    if weight is None:
        return None
    told = (
        f"The rows stand for a sample, and each has its survey weight in '{weight.name}': weigh "
        f"rows by it in whatever is to be about the population; weighted sums estimate totals"
    )
    if schema.size is None or schema.size == rows:
        return f"{told}."
    times = schema.size / rows
    return f"{told} when multiplied by {times:.6g}, because the sample has {schema.size:,} rows."


def _title(names: Sequence[str], period: str | None) -> str:
    what = "Synthetic data" if period is None else f"Synthetic data of {period}"
    return f"{what}: {listed(_named(names))}"


def _promise(guarantee: Guarantee, schema: Schema) -> dict[str, Any]:
    stated = guarantee.epsilon is not None
    # What voids a promise stands in its badge first.
    void = guarantee.seeded
    return {
        "kind": "none" if void else str(guarantee.kind),
        "badge": "✗ Not for release" if void else BADGES[guarantee.kind],
        "sentences": plain.sentences(guarantee),
        "odds": plain.odds(guarantee),
        "epsilons": plain.epsilons(guarantee) if stated else [],
        "unit": _protected(guarantee, schema) if stated else None,
        "together": _together(guarantee) if stated else None,
        "exactly": guarantee.headline,
        "assumptions": guarantee.assumptions,
        "facts": [
            *([] if guarantee.population is None else [("Population", guarantee.population)]),
            ("Kind", f"{guarantee.kind} ({guarantee.kind.meaning})"),
            ("Mechanism", guarantee.mechanism),
            guarantee.origin,
            ("Privacy ledger", guarantee.charged or "not charged to any ledger"),
        ],
    }


def _protected(guarantee: Guarantee, schema: Schema) -> str:
    if guarantee.unit is not None:
        most = schema.rows_per_unit
        rows = "one" if most == 1 else f"at most {most}"
        limit = "" if most is None else f", of which there are {rows}"
        return f"The promise is made to each '{guarantee.unit}', with all its rows{limit}."
    if schema.row_is_unit:
        return (
            "The promise is made to each row. Somebody who had several rows in the confidential "
            "table is protected less: ε is multiplied by their number."
        )
    return "The promise is made to each person, who had at most one row in the confidential table."


def _together(guarantee: Guarantee) -> str | None:
    if guarantee.draws == 1:
        return None
    if guarantee.measured_once:
        return (
            f"The {guarantee.draws} tables come from one set of noisy sums, each by its own draw "
            "of the parameters: ε is the same for whoever sees one of them and for whoever sees "
            "all, and further tables would not change it."
        )
    assert guarantee.epsilon is not None
    each = Fraction(repr(guarantee.epsilon[Adjacency.ADD_REMOVE])) / guarantee.draws
    return (
        f"Each of the {guarantee.draws} tables has its own draw of the parameters and its own "
        f"share of ε ({at_most(each)} when rows are added or removed). The numbers above are for "
        "whoever sees all of them."
    )


def _measured(each: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what a round of a summary measured, how many numbers that are, and its ε or ρ."""
    tables = each["definition"].get("tables")
    if each["kind"] == "choice":
        what = f"Which {len(each['noisy']):,} pairs of columns to count next"
    elif tables is None:
        counted = " and the number of records" if each["definition"].get("count") else ""
        what = f"How the records pull at the model's parameters{counted}"
    else:
        pairs = [table["pair"] for table in tables if "pair" in table]
        alone = [table["column"] for table in tables if "pair" not in table]
        parts = [f"of {listed(_named(alone))}"] if alone else []
        parts += [f"of {len(pairs):,} pairs of columns"] if pairs else []
        cells = "a table" if len(tables) == 1 else "tables"
        what = f"How many records lie in each cell of {cells} {' and '.join(parts)}"
    cost = at_most(each["epsilon"]) if each["epsilon"] is not None else at_most(each["rho"])
    return what, f"{len(each['noisy']):,}", cost


def _named(names: Sequence[str]) -> Sequence[str]:
    """Return names, of very many only the first few."""
    if len(names) <= NAMED_COLUMNS:
        return names
    return [*names[: NAMED_COLUMNS - 1], f"{len(names) - NAMED_COLUMNS + 1} other columns"]


def _column(column: Column, written: Series[Any], values: Series[Any]) -> dict[str, Any]:
    """Tell of a column, from what the table holds and from what of it can be measured."""
    known = values.dropna()
    whose = "Public, as given" if column.role is Role.PUBLIC else "Synthetic"
    what = "" if column.type is None else _TYPES[column.type].format(len(column.levels or ()))
    if column.numeric:
        lower, upper = (value_of(column, end, digits=12) for end in (column.lower, column.upper))
        what += f" from {lower} to {upper}"
    told = dict.fromkeys(["missing", "picture", "ends", "summary", "levels", "others"])
    told |= {"name": column.name, "what": f"{whose}: {what}"}
    if column.missing == "model" and len(values):
        why = "; ".join(
            f"{percent(_count(written, code) / len(values))} {code or 'blank'} ({meaning})"
            for code, meaning in column.codes
        )
        share = percent(1 - len(known) / len(values))
        told["missing"] = f"{share} of the rows have no value{why and ': '}{why}."
    if len(known):
        told |= _numbers(column, known) if column.numeric else _levels(column, known)
    return told


def _count(written: Series[Any], code: str) -> int:
    """Return how many cells hold a code; an empty one stands for a blank cell."""
    return int((written == code).sum() if code else written.isna().sum())


def _numbers(column: Column, values: Series[Any]) -> dict[str, Any]:
    sample = values.to_numpy(dtype=np.float64)
    low, middle, high = (float(q) for q in np.quantile(sample, [0.1, 0.5, 0.9]))
    counts = np.histogram(sample, bin_edges((column.lower, column.upper), whole=column.whole))[0]
    summary = (
        f"Half of the rows lie up to {value_of(column, middle)}, and eight of ten from "
        f"{value_of(column, low)} to {value_of(column, high)}."
    )
    return {
        "picture": bars(
            counts.tolist(),
            f"Distribution of {column.name} over its declared bounds in the synthetic table. "
            f"{summary}",
        ),
        "ends": (value_of(column, column.lower), value_of(column, column.upper)),
        "summary": summary,
    }


def _levels(column: Column, values: Series[Any]) -> dict[str, Any]:
    names = column.levels or ()
    counts = values.value_counts()
    shares = {name: int(counts.get(name, 0)) / len(values) for name in names}
    cut = names if len(names) <= SHOWN_LEVELS else names[: SHOWN_LEVELS - 1]
    rest = len(names) - len(cut)
    others = None
    if rest:
        share = 1 - sum(shares[name] for name in cut)
        others = f"{rest} further levels hold {hundredths(share)} of the rows."
    return {
        "levels": [(name, hundredths(shares[name]), f"{100 * shares[name]:.2f}") for name in cut],
        "others": others,
    }


def bars(heights: Sequence[float], description: str) -> str:
    """Draw bars side by side, the tallest over the full height, as SVG without any library."""
    width, height = BARS
    tallest = max(heights, default=0.0) or 1.0
    step = width / max(len(heights), 1)
    outline = "".join(
        f"M{step * k:.2f} {height}v{-(height - 1) * each / tallest:.2f}h{step * 0.92:.2f}V{height}z"
        for k, each in enumerate(heights)
        if each > 0
    )
    return (
        f'<svg class="spark" role="img" aria-label="{escape(printable(description))}" '
        f'viewBox="0 0 {width} {height + 1}" preserveAspectRatio="none">'
        f'<path class="bars" d="{outline}"/>'
        f'<path class="axis" d="M0 {height + 0.5}h{width}"/></svg>'
    )
