"""Writes the pages of the API reference from the docstrings, as Markdown for Sphinx.

    python scripts/api_reference.py docs/api

There is a page for each verb and for each group of nouns. A public name without a page is an error,
so the tables below are complete. The source is read, not imported, but for the list of names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import griffe

import understudy

SOURCE = Path(__file__).parents[1] / "src"


@dataclass(frozen=True)
class Page:
    """A page of the reference."""

    title: str
    introduction: str
    names: str
    """What is on it, in order: public names, and paths of what those return."""

    @property
    def file(self) -> str:
        """Its name, without its ending."""
        return re.sub(r"\W+", "-", self.title.lower())

    @property
    def entries(self) -> list[str]:
        """The names that there are: verbs come before their functions do."""
        return [name for name in self.names.split() if "." in name or name in understudy.__all__]


VERBS = (
    Page(
        "synthesize",
        "From a model, a table and a mechanism to a release. "
        "[The privacy promise](../privacy-promise.md) says what its guarantee means, and "
        "[the architecture](../architecture.md) shows the way through the library.",
        "synthesize Synthesizer",
    ),
    Page(
        "sample",
        "More rows of a release, from what it published. They cost nothing, because no "
        "confidential value is needed.",
        "sample",
    ),
    Page(
        "infer",
        "What a release says to a question, with intervals that count the noise. "
        "[Questions and intervals](../inference.md) says what they mean.",
        "infer Answer understudy.report.intervals.Interval",
    ),
    Page(
        "pool",
        "Intervals from several synthetic tables of one release, without the confidential table.",
        "pool Pooled understudy.questions.combining.Combined",
    ),
    Page(
        "compare",
        "How close synthetic tables are to the confidential one. The answer is confidential. "
        "[Utility](../utility.md) explains the measures.",
        "compare Comparison measure_table",
    ),
    Page(
        "calibrate",
        "Mechanism, ε and settings, chosen once on historical data and kept as a policy. "
        "The tutorial of [a year of releases](../tutorial-year.md) begins with it.",
        "calibrate Calibration Policy",
    ),
    Page(
        "release",
        "One period's release under a policy: looked at first, then charged and written. "
        "The tutorial of [a year of releases](../tutorial-year.md) makes twelve.",
        "release PendingRelease",
    ),
    Page(
        "audit",
        "Tries to break a guarantee, numerically. What it finds can refute a claim and never "
        "prove one.",
        "audit understudy.audit.result.Audit",
    ),
    Page(
        "draft",
        "The draft of a schema, with blanks for whatever must come from public knowledge.",
        "draft",
    ),
)

NOUNS = (
    Page(
        "Mechanisms",
        "How θ is made private. [The privacy promise](../privacy-promise.md) has the theorem, "
        "[summaries](../summary.md) the default mechanism, "
        "[anchored censoring](../anchored.md) the paper's idea at its best, and "
        "[adding a mechanism](../adding-a-mechanism.md) shows how to write another.",
        "Summary Anchored CensorUw CensorW PerturbedHistogram Weighted WeightedE Unweighted "
        "Reference reference read_anchor read_draws Mechanism RowMechanism Request "
        "understudy.mechanisms.plan.Plan understudy.mechanisms.plan.Drawn",
    ),
    Page(
        "Models",
        "What describes a record: a prior, a log-likelihood and a way to simulate. "
        "See [models](../models.md) and [whole tables](../whole-tables.md).",
        "beta formula joint mixture Model Parameter",
    ),
    Page(
        "Adapters",
        "Models of other libraries, [as they stand](../bring-your-own-model.md).",
        "from_numpyro from_pymc from_bambi",
    ),
    Page(
        "Schema and tables",
        "What is public about a table, declared by a person. "
        "See [units, weights, missing values, rules](../tables.md).",
        "Schema read_table",
    ),
    Page(
        "Ledger and guarantee",
        "What has been spent, and what is promised.",
        "Ledger Guarantee Adjacency understudy.privacy.guarantee.Kind compose",
    ),
    Page(
        "Releases",
        "What may leave the building, and what must stay.",
        "Release understudy.synthesis.release.Internal",
    ),
    Page(
        "Errors",
        "What can go wrong, told in one sentence that never quotes a value of a table.",
        "BadInput Refused",
    ),
)


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    shown = [page for page in VERBS + NOUNS if page.entries]
    missing = set(understudy.__all__) - {name for page in shown for name in page.entries}
    if missing:
        names = ", ".join(sorted(missing))
        raise LookupError(f"{Path(__file__).name} has no page of the reference for {names}.")
    package = griffe.load("understudy", search_paths=[SOURCE], docstring_parser="google")
    assert isinstance(package, griffe.Module)
    texts = {f"{page.file}.md": _page(page, package) for page in shown}
    return texts | {"index.md": _overview(shown, package)}


def write(directory: Path) -> None:
    """Write the pages that changed, and remove those that are no more."""
    directory.mkdir(parents=True, exist_ok=True)
    written = pages()
    for file in directory.glob("*.md"):
        if file.name not in written:
            file.unlink()
    for name, text in written.items():
        file = directory / name
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _page(page: Page, package: griffe.Module) -> str:
    lines = [
        f"# {page.title}",
        "",
        page.introduction,
        "",
        "```{py:currentmodule} understudy",
        "```",
    ]
    several = len(page.entries) > 1
    for entry in page.entries:
        name = entry.rpartition(".")[2]
        if several:
            lines += ["", f"## {name}"]
        lines += ["", *_described(_object(entry, package), name)]
    return "\n".join(lines) + "\n"


def _overview(shown: list[Page], package: griffe.Module) -> str:
    lines = [
        "# API reference",
        "",
        "`import understudy as us` brings everything on these pages. The verbs do the work; the "
        "nouns are what verbs take and return. Whatever privacy depends on is named in a call, "
        "never told by its place.",
    ]
    for title, group in (("Verbs, and what belongs to them", VERBS), ("Nouns", NOUNS)):
        lines += ["", f"## {title}", "", "| name | what it is |", "|---|---|"]
        for page in group:
            for entry in page.entries:
                name = entry.rpartition(".")[2]
                summary = _summary(_object(entry, package))
                lines.append(f"| {{py:obj}}`{name} <understudy.{name}>` | {summary} |")
    lines += ["", "```{toctree}", ":hidden:", "", *(page.file for page in shown), "```"]
    return "\n".join(lines) + "\n"


def _object(entry: str, package: griffe.Module) -> griffe.Function | griffe.Class:
    """Return what a public name or a path stands for; a verb may share its package's name."""
    home = f"understudy.{entry}" if "." not in entry else entry
    found = package[home.removeprefix("understudy.")]
    if found.is_module:
        found = found[entry]
    target = found.final_target if isinstance(found, griffe.Alias) else found
    assert isinstance(target, griffe.Function | griffe.Class), f"{entry} is {target.kind}"
    return target


