"""Arguments of Python become flags of the command line."""

import pytest
import typer

from understudy.cli.app import app
from understudy.cli.flags import in_flags

COMMAND = typer.main.get_command(app)


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("add `force`.", "add --force."),
        ("accept it with `accept_poor_mixing`.", "accept it with --accept-poor-mixing."),
        ("`priors` and `reference_is`", "--prior and --reference-is"),
        ("`dry_run` of release", "--dry-run of release"),
        ("use `nothing_like_it` and 'force'", "use `nothing_like_it` and 'force'"),
        ("make one with `Ledger.create`", "make one with 'understudy ledger create'"),
        ("say so with `Ledger.abandon(12)`", "say so with 'understudy ledger abandon LEDGER 12'"),
        ("`No Argument` and ``", "`No Argument` and ``"),
    ],
)
def test_only_options_of_the_command_line_are_turned_into_flags(sentence, told):
    assert in_flags(sentence, COMMAND) == told
