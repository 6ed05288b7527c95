"""From a model, a table and a mechanism to a release.

    prepare a Request -> plan -> charge the ledger -> draw θ -> simulate from θ
        -> promise -> measure -> Release

Everything after the draw of θ is post-processing: rows are simulated from the published θ and from
public predictors, and need no confidential value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from understudy import __version__
from understudy.domain.column import writable
from understudy.domain.frames import Tabular
from understudy.domain.reading import MEMORY
from understudy.domain.schema import Schema
from understudy.domain.tables import count_records
from understudy.ledger.ledger import Ledger
from understudy.mechanisms import Mechanism, Request
from understudy.mechanisms.plan import Plan
from understudy.mechanisms.registry import spec_of
from understudy.models.base import Model
from understudy.support.progress import Progress, silent, stage
from understudy.synthesis.charging import Account, charged
from understudy.synthesis.large import shown
from understudy.synthesis.measuring import counted, earlier_table, measured
from understudy.synthesis.preparation import check_given, prepare
from understudy.synthesis.promise import promise
from understudy.synthesis.release import Release
from understudy.synthesis.simulation import simulated


def synthesize(
    model: Model | Schema,
    table: Tabular,
    mechanism: Mechanism,
    *,
    rows: int | None = None,
    tables: int = 1,
    balanced: bool = False,
    predictors: Tabular | None = None,
    sampler: str = "auto",
    ledger: Ledger | str | Path | None = None,
    label: str = "release",
    period: str | None = None,
    earlier: tuple[str, Tabular] | None = None,
    calibrated_on: str | None = None,
    destination: str | Path | None = None,
    seed: int | None = None,
    accept_poor_mixing: bool = False,
    memory: int | str = MEMORY,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Synthesise a table and say exactly what is guaranteed about it.

    Args:
        model: The model of a record; a bare schema for a mechanism that needs none.
        table: The confidential table, or the file that it is in; a folder, or a pattern, where
            there are several files.
        mechanism: How θ is made private, with its ε and its adjacency.
        rows: Rows of each synthetic table; the declared size by default, and ten times as many
            for several tables of `Summary`: `pool` needs them.
        tables: Synthetic tables, each from a draw of its own. Each costs its own ε, except with
            `Summary`, where they are free, and where each draws its own public rows (a Bayesian
            bootstrap), so that `pool` can combine analyses of them.
        balanced: Rows by systematic sampling instead of independent ones, of any model that comes
            with the library: less noise in every distribution, but no combining rule and no test
            that assumes independent rows applies to them.
        predictors: Public rows for the synthetic table; by default public columns are copied from
            the confidential one.
        sampler: `exact`, `nuts`, or `auto` for what suits the mechanism and the model.
        ledger: Charged before anything is drawn, and told when the release is written.
        label: What the ledger's entry is called.
        period: Of repeated releases, what time this one is about.
        earlier: Label and synthetic table of the release before: the report shows what moved.
        calibrated_on: Where the settings were chosen on a reference table, whether that was
            `public` or `confidential`; the guarantee says so.
        destination: Where the release will be written. The ledger keeps it, to name what a run that
            is killed leaves there.
        seed: Fixes the randomness, for tests and trials: the result is not for release.
        accept_poor_mixing: Accept chains that have not converged; the guarantee says so.
        memory: What tables may take, such as `1GiB`. `Summary` reads a larger one batch by batch,
            once for each of its rounds, from CSV or Parquet; other mechanisms refuse it. Synthetic
            tables that are larger are simulated as they are written.
        scheduler: Address of a Dask scheduler, whose workers read the table where they find it
            under the same name, for `Summary`. The result is that of one machine.
        progress: Told the name of each step and how much of it is done.

    Returns:
        The release: synthetic tables, θ, the guarantee, and what stays inside.

    Raises:
        BadInput: Something given is missing, malformed or undeclared.
        Refused: The guarantee could not be kept, or the ledger does not allow it.
    """
    request = prepare(
        model,
        table,
        mechanism,
        rows=rows,
        tables=tables,
        balanced=balanced,
        predictors=predictors,
        sampler=sampler,
        seed=seed,
        accept_poor_mixing=accept_poor_mixing,
        calibrated_on=calibrated_on,
        period=period,
        memory=memory,
        scheduler=scheduler,
        progress=progress,
    )
    return carry_out(
        mechanism.plan(request),
        ledger=ledger,
        label=label,
        earlier=earlier,
        destination=destination,
    )


