"""From a model, a table and a mechanism to a release.

    encode the table -> fit (or count) -> draw θ, rounded to a public grid -> simulate -> Release

Everything after the draw of θ is post-processing: rows are simulated from the published θ and from
public predictors, and need no confidential value.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy import __version__, histogram, tables
from understudy.assumptions import Circumstances, assumptions
from understudy.errors import BadInput
from understudy.guarantee import Adjacency, Guarantee, Kind, epsilon_of_bound
from understudy.mechanisms import Mechanism, PerturbedHistogram
from understudy.progress import Progress, silent
from understudy.randomness import Source
from understudy.release import Release
from understudy.schema import Role, Schema
from understudy.simulation import Predictors, simulate

if TYPE_CHECKING:
    import pandas as pd

    from understudy.models.base import Model
    from understudy.tables import Columns

LARGEST_TABLES = 100


@dataclass(frozen=True)
class _Drawn:
    """What a mechanism gives: one private θ for each table, and confidential diagnostics."""

    thetas: list[dict[str, Any]]
    spec: dict[str, Any]
    sampler: str
    epsilon: dict[Adjacency, float] | None
    diagnostics: dict[str, Any]
    alpha: np.ndarray | None = None
    largest_score: np.ndarray | None = None
    bound: float | None = None


def synthesize(
    model: Model | Schema,
    table: pd.DataFrame | str | Path,
    mechanism: Mechanism | PerturbedHistogram,
    *,
    rows: int | None = None,
    tables: int = 1,
    predictors: pd.DataFrame | str | Path | None = None,
    seed: int | None = None,
    accept_poor_mixing: bool = False,
    progress: Progress = silent,
) -> Release:
    """Synthesise a table and say exactly what is guaranteed about it.

    `model` may be a bare schema for the perturbed histogram, which needs no model. Each of the
    `tables` takes a draw of its own and costs its own ε. `predictors` are public rows for the
    synthetic table; without them, public columns are copied from the table.
    """
    started = time.monotonic()
    _check_tables(tables)
    schema = model if isinstance(model, Schema) else model.schema
    frame = _frame(table)
    columns = _encode(frame, schema, "the table")
    source = Source(seed)
    plan = plan_predictors(
        schema, columns, mechanism.adjacency, rows=rows, predictors=predictors, source=source
    )
    if isinstance(mechanism, PerturbedHistogram):
        drawn = _draw_histogram(schema, columns, mechanism, tables, source)
    elif isinstance(model, Schema):
        raise BadInput(f"the mechanism {mechanism.name} needs a model, not a schema alone.")
    else:
        drawn = _draw_bayesian(
            model, columns, mechanism, tables, source, accept_poor_mixing, progress
        )
    published = [_published(theta, drawn.spec, schema, source) for theta in drawn.thetas]
    synthetic = tuple(
        simulate(contents, plan, source, model=None if isinstance(model, Schema) else model)
        for contents in published
    )
    asked = Circumstances(
        mechanism=mechanism,
        draws=tables,
        copied_predictors=plan.copied,
        true_size=plan.true_size,
        poor_mixing_accepted=accept_poor_mixing,
        seeded=source.seeded,
    )
    guarantee = Guarantee(
        mechanism=mechanism.name,
        kind=mechanism.kind,
        asked=mechanism.adjacency,
        epsilon=drawn.epsilon,
        draws=tables,
        weights=mechanism.weights,
        sampler=drawn.sampler,
        assumptions=assumptions(asked),
        seeded=source.seeded,
        rows=plan.rows,
    )
    title = schema.confidential[0].name if isinstance(model, Schema) else model.title
    return _release(title, schema, columns, guarantee, drawn, published, synthetic, started)


def plan_predictors(
    schema: Schema,
    columns: Columns,
    adjacency: Adjacency,
    *,
    rows: int | None,
    predictors: pd.DataFrame | str | Path | None,
    source: Source,
) -> Predictors:
    """Decide how many rows to simulate and from which public values.

    The number of records of the table is used only where it is public anyway: under replace-one,
    or when public columns are copied from the table.
    """
    records = len(next(iter(columns.values())))
    if predictors is not None:
        public = _encode(_frame(predictors), schema, "the predictors", roles=(Role.PUBLIC,))
        if not public:
            raise BadInput("predictors were given, but the schema declares no public column.")
        available = len(next(iter(public.values())))
    else:
        public = {column.name: columns[column.name] for column in schema.public}
        available = records
    copied = bool(public) and predictors is None
    if rows is None:
        rows = schema.size
    if rows is None and public:
        rows = available
    if rows is None and adjacency is Adjacency.REPLACE_ONE:
        rows = records
    if rows is None:
        raise BadInput(
            "how many rows to synthesise is not known, and the number of records is protected "
            "under add-remove: declare size under [table] in the schema, or give --rows."
        )
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise BadInput(f"rows must be a positive whole number, not {rows!r}.")
    true_size = not copied and rows == records and adjacency is Adjacency.REPLACE_ONE
    return Predictors(public, available, rows, copied=copied, true_size=true_size)


def _draw_bayesian(
    model: Model,
    columns: Columns,
    mechanism: Mechanism,
    count: int,
    source: Source,
    accept_poor_mixing: bool,
    progress: Progress,
) -> _Drawn:
    from understudy.fitting import choose_draws, fit_mechanism
    from understudy.lipschitz import censored_records, lipschitz_bound

    fitted = fit_mechanism(
        model,
        model.prepare(columns),
        mechanism,
        source,
        draws=count,
        accept_poor_mixing=accept_poor_mixing,
        progress=progress,
    )
    chosen = choose_draws(fitted.fit, count, source.generator())
    thetas = [_plain_theta(model.constrain(model.round_to_grid(z))) for z in chosen]
    delta = lipschitz_bound(fitted.reached)
    convergence = fitted.fit.convergence
    judged = dict(
        zip(
            convergence.names,
            zip(convergence.rhat, convergence.ess_bulk, strict=True),
            strict=True,
        )
    )
    alpha = np.asarray(fitted.row.alpha)
    diagnostics = {
        "parameters": {
            name: {
                "mean": float(np.mean(values)),
                "sd": float(np.std(values)),
                "rhat": float(judged[name][0]),
                "ess_bulk": float(judged[name][1]),
            }
            for parameter in model.parameters
            for name, values in zip(
                parameter.element_names,
                np.moveaxis(_flat(fitted.fit.theta[parameter.name]), -1, 0),
                strict=True,
            )
        },
        "gate": {
            name: {"rhat": float(rhat), "ess_bulk": float(ess)}
            for name, (rhat, ess) in judged.items()
        },
        "lipschitz_bound": delta,
        "local_epsilon": 2 * delta,
        "censored_records": censored_records(fitted.reached, fitted.row),
        "dropped_records": int(np.sum(alpha == 0)),
        "divergences": convergence.divergences,
        "posterior_draws": int(np.prod(fitted.fit.z.shape[:2])),
    }
    strict = mechanism.kind is Kind.STRICT
    return _Drawn(
        thetas=thetas,
        spec=model.spec,
        sampler="nuts",
        epsilon=epsilon_of_bound(mechanism.bound, draws=count) if strict else None,
        diagnostics=diagnostics,
        alpha=alpha,
        largest_score=np.asarray(fitted.reached.largest_score),
        bound=mechanism.bound,
    )


def _draw_histogram(
    schema: Schema, columns: Columns, mechanism: PerturbedHistogram, count: int, source: Source
) -> _Drawn:
    column = histogram.histogram_column(schema)
    bins = mechanism.bin_count(schema.size)
    exact = histogram.counts(columns[column.name], column, bins)
    noisy = [histogram.perturbed(exact, mechanism, source) for _ in range(count)]
    one = mechanism.epsilon / mechanism.sensitivity
    return _Drawn(
        thetas=[{"counts": counts.tolist()} for counts in noisy],
        spec={"name": "ph"},
        sampler="none",
        epsilon={adjacency: count * one * adjacency.steps for adjacency in Adjacency},
        diagnostics={
            "parameters": {},
            "lipschitz_bound": None,
            "local_epsilon": None,
            "censored_records": None,
            "divergences": None,
        },
    )


def _published(
    theta: dict[str, Any], spec: dict[str, Any], schema: Schema, source: Source
) -> dict[str, Any]:
    """Return the contents of `parameters.json`: all that is needed to simulate more rows."""
    return {
        "parameters": theta,
        "model": spec,
        "schema": schema.to_dict(),
        "schema_digest": schema.digest,
        "seeded": source.seeded,
        "understudy": __version__,
    }


def _release(
    title: str,
    schema: Schema,
    columns: Columns,
    guarantee: Guarantee,
    drawn: _Drawn,
    published: list[dict[str, Any]],
    synthetic: tuple[pd.DataFrame, ...],
    started: float,
) -> Release:
    from understudy.report.page import Page
    from understudy.utility import compare

    confidential = tables.decode(columns, schema)
    utility = compare(confidential, synthetic[0], schema)
    diagnostics = _finite_numbers(
        {
            **drawn.diagnostics,
            "n": len(confidential),
            "seconds": time.monotonic() - started,
            "utility": {name: measured.to_dict() for name, measured in utility.items()},
        }
    )
    page = partial(
        Page,
        title=title,
        guarantee=guarantee,
        schema=schema,
        confidential=confidential,
        synthetic=synthetic[0],
        utility=utility,
        diagnostics=diagnostics,
        alpha=drawn.alpha,
        largest_score=drawn.largest_score,
        bound=drawn.bound,
    )
    return Release(
        guarantee=guarantee,
        tables=synthetic,
        parameters=tuple(published),
        diagnostics=diagnostics,
        report=lambda: page().render(),
    )


def _check_tables(count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_TABLES:
        raise BadInput(f"tables must be a number from 1 to {LARGEST_TABLES}, not {count!r}.")


def _frame(table: pd.DataFrame | str | Path) -> pd.DataFrame:
    return tables.read(Path(table)) if isinstance(table, str | Path) else table


def _encode(
    frame: pd.DataFrame,
    schema: Schema,
    name: str,
    roles: tuple[Role, ...] = (Role.CONFIDENTIAL, Role.PUBLIC),
) -> Columns:
    return tables.encode(frame, schema, roles=roles, name=name)


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(values.shape[0] * values.shape[1], -1)


def _plain_theta(theta: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in theta.items()}


def _finite_numbers(value: Any) -> Any:
    """Replace numbers that JSON cannot hold by null."""
    if isinstance(value, dict):
        return {key: _finite_numbers(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
