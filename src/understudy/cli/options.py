"""What several commands take, and how they say what they have written."""

from __future__ import annotations

from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer


class Exit(IntEnum):
    """Exit codes, as documented."""

    DONE = 0
    VIOLATION = 1
    BAD_INPUT = 2
    REFUSED = 3
    BUG = 70


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="Table: .csv, .parquet, .dta, .sas7bdat, .xpt or .sav."),
]
SchemaFile = Annotated[Path, typer.Option("--schema", help="Schema that declares the table.")]
Seed = Annotated[
    int | None, typer.Option(help="Fix the randomness; the result is then NOT for release.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier release in that place.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def say_where(directory: Path, headline: str) -> None:
    """Say what is guaranteed of a release, and where its files are."""
    tell(
        f"{headline}\n\n"
        f"synthetic table  {directory / 'public' / 'synthetic.csv'}\n"
        f"guarantee        {directory / 'public' / 'guarantee.txt'}\n"
        f"card             {directory / 'public' / 'card.html'}\n"
        f"report           {directory / 'internal' / 'report.html'}  (confidential)"
    )


def tell(text: str) -> None:
    """Say that something was written; that nobody listens does not undo it."""
    with suppress(OSError):
        typer.echo(text)
