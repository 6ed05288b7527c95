"""The command line: arguments in, one sentence out where something is wrong."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer._click.exceptions import ClickException  # Typer carries click and re-exports it partly.

from understudy import __version__, cli_ledger, cli_policy, cli_study
from understudy.errors import BadInput, Refused

app = typer.Typer(
    name="understudy",
    help="Differentially private synthetic tables from Bayesian models.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.command()(cli_policy.calibrate)
app.command()(cli_policy.release)
app.add_typer(cli_ledger.app, name="ledger")
app.add_typer(cli_study.app, name="study")


class Exit(IntEnum):
    """Exit codes, as documented."""

    DONE = 0
    VIOLATION = 1
    BAD_INPUT = 2
    REFUSED = 3
    BUG = 70


_INTERRUPTED = 130
"""What Typer makes of a KeyboardInterrupt, where no signal handler answers in its place."""

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


@app.command()
def demo(
    out: Annotated[
        Path | None, typer.Option(help="Directory to write; default: understudy-demo.")
    ] = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Synthesise the embedded, simulated survey of doctorate recipients."""
    from understudy import data, synthesis
    from understudy.mechanisms import Anchored
    from understudy.models.formula import formula
    from understudy.progress import shown, stage
    from understudy.release import check_destination, released_schema
    from understudy.schema import Schema

    schema = Schema.load(data.survey_schema())
    destination = out or Path("understudy-demo")
    # An earlier demo holds nothing confidential and may be made again; another release may not.
    replace = force or released_schema(destination) == schema.digest
    check_destination(destination, force=replace)
    with shown(quiet=quiet) as progress:
        with stage(progress, "Model"):
            model = formula("salary ~ gender + age + weeks", family="beta", schema=schema)
        release = synthesis.synthesize(
            model, data.survey_table(), Anchored(epsilon=1.0), seed=seed, progress=progress
        )
        with stage(progress, "Writing"):
            release.write(destination, force=replace)
    if not quiet:
        typer.echo("The demo's survey is simulated: no record in it belongs to a person.\n")
        _say_where(destination, release.guarantee.headline)


@app.command()
def init(
    table: Data,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Schema to write; default: DATA.toml.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the schema file.")] = False,
) -> None:
    """Draft a schema; size, bounds and levels are left for a person to declare."""
    from understudy import drafting, tables
    from understudy.files import written_whole

    destination = out or table.with_suffix(".toml")
    if destination.exists() and not force:
        raise BadInput(f"'{destination}' exists already: name another file, or add --force.")
    text = drafting.draft(tables.read(table), source=table.name)
    with written_whole(destination) as file:
        file.write_text(text, encoding="utf-8")
    _tell(
        f"{destination} is a draft: fill in every blank from public knowledge, not from the table."
    )


