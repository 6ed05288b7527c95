"""`understudy compare`: synthetic tables beside the confidential one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Data, SchemaFile, check_new


def compare(
    table: Data,
    synthetic: Annotated[
        list[Path],
        typer.Argument(metavar="SYNTHETIC...", help="Synthetic table; several: side by side."),
    ],
    schema: SchemaFile,
    regression: Annotated[
        str | None,
        typer.Option(help="Regression to fit to each table: 'log(pay) ~ gender + age'."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write an HTML page, too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page.")] = False,
    memory: Annotated[
        str,
        typer.Option(help="What the tables may take, such as 1GiB; larger ones are read in parts."),
    ] = "1GiB",
) -> None:
    """Compare synthetic tables with the confidential one. The result is CONFIDENTIAL."""
    from understudy.report import comparison
    from understudy.support.progress import shown, stage

    if out is not None:
        check_new(out, force=force, what="file")
    with shown(quiet=as_json) as progress, stage(progress, "Comparing"):
        compared = comparison.compare(
            table, synthetic, schema, regression=regression, memory=memory
        )
        if out is not None:
            compared.write_page(out)
    typer.echo(compared.to_json() if as_json else compared.to_text())