def _summary(thing: griffe.Object) -> str:
    text = "" if thing.docstring is None else thing.docstring.value
    return _line(text.split("\n\n")[0]).replace("|", "\\|")


def _described(thing: griffe.Object, name: str, depth: int = 0) -> Iterator[str]:
    """Yield the directive of a function, a class with its members, or an attribute."""
    fence = ":" * (6 - depth)
    if isinstance(thing, griffe.Class):
        fields = _fields(thing)
        error = any(str(base).endswith("Exception") for base in _bases(thing))
        kind, called = ("exception" if error else "class"), name
        if fields:
            called += _signature(thing.parameters, fields=fields)
        yield f"{fence}{{py:{kind}}} {called}"
        yield ""
        parents = [parent.name for parent in thing.mro() if parent.name in understudy.__all__]
        if parents:
            yield from (f"A kind of {{py:obj}}`{parents[0]}`.", "")
        yield from _text(thing, {p.name: p for p in thing.parameters}, fields)
        # What a class answers as those before it do stands with them.
        known = {name for parent in thing.mro() for name in parent.members}
        for member in thing.members.values():
            if member.name in known or member.name in fields:
                continue
            if isinstance(member, griffe.Object) and _is_told_about(member):
                yield from ("", *_described(member, f"{name}.{member.name}", depth + 1))
    elif isinstance(thing, griffe.Function):
        method = isinstance(thing.parent, griffe.Class)
        returns = "" if thing.returns is None else f" -> {thing.returns}"
        signature = _signature(thing.parameters)
        yield f"{fence}{{py:{'method' if method else 'function'}}} {name}{signature}{returns}"
        yield from (
            f":{label}:" for label in ("classmethod", "staticmethod") if label in thing.labels
        )
        yield ""
        yield from _text(thing, {p.name: p for p in thing.parameters}, {})
    else:
        assert isinstance(thing, griffe.Attribute)
        computed = "property" in thing.labels
        yield f"{fence}{{py:{'property' if computed else 'attribute'}}} {name}"
        if thing.annotation is not None:
            yield f":type: {thing.annotation}"
        if not computed and thing.value is not None:
            yield f":value: {thing.value}"
        yield ""
        yield from _text(thing, {}, {})
    yield fence


