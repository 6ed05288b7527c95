"""`understudy ledger`: create, show and verify a record of what was spent."""

from __future__ import annotations

from typing import Annotated

import typer

from understudy.errors import BadInput

app = typer.Typer(help="Keep a record of what was spent on one protected population.")

Where = Annotated[
    str, typer.Argument(metavar="FILE", help="Ledger file, or a PostgreSQL URL of SQLAlchemy.")
]


@app.command()
def create(
    ledger: Where,
    budget: Annotated[float, typer.Option(help="Budget: pure ε, or with --delta the ε of (ε, δ).")],
    adjacency: Annotated[str, typer.Option(help="add-remove or replace-one.")],
    population: Annotated[str, typer.Option(help="Who is protected, in words.")] = "",
    delta: Annotated[float | None, typer.Option(help="δ of an (ε, δ) budget.")] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|row",
            help="Whose ε is counted: a row's, or that of all rows with one value of a column. "
            "Default: as the first charge says.",
        ),
    ] = None,
    membership: Annotated[
        str | None,
        typer.Option(
            metavar="protected|public",
            help="Whether the releases hide who takes part. Default: as the first charge says.",
        ),
    ] = None,
) -> None:
    """Create an empty ledger with a budget that cannot be changed."""
    from understudy.ledger.ledger import Ledger

    if membership not in (None, "protected", "public"):
        raise BadInput(f"--membership must be protected or public, not '{membership}'.")
    made = Ledger.create(
        ledger,
        budget=budget,
        adjacency=adjacency,
        population=population,
        delta=delta,
        unit=unit,
        membership=None if membership is None else membership == "protected",
    )
    typer.echo(made.show(), nl=False)


@app.command()
def show(ledger: Where) -> None:
    """Show every period, what is spent and left, and how long the budget lasts."""
    from understudy.ledger.ledger import Ledger

    typer.echo(Ledger.open(ledger).show(), nl=False)


@app.command()
def abandon(
    ledger: Where,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Entry, as 'show' numbers it.")],
) -> None:
    """Say that what an entry paid for will never be published; it stays charged."""
    from understudy.ledger.ledger import Ledger

    Ledger.open(ledger).abandon(number)
    typer.echo(
        f"Entry {number} is abandoned: it stays charged, and what it paid for cannot be published."
    )


@app.command()
def verify(ledger: Where) -> None:
    """Check that no row was edited, added or removed behind the ledger's back."""
    from understudy.ledger.ledger import Ledger

    Ledger.open(ledger).verify()
    typer.echo("The ledger is whole: every row fits the one before it.")
