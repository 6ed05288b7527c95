"""`understudy init`, `sample` and `compare`: before and after a synthesis."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Data, Quiet, SchemaFile, tell
from understudy.errors import BadInput


def init(
    table: Data,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Schema to write; default: DATA.toml.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the schema file.")] = False,
) -> None:
    """Draft a schema; size, types, bounds and levels are left for a person to declare."""
    from understudy.domain import drafting, tables
    from understudy.support.files import written_atomically

    destination = out or table.with_suffix(".toml")
    if destination.exists() and not force:
        raise BadInput(f"'{destination}' exists already: name another file, or add --force.")
    text = drafting.draft(tables.read(table), source=table.name)
    with written_atomically(destination) as file:
        file.write_text(text, encoding="utf-8")
    tell(
        f"{destination} is a draft: fill in every blank from public knowledge, not from the table."
    )


def sample(
    public: Annotated[
        Path,
        typer.Argument(
            metavar="DIR/public",
            help="The public directory of a release, or one of several parameter files in it.",
        ),
    ],
    rows: Annotated[int, typer.Option(help="Rows to draw.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write: .csv or .parquet.")],
    predictors: Annotated[
        Path | None, typer.Option(help="Public predictor rows; default: those of the release.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="path/to/file.py:function, if the release was made with it.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Fix the randomness.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw more rows from a release: free, and without the confidential table."""
    from understudy.domain import tables
    from understudy.support.files import written_atomically
    from understudy.support.progress import shown, stage
    from understudy.synthesis import simulation

    tables.check_writable(out)
    if out.exists() and not force:
        raise BadInput(f"'{out}' exists already: name another file, or add --force.")
    with shown(quiet=quiet) as progress, stage(progress, "Sampling"):
        frame = simulation.sample(public, rows=rows, predictors=predictors, model=model, seed=seed)
        with written_atomically(out) as file:
            tables.write(frame, file)
    if not quiet:
        tell(f"{rows:,} rows written to {out}, at no further cost.")


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
) -> None:
    """Compare synthetic tables with the confidential one. The result is CONFIDENTIAL."""
    from understudy.report import comparison
    from understudy.support.progress import shown, stage

    if out is not None and out.exists() and not force:
        raise BadInput(f"'{out}' exists already: name another file, or add --force.")
    with shown(quiet=as_json) as progress, stage(progress, "Comparing"):
        compared = comparison.compare(table, synthetic, schema, regression=regression)
        if out is not None:
            compared.write_page(out)
    typer.echo(compared.to_json() if as_json else compared.to_text())
