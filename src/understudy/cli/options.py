"""What several commands take, and how they say what they have written."""

from __future__ import annotations

from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.errors import BadInput

if TYPE_CHECKING:
    from understudy.domain.schema import Schema
    from understudy.models.base import Model
    from understudy.support.progress import Progress
    from understudy.synthesis.release import Release


class Exit(IntEnum):
    """Exit codes, as documented."""

    DONE = 0
    VIOLATION = 1
    BAD_INPUT = 2
    REFUSED = 3
    BUG = 70


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table: .csv, .parquet, .dta, .sas7bdat, .xpt or .sav; or a folder, or a pattern in "
        "quotes, of .csv or .parquet files.",
    ),
]
SchemaFile = Annotated[Path, typer.Option("--schema", help="Schema that declares the table.")]
Seed = Annotated[
    int | None, typer.Option(help="Fix the randomness; the result is then NOT for release.")
]
Balanced = Annotated[
    bool,
    typer.Option(
        "--balanced",
        help="Rows by systematic sampling: less noise in every distribution; not for combining "
        "rules or tests that assume independent rows.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier release in that place.")]
Family = Annotated[
    str | None, typer.Option(help="Family of a formula: gaussian, beta, poisson, ...")
]
Prior = Annotated[
    list[str] | None,
    typer.Option(help="Prior of a formula's parameter, such as 'Intercept=normal(0, 1)'."),
]
Memory = Annotated[
    str,
    typer.Option(
        help="What a table may take, such as 1GiB; summary reads a larger one batch by batch, and "
        "larger synthetic ones are simulated as they are written."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786, to read the table."),
]
Parquet = Annotated[bool, typer.Option("--parquet", help="Write Parquet beside CSV.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def load(
    model: str | None,
    schema: Schema,
    family: str | None,
    priors: list[str] | None,
    progress: Progress,
) -> Model | None:
    """Build the model that was named, if one was."""
    if model is None:
        return None
    from understudy.adapters.loading import load_model
    from understudy.support.progress import stage

    with stage(progress, "Model"):
        return load_model(model, schema=schema, family=family, priors=priors or ())


def check_new(path: Path, *, force: bool, what: str) -> None:
    """Refuse to overwrite a file, and a place where none can be written."""
    from understudy.support.files import check_place

    if path.is_dir():
        raise BadInput(f"'{path}' is a directory: name a file as {what} with `out`.")
    if path.exists() and not force:
        raise BadInput(f"'{path}' exists already: name another {what} with `out`, or add `force`.")
    check_place(path)


def warn(release: Release) -> None:
    """Say what readers of a release must know of its model."""
    if release.warning is not None:
        typer.echo(f"Warning: {release.warning}", err=True)


def say_where(directory: Path, release: Release) -> None:
    """Say what is guaranteed of a release, and where its files are."""
    warn(release)
    tell(
        f"{release.guarantee.headline}\n\n"
        f"synthetic table  {directory / 'public' / 'synthetic.csv'}\n"
        f"guarantee        {directory / 'public' / 'guarantee.txt'}\n"
        f"card             {directory / 'public' / 'card.html'}\n"
        f"report           {directory / 'internal' / 'report.html'}  (confidential)"
    )


def tell(text: str) -> None:
    """Say that something was written; that nobody listens does not undo it."""
    with suppress(OSError):
        typer.echo(text)