def carry_out(
    plan: Plan,
    *,
    ledger: Ledger | Account | str | Path | None,
    label: str,
    earlier: tuple[str, Tabular] | None,
    destination: str | Path | None,
) -> Release:
    """Charge, draw, simulate and release what was planned."""
    request = plan.request
    before = None if earlier is None else earlier_table(*earlier, request.schema)
    everyone = counted(request)
    charge = charged(ledger, plan, label=label, details=_whereabouts(destination))
    drawn = plan.draw()
    if drawn.model is not None:
        request = replace(request, model=drawn.model)
    published = tuple(_published(theta, request) for theta in drawn.thetas)
    published[0].update(drawn.released)
    repaired: list[int] = []
    with stage(request.progress, "Simulating"):
        synthetic = tuple(
            simulated(
                contents,
                request.skeleton,
                request.source,
                model=request.model,
                balanced=request.balanced,
                memory=request.memory // request.tables,
                repaired=repaired.append,
            )
            for contents in published
        )
    if request.schema.rules:
        drawn.diagnostics["repaired_rows"] = repaired
    guarantee = promise(plan, charge)
    internal = measured(
        request,
        drawn,
        guarantee,
        shown(synthetic[0]),
        everyone=everyone,
        earlier=before,
        charge=charge,
    )
    return Release.of(guarantee, synthetic, published, model=request.model, internal=internal)


def _whereabouts(destination: str | Path | None) -> dict[str, str]:
    """Return where a release will be written as the ledger keeps it, if that is a line of text."""
    text = "" if destination is None else str(Path(destination).absolute())
    return {"destination": text} if text and writable(text) else {}


def _published(theta: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the contents of `parameters.json`: what simulating, or anchoring at it, takes."""
    return {
        "parameters": theta,
        "model": spec_of(request.mechanism, request.model),
        "schema": request.schema.to_dict(),
        "schema_digest": request.schema.digest,
        "mechanism": request.mechanism.name,
        "population": _population(request),
        "balanced": request.balanced,
        "kind": str(request.kind),
        "convergence_waived": request.accept_poor_mixing,
        "seeded": request.source.seeded,
        "understudy": __version__,
    }


def _population(request: Request) -> dict[str, Any]:
    """Return how many records there are, as far as that is public, and whose the public rows are.

    `own`: those of the table, each once; `drawn`: drawn from them; `reweighted`: drawn by weights
    of each table's own; `separate`: from elsewhere.
    """
    skeleton, size = request.skeleton, request.size or request.schema.size
    if not skeleton.public:
        return {"size": size, "predictors": None}
    if not skeleton.copied:
        return {"size": size, "predictors": "separate"}
    size = count_records(skeleton.public)
    if skeleton.reweighted:
        return {"size": size, "predictors": "reweighted"}
    return {"size": size, "predictors": "own" if size == skeleton.rows else "drawn"}


@dataclass(frozen=True)
class Synthesizer:
    """A model and a mechanism, to be fitted to a table: for people who come from other libraries.

    `Synthesizer(schema, us.Summary(epsilon=1.0)).fit(table).sample(1000)` draws a thousand rows.
    """

    model: Model | Schema | str | Path
    """The model of a record. A schema, or the file that it is in, stands for `joint`: all of its
    columns together."""
    mechanism: Mechanism
    """How θ is made private, with its ε and its adjacency."""
    ledger: Ledger | str | Path | None = None
    """Charged for each fit."""

    def fit(self, table: Tabular) -> Release:
        """Return the release of a table. Each fit costs ε; rows that are sampled from it do not.

        Args:
            table: The confidential table, or the file that it is in.
        """
        model = Schema.load(self.model) if isinstance(self.model, str | Path) else self.model
        check_given(model, self.mechanism)
        if isinstance(model, Schema) and self.mechanism.needs_model:
            from understudy.models.table.joint import joint

            model = joint(model)
        return synthesize(model, table, self.mechanism, ledger=self.ledger)
