"""The command line: arguments in, one sentence out where something is wrong."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

# Typer carries click and re-exports it partly.
from typer._click.exceptions import BadParameter, ClickException, MissingParameter

from understudy import __version__
from understudy.cli import ledger, study
from understudy.cli.audit import audit
from understudy.cli.calibrate import calibrate
from understudy.cli.compare import compare
from understudy.cli.demo import demo
from understudy.cli.infer import infer
from understudy.cli.init import init
from understudy.cli.options import Exit
from understudy.cli.pool import pool
from understudy.cli.release import release
from understudy.cli.sample import sample
from understudy.cli.synthesize import synthesize
from understudy.errors import ARGUMENT, BadInput, Problem, Refused
from understudy.support.stopping import NOTHING, leave, left_behind

app = typer.Typer(
    name="understudy",
    help="Differentially private synthetic tables from Bayesian models.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for each in (demo, init, synthesize, calibrate, release, sample, infer, pool, compare, audit):
    app.command()(each)
app.add_typer(ledger.app, name="ledger")
app.add_typer(study.app, name="study")

_INTERRUPTED = 130
"""What Typer makes of a KeyboardInterrupt, where no signal handler answers in its place."""
_CREATE, _ABANDON = re.compile(r"`Ledger\.create`"), re.compile(r"`Ledger\.abandon\((\d+)\)`")
_OTHERWISE = {"priors": "prior", "directory": "out", "with_record_weights": "record_weights"}
"""What the command line calls otherwise than Python does."""


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"understudy {__version__}")
        raise typer.Exit()


@app.callback()
def understudy(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Differentially private synthetic tables from Bayesian models."""


def main() -> NoReturn:
    """Run the command line and leave with the documented exit code."""
    # A library's warning is not a sentence for a steward, and its text is beyond our control.
    warnings.simplefilter("ignore")
    logging.disable()
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.flush()
    # Not sys.exit: after an error, chains still running in threads would be waited for.
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; whatever goes wrong is told in one sentence."""
    leave(NOTHING)
    command, asked = typer.main.get_command(app), arguments or ["--help"]
    try:
        result = command.main(asked, prog_name="understudy", standalone_mode=False)
    except SystemExit:  # How Typer leaves when nobody reads its output any more.
        return Exit.DONE
    except Exception as error:  # noqa: BLE001 - a traceback could show confidential values
        sentence, code = _explain(error)
        if isinstance(error, Problem):
            sentence = in_flags(sentence, running(command, asked))
    else:
        if result != _INTERRUPTED:
            return result if isinstance(result, int) else Exit.DONE
        sentence, code = f"interrupted; {left_behind()}.", Exit.BAD_INPUT
    # A message that comes from a user's model may have line breaks.
    print("understudy:", " ".join(sentence.split()), file=sys.stderr)
    return code


def _explain(error: Exception) -> tuple[str, Exit]:
    """Return the sentence and the exit code for whatever went wrong."""
    match error:
        case BadInput():
            return f"{error}{_whatever_was_charged()}", Exit.BAD_INPUT
        case Refused():
            return f"refused: {error}{_whatever_was_charged()}", Exit.REFUSED
        case ClickException():
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "understudy"
            message = _usage(error)
            stop = "" if message.endswith((".", "?")) else "."
            return f"{message}{stop} See '{command} --help'.", Exit.BAD_INPUT
        case OSError():
            place = f" ('{error.filename}')" if error.filename else ""
            reason = error.strerror or type(error).__name__
            return f"the system said: {reason}{place}; {left_behind()}.", Exit.BAD_INPUT
        case _:
            return _bug(error), Exit.BUG


def _usage(error: ClickException) -> str:
    """Return what is wrong with a command in our words, where a library would use its own."""
    option: Any = getattr(error, "param", None)
    cause: Any = error.__cause__
    if isinstance(error, MissingParameter) and getattr(option, "help", None):
        told = option.help.rstrip(".")
        return f"{_named(option)} is missing ({told[0].lower()}{told[1:]})"
    if isinstance(error, BadParameter) and option is not None and hasattr(cause, "errors"):
        # An option is a text or a number, and everything that is written is a text.
        wanted = "a whole number" if "integer" in error.message else "a number"
        return f"{_named(option)} must be {wanted}, not {cause.errors()[0]['input']!r}"
    return error.format_message()


def _named(option: Any) -> str:
    """Return how a command line names an option or an argument."""
    flags = (flag for flag in option.opts if flag.startswith("--"))
    return next(flags, option.metavar or option.name)


def _whatever_was_charged() -> str:
    clause = left_behind()
    return "" if clause == NOTHING else f" {clause[0].upper()}{clause[1:]}."


def _bug(error: Exception) -> str:
    """Say where an unforeseen error arose, without its message, which could hold a value."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = ""
    if place is not None:
        where = f" at {Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
    return (
        f"an unforeseen {type(error).__name__}{where} stopped the run, and {left_behind()}; its "
        f"details are withheld because they could be confidential. Please report it."
    )


def running(command: Any, arguments: list[str]) -> Any:
    """Return the command that the arguments ask for: the last one that they name."""
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    return command


def in_flags(sentence: str, command: Any) -> str:
    """Return a sentence with the flags of a command's options in place of Python's arguments.

    The library names what is wrong, the command line how to say it.
    """
    known = {
        option.name: flag
        for option in command.params
        for flag in option.opts
        if flag.startswith("--")
    }

    def flag(match: re.Match[str]) -> str:
        name = _OTHERWISE.get(match[1], match[1])
        return known.get(name, match[0])

    sentence = _CREATE.sub("'understudy ledger create'", ARGUMENT.sub(flag, sentence))
    return _ABANDON.sub(r"'understudy ledger abandon LEDGER \1'", sentence)
