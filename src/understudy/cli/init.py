"""`understudy init`: a draft of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import Data, check_new, tell


def init(
    table: Data,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Schema to write; default: DATA.toml.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the schema file.")] = False,
) -> None:
    """Draft a schema; size, types, bounds and levels are left for a person to declare."""
    from understudy.domain.drafting import draft
    from understudy.support.files import written_atomically

    destination = out or table.with_suffix(".toml")
    check_new(destination, force=force, what="file")
    text = draft(table)
    with written_atomically(destination) as file:
        file.write_text(text, encoding="utf-8")
    tell(
        f"{destination} is a draft: fill in every blank from public knowledge, not from the table."
    )