def _bases(cls: griffe.Class) -> Iterator[object]:
    for parent in (cls, *cls.mro()):
        yield from parent.bases


def _is_told_about(member: griffe.Object) -> bool:
    """Whether a member has an entry of its own: with a docstring, or one value of several."""
    parent = member.parent
    enumerated = isinstance(parent, griffe.Class) and any("Enum" in str(b) for b in parent.bases)
    return not member.name.startswith("_") and (enumerated or member.docstring is not None)


def _fields(cls: griffe.Class) -> dict[str, str]:
    """Return what is said about each field of a dataclass, inherited ones too."""
    made = cls.members.get("__init__")
    if "dataclass" not in cls.labels or not isinstance(made, griffe.Function):
        return {}
    return {
        parameter.name: "" if parameter.docstring is None else parameter.docstring.value
        for parameter in made.parameters
        if parameter.name != "self" and not parameter.name.startswith("_")
    }


def _signature(parameters: griffe.Parameters, *, fields: Mapping[str, str] | None = None) -> str:
    """Return names and defaults; types stand with the descriptions."""
    written, starred = [], False
    for parameter in parameters:
        if parameter.name in ("self", "cls") or (
            fields is not None and parameter.name not in fields
        ):
            continue
        if parameter.kind is griffe.ParameterKind.keyword_only and not starred:
            written.append("*")
            starred = True
        stars = {
            griffe.ParameterKind.var_positional: "*",
            griffe.ParameterKind.var_keyword: "**",
        }.get(parameter.kind or griffe.ParameterKind.positional_or_keyword, "")
        starred = starred or stars == "*"
        default = "" if parameter.default is None or stars else f"={parameter.default}"
        written.append(f"{stars}{parameter.name}{default}")
    return f"({', '.join(written)})"


def _text(
    thing: griffe.Object, parameters: Mapping[str, griffe.Parameter], fields: Mapping[str, str]
) -> Iterator[str]:
    """Yield a docstring: its prose, then parameters, results and errors as a list of fields."""
    told = {name: "" for name in parameters if name not in ("self", "cls")}
    told = dict(fields) if isinstance(thing, griffe.Class) else told
    results: list[str] = []
    for section in [] if thing.docstring is None else thing.docstring.parsed:
        match section:
            case griffe.DocstringSectionText():
                yield from (*section.value.splitlines(), "")
            case griffe.DocstringSectionParameters() | griffe.DocstringSectionAttributes():
                told |= {each.name: each.description for each in section.value}
            case griffe.DocstringSectionReturns() | griffe.DocstringSectionYields():
                results += [f":returns: {_line(each.description)}" for each in section.value]
            case griffe.DocstringSectionRaises():
                results += [
                    f":raises {e.annotation}: {_line(e.description)}" for e in section.value
                ]
            case griffe.DocstringSectionExamples():
                example = (line for _, text in section.value for line in text.splitlines())
                yield from ("```python", *example, "```", "")
            case griffe.DocstringSectionAdmonition():
                yield from (f"**{section.title}**", "", *section.value.contents.splitlines(), "")
            case _:
                raise LookupError(f"{thing.path}: there is no form for its {section.kind.value}.")
    for name, text in told.items():
        yield f":param {name}: {_line(text)}"
        annotation = parameters[name].annotation if name in parameters else None
        if annotation is not None:
            yield f":type {name}: {annotation}"
    yield from results


def _line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
