"""`understudy calibrate`: settings for every period, settled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Balanced, Family, Prior, Quiet, SchemaFile, check_new, load
from understudy.errors import BadInput
from understudy.privacy.rounding import plain


def calibrate(
    reference: Annotated[
        Path, typer.Argument(metavar="REFERENCE", help="Table to choose the settings on.")
    ],
    reference_is: Annotated[
        str, typer.Option(help="What the reference is: public or confidential.")
    ],
    schema: SchemaFile,
    population: Annotated[
        str, typer.Option(help="Who is protected, in the words of their ledger.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Policy to write, such as POLICY.toml.")],
    model: Annotated[
        str | None, typer.Option(help="As for synthesize; without one, only ph is tried.")
    ] = None,
    family: Family = None,
    prior: Prior = None,
    epsilon: Annotated[
        float | None, typer.Option(help="ε of each period; default: a choice among 0.1 to 5.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="summary: δ at which ε and the budget hold, with normal noise."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Accuracy to reach, such as max_ecdf=0.03, with the smallest ε."),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            help="summary, anchored, censor-uw, censor-w or ph; repeat for several. "
            "Default: summary and ph."
        ),
    ] = None,
    adjacency: Annotated[str, typer.Option(help="add-remove or replace-one.")] = "add-remove",
    rows: Annotated[
        int | None, typer.Option(help="Rows of each release; default: the declared size.")
    ] = None,
    balanced: Balanced = False,
    budget: Annotated[
        float | None, typer.Option(help="Budget of the ledger; default: ε times the periods.")
    ] = None,
    periods: Annotated[int, typer.Option(help="Periods that the budget pays for.")] = 12,
    draws: Annotated[int, typer.Option(help="Draws at each setting.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the trials; nothing is released.")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the policy and its files.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Choose mechanism and settings on a reference table, and write a policy.

    POLICY.toml may be shared. POLICY.reference.json, by which release recognises the reference and
    refuses it, is written beside it and stays inside.
    """
    from understudy.domain.schema import Schema
    from understudy.periods.calibration import calibrate as run
    from understudy.periods.policy import reference_file
    from understudy.support.progress import shown

    if out.suffix != ".toml":
        raise BadInput(f"the policy must be a .toml file, and '{out}' is not.")
    for path in (out, out.with_suffix(".html"), reference_file(out)):
        check_new(path, force=force, what="policy")
    declared = Schema.load(schema)
    with shown(quiet=quiet) as progress:
        calibration = run(
            load(model, declared, family, prior, progress) or declared,
            reference,
            reference_is=reference_is,
            epsilon=epsilon,
            delta=delta,
            target=target,
            mechanisms=mechanism,
            adjacency=adjacency,
            rows=rows,
            balanced=balanced,
            population=population,
            budget=budget,
            periods=periods,
            draws=draws,
            seed=seed,
            progress=progress,
        )
        page = calibration.write(out, schema=schema)
    if not quiet:
        from understudy.periods.calibration.page import cost

        if reference_is == "confidential":
            typer.echo("CONFIDENTIAL: accuracy computed from the reference; do not publish it.")
        shared, inside = [out], [reference_file(out)]
        (inside if reference_is == "confidential" else shared).append(page)
        chosen, epsilon = calibration.chosen, calibration.policy.epsilon
        typer.echo(
            f"{chosen.setting} at ε = {plain(epsilon)}: {cost(chosen)}.\n"
            f"Policy: {out}\nRisk and utility: {page}\n"
            f"May be shared: {', '.join(map(str, shared))}\n"
            f"Stays inside: {', '.join(map(str, inside))}"
        )