@app.command()
def synthesize(
    table: Data,
    schema: SchemaFile,
    out: Annotated[Path, typer.Option(help="Directory to write the release to.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="beta, joint (or joint:first,second,...), mixture, a formula such as "
            "'salary ~ gender + age', or path/to/file.py:function; ph needs none."
        ),
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Family of a formula: gaussian, beta, poisson, ...")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="Prior of a formula's parameter, such as 'Intercept=normal(0, 1)'."),
    ] = None,
    mechanism: Annotated[
        str,
        typer.Option(help="anchored, censor-uw, censor-w, ph, weighted-e, weighted or unweighted."),
    ] = "anchored",
    epsilon: Annotated[
        float | None, typer.Option(help="ε; needed except by unweighted and weighted.")
    ] = None,
    adjacency: Annotated[
        str, typer.Option(help="What ε protects against: add-remove or replace-one.")
    ] = "add-remove",
    rows: Annotated[
        int | None, typer.Option(help="Rows to synthesise; default: the declared size.")
    ] = None,
    c1: Annotated[float | None, typer.Option(help="Scale of the weights; default 1.")] = None,
    c2: Annotated[float | None, typer.Option(help="Shift of the weights; default 0.")] = None,
    bins: Annotated[
        str | None, typer.Option(help="ph: sqrt (default) or ln of the declared size, or a number.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(help="Another table (or an earlier parameters.json) to learn from."),
    ] = None,
    reference_is: Annotated[
        str | None, typer.Option(help="What the reference is: public or confidential.")
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option(help="anchored: parameters.json of an earlier release.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="anchored: T of the last stage; default 1 to 2.5.")
    ] = None,
    stages: Annotated[int | None, typer.Option(help="anchored: number of stages.")] = None,
    growth: Annotated[
        float | None, typer.Option(help="anchored: growth of the weight from stage to stage.")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(help="anchored: candidates of an exact draw.")
    ] = None,
    predictors: Annotated[
        Path | None, typer.Option(help="Public predictor rows for the synthetic table.")
    ] = None,
    sampler: Annotated[
        str, typer.Option(help="auto, exact (up to 10 parameters) or nuts.")
    ] = "auto",
    tables: Annotated[int, typer.Option(help="Tables to draw; each costs ε.")] = 1,
    ledger: Annotated[
        str | None, typer.Option(help="Ledger to charge before anything is drawn.")
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet beside CSV.")] = False,
    seed: Seed = None,
    accept_poor_mixing: Annotated[
        bool,
        typer.Option(
            "--accept-poor-mixing",
            help="Release even if the chains have not converged; the guarantee will say so.",
        ),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Synthesise a table and write the release and its guarantee."""
    from dataclasses import replace

    from understudy import synthesis
    from understudy.loading import load_model
    from understudy.mechanisms import PerturbedHistogram, make_mechanism
    from understudy.progress import shown, stage
    from understudy.release import check_destination
    from understudy.schema import Schema

    chosen = make_mechanism(
        mechanism,
        epsilon=epsilon,
        adjacency=adjacency,
        c1=c1,
        c2=c2,
        bins=bins,
        threshold=threshold,
        stages=stages,
        growth=growth,
        candidates=candidates,
    )
    learned = _check_reference(chosen, reference, reference_is, anchor)
    declared = Schema.load(schema)
    check_destination(out, force=force)
    if model is None and not isinstance(chosen, PerturbedHistogram):
        raise BadInput(f"the mechanism {mechanism} needs --model.")
    if anchor is not None or reference is not None:
        from understudy.references import read_anchor
        from understudy.references import reference as learn
    with shown(quiet=quiet) as progress:
        with stage(progress, "Model"):
            built = None
            if model is not None:
                built = load_model(model, schema=declared, family=family, priors=prior or ())
        public: dict[str, Any] = {}
        if built is not None and anchor is not None:
            public["anchor"] = read_anchor(anchor, built)
        if built is not None and reference is not None:
            public["reference"] = learn(
                built, reference, confidential=learned, seed=seed, progress=progress
            )
        chosen = replace(chosen, **public)
        release = synthesis.synthesize(
            built or declared,
            table,
            chosen,
            rows=rows,
            tables=tables,
            predictors=predictors,
            sampler=sampler,
            ledger=ledger,
            label=out.name or "release",
            seed=seed,
            accept_poor_mixing=accept_poor_mixing,
            progress=progress,
        )
        with stage(progress, "Writing"):
            release.write(out, force=force, parquet=parquet)
    if not quiet:
        _say_where(out, release.guarantee.headline)


def _check_reference(
    mechanism: object, reference: Path | None, reference_is: str | None, anchor: Path | None
) -> bool:
    """Return whether the reference is confidential, and refuse what does not go together."""
    options = {"reference": reference, "anchor": anchor}
    for name, given in options.items():
        if given is not None and not hasattr(mechanism, name):
            raise BadInput(f"--{name} means nothing to this mechanism: leave it out.")
    if (reference is None) != (reference_is is None):
        raise BadInput("--reference and --reference-is belong together: give both or neither.")
    if reference is not None and anchor is not None:
        raise BadInput("an anchor and a reference were both given: leave out one of them.")
    if reference_is not in (None, "public", "confidential"):
        raise BadInput(f"--reference-is must be public or confidential, not '{reference_is}'.")
    return reference_is == "confidential"


@app.command()
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
    from understudy import simulation, tables
    from understudy.files import written_whole
    from understudy.progress import shown, stage

    tables.check_writable(out)
    if out.exists() and not force:
        raise BadInput(f"'{out}' exists already: name another file, or add --force.")
    with shown(quiet=quiet) as progress, stage(progress, "Sampling"):
        frame = simulation.sample(public, rows=rows, predictors=predictors, model=model, seed=seed)
        with written_whole(out) as file:
            tables.write(frame, file)
    if not quiet:
        _tell(f"{rows:,} rows written to {out}, at no further cost.")


@app.command()
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
    from understudy import comparison
    from understudy.progress import shown, stage

    if out is not None and out.exists() and not force:
        raise BadInput(f"'{out}' exists already: name another file, or add --force.")
    with shown(quiet=as_json) as progress, stage(progress, "Comparing"):
        compared = comparison.compare_files(table, synthetic, schema, regression=regression)
        if out is not None:
            compared.write_page(out)
    typer.echo(compared.to_json() if as_json else compared.to_text())


@app.command()
def audit(
    mechanism: Annotated[str, typer.Option(help="Mechanism to break.")],
    epsilon: Annotated[float, typer.Option(help="ε that was asked for.")],
    model: Annotated[str, typer.Option(help="beta.")] = "beta",
    adjacency: Annotated[str, typer.Option(help="add-remove or replace-one.")] = "add-remove",
    n: Annotated[int, typer.Option(help="Records of the simulated table.")] = 2000,
    record_weights: Annotated[
        bool,
        typer.Option("--record-weights", help="censor-w: weights from a simulated reference."),
    ] = False,
    rows_per_unit: Annotated[
        int, typer.Option(help="Rows of each person; neighbours then differ by a person.")
    ] = 1,
    no_unit: Annotated[
        bool, typer.Option("--no-unit", help="Take each of a person's rows for a record.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="SVG file for a picture of the two posteriors.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Search for neighbouring tables that a mechanism tells apart by more than ε.

    Runs on simulated tables. The exit code is 1 if more than the ε asked for was found.
    """
    import json

    from understudy import auditing
    from understudy.files import written_whole
    from understudy.mechanisms import make_mechanism
    from understudy.progress import shown, stage

    if model != "beta":
        raise BadInput(f"the audit on a grid serves the beta model, not '{model}'.")
    if no_unit and rows_per_unit == 1:
        raise BadInput("--no-unit means nothing without --rows-per-unit: give both.")
    if figure is not None and not figure.parent.is_dir():
        raise BadInput(f"there is no directory '{figure.parent}' for the figure.")
    chosen = make_mechanism(mechanism, epsilon=epsilon, adjacency=adjacency)
    with shown(quiet=quiet or as_json) as progress, stage(progress, "Audit"):
        if record_weights:
            chosen = auditing.with_record_weights(chosen)
        found = auditing.audit(
            chosen,
            n=n,
            adjacency=adjacency,
            epsilon=epsilon,
            rows_per_unit=rows_per_unit,
            unit=not no_unit,
        )
        if figure is not None:
            with written_whole(figure) as file:
                file.write_text(found.figure(), encoding="utf-8")
    if as_json or not quiet:
        typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    raise typer.Exit(Exit.VIOLATION if found.exceeds else Exit.DONE)


def _say_where(directory: Path, headline: str) -> None:
    _tell(
        f"{headline}\n\n"
        f"synthetic table  {directory / 'public' / 'synthetic.csv'}\n"
        f"guarantee        {directory / 'public' / 'guarantee.txt'}\n"
        f"card             {directory / 'public' / 'card.html'}\n"
        f"report           {directory / 'internal' / 'report.html'}  (confidential)"
    )


def _tell(text: str) -> None:
    """Say that something was written; that nobody listens does not undo it."""
    with suppress(OSError):
        typer.echo(text)


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
    try:
        command = typer.main.get_command(app)
        asked = arguments or ["--help"]
        result = command.main(asked, prog_name="understudy", standalone_mode=False)
    except SystemExit:  # How Typer leaves when nobody reads its output any more.
        return Exit.DONE
    except Exception as error:  # noqa: BLE001 - a traceback could show confidential values
        sentence, code = _explain(error)
    else:
        if result != _INTERRUPTED:
            return result if isinstance(result, int) else Exit.DONE
        sentence, code = "interrupted; nothing was released.", Exit.BAD_INPUT
    # A message that comes from a user's model may have line breaks.
    print("understudy:", " ".join(sentence.split()), file=sys.stderr)
    return code


def _explain(error: Exception) -> tuple[str, Exit]:
    """Return the sentence and the exit code for whatever went wrong."""
    match error:
        case BadInput():
            return str(error), Exit.BAD_INPUT
        case Refused():
            return f"refused: {error}", Exit.REFUSED
        case ClickException():
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "understudy"
            message = error.format_message()
            stop = "" if message.endswith((".", "?")) else "."
            return f"{message}{stop} See '{command} --help'.", Exit.BAD_INPUT
        case OSError():
            place = f" ('{error.filename}')" if error.filename else ""
            reason = error.strerror or type(error).__name__
            return f"the system said: {reason}{place}; nothing was released.", Exit.BAD_INPUT
        case _:
            return _bug(error), Exit.BUG


def _bug(error: Exception) -> str:
    """Say where an unforeseen error arose, without its message, which could hold a value."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = ""
    if place is not None:
        where = f" at {Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
    return (
        f"an unforeseen {type(error).__name__}{where} stopped the run and nothing was released; "
        f"its details are withheld because they could be confidential. Please report it."
    )
