"""Telling people that work is going on: a bar on a terminal, silence anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, float], None]
"""Called with the name of a stage and the fraction of it that is done."""


def silent(stage: str, fraction: float) -> None:
    """Report nothing."""


@contextmanager
def stage(progress: Progress, name: str) -> Iterator[None]:
    """Report a stage whose length is not known: begun, and then done."""
    progress(name, 0.0)
    yield
    progress(name, 1.0)


@contextmanager
def shown(*, quiet: bool) -> Iterator[Progress]:
    """Show stages as bars on the terminal's error stream until the work is over."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield silent
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:<18}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True) as bars:
        tasks: dict[str, int] = {}

        def report(stage: str, fraction: float) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=None)
            if fraction > 0:
                bars.update(tasks[stage], total=1.0, completed=fraction)  # type: ignore[arg-type]

        yield report
