"""`understudy infer`: a question to a release, answered with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Quiet, check_new
from understudy.errors import BadInput

_WRITTEN = (".html", ".svg", ".json")


def infer(
    public: Annotated[
        Path, typer.Argument(metavar="DIR/public", help="The public directory of a release.")
    ],
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION",
            help="mean(y), median(y), quantile(y, 0.9), share(g == 'F') or correlation(x, y), "
            "each optionally 'by g'; or a regression such as 'y ~ x + g'.",
        ),
    ],
    level: Annotated[float, typer.Option(help="How often intervals are to hold the truth.")] = 0.95,
    given_predictors: Annotated[
        bool,
        typer.Option(
            "--given-predictors",
            help="About people with the release's predictors, not the population behind them.",
        ),
    ] = False,
    finite: Annotated[
        bool,
        typer.Option("--finite", help="About the very records of the confidential table."),
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="path/to/file.py:function, if the release was made with it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write: .html, .svg (the figure) or .json.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    seed: Annotated[int | None, typer.Option(help="Fix the randomness.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Answer a question from a release alone: free, and without the confidential table."""
    from understudy.support.progress import shown, stage
    from understudy.synthesis import answering

    if out is not None:
        if out.suffix not in _WRITTEN:
            raise BadInput(f"'{out}' must end in one of {', '.join(_WRITTEN)}.")
        check_new(out, force=force, what="file")
    with shown(quiet=quiet or as_json) as progress, stage(progress, "Asking"):
        answer = answering.infer(
            public,
            question,
            level=level,
            given_predictors=given_predictors,
            finite=finite,
            model=model,
            seed=seed,
        )
        if out is not None:
            answer.write(out)
    typer.echo(answer.to_json() if as_json else answer.to_text())
