"""`understudy pool`: one interval from the analyses of several synthetic tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.errors import BadInput


def pool(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE... QUESTION",
            help="Tables of one release, and what to ask: 'mean(pay) by gender', "
            "'share(pay > 50000)', 'pay ~ gender + age', ...",
        ),
    ],
    level: Annotated[
        float, typer.Option(help="With what probability an interval is to hold the answer.")
    ] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask several synthetic tables of a release, and combine their answers into intervals."""
    from understudy.synthesis import pooling

    *tables, question = arguments
    if Path(question).is_file():
        raise BadInput(
            f"'{question}' is a file, and what comes last must be a question, such as 'mean(y)'."
        )
    pooled = pooling.pool(tables, question, level=level)
    typer.echo(pooled.to_json() if as_json else pooled.to_text())
