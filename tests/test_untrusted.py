"""What a published file may make anybody build who draws rows from it: nothing without bounds."""

import json
import re
import subprocess
import sys

import pytest

import understudy as us
from understudy.cli import run
from understudy.domain.formulas import LARGEST_WIDTH
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.utility.regression import measure_regression

LEVELS = [f"level {k}" for k in range(30)]
NUMBER = {"role": "public", "type": "continuous", "bounds": [0, 1]}
COLUMNS = {
    "y": {"role": "confidential", "type": "continuous", "bounds": [0, 1]},
    "x": NUMBER,
    "age": {"role": "public", "type": "integer", "bounds": [18, 70]},
    **{f"x{k}": NUMBER for k in range(40)},
    **{f"g{k}": {"role": "public", "type": "categorical", "levels": LEVELS} for k in range(6)},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})
ALL = [f"x{k}" for k in range(40)]

HOSTILE = {
    "bs(x, df=1000000000)": "df must be a whole number up to 100",
    "bs(x, 1000000000)": "df must be a whole number up to 100",
    "bs(x, degree=100000000)": "degree must be a whole number up to 100",
    "bs(x, 4, None, 100000000)": "degree must be a whole number up to 100",
    "bs(x, df=1000 * 1000 * 1000)": "df must be a whole number up to 100",
    "bs(x, df=1e9)": "df must be a whole number up to 100",
    "bs(x, df=-1)": "df must be a whole number up to 100",
    "bs(x, df=age)": "df must be a whole number up to 100",
    "I(2 * bs(x, df=1000000000))": "df must be a whole number up to 100",
    "cr(x, df=1000000000)": "df must be a whole number up to 100",
    "cc(x, 1000000000)": "df must be a whole number up to 100",
    "cs(x, knots=1000000000)": "knots must be a whole number up to 100",
    "poly(x, 1000000)": "degree must be a whole number up to 100",
    "poly(x, 10**6)": "degree must be a whole number up to 100",
    "poly(x, degree=101)": "degree must be a whole number up to 100",
    "*".join(ALL): "makes more than 10,000 terms",
    f"({'+'.join(ALL)})**9": "makes more than 10,000 terms",
    "((x0 + x1 + x2)**9)**9": "makes more than 10,000 terms",
    "(x0 + x1)**30": "power above 9",
    "(x0 + x1)**(+30)": "power above 9",
    "x0**(+1000000000)": "power above 9",
    "g0:g1:g2:g3:g4:g5": "'g0:g1:g2:g3:g4:g5' has 729,000,000",
    "g0*g1*g2": "'g0:g1:g2' has 27,000",
    "g0/g1/g2/g3": "'g0:g1:g2:g3' has 810,000",
    "C(x0):C(x1)": r"'C\(x0\):C\(x1\)' has 1,147,041",
    "C(x0 * x1)": r"'C\(x0 \* x1\)' has 1,147,041",
    "C(age * x):g0": r"'C\(age \* x\):g0' has 1,702,890",
    "bs(x, df=90) * bs(age, df=90)": "up to 8,464 columns",
    "I(center(x0) * poly(x1, 1))": "makes a design of 1,006 columns",
    "+".join(["x0"] * 5000): "characters, more than 10,000",
    f"I({'-' * 5000}x0)": "cannot be used: maximum recursion depth",
    f"I({'+'.join(['x0'] * 2000)})": "cannot be used: maximum recursion depth",
    f"(1 | g0) + {'(' * 12000}": "characters, more than 10,000",
}


@pytest.mark.parametrize(("right", "sentence"), HOSTILE.items(), ids=lambda text: text[:30])
def test_a_formula_that_asks_for_too_much_is_refused_before_anything_is_built(right, sentence):
    """Without the refusal, several of these would not end."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # PyTensor raises it for all.
    try:
        with pytest.raises(BadInput, match=sentence):
            us.formula(f"y ~ {right}", family="beta", schema=SCHEMA)
    finally:
        sys.setrecursionlimit(usual)


@pytest.mark.parametrize(
    ("right", "dimension"),
    [
        ("bs(age, df=5)", 7),
        ("bs(age, 4, None, 2)", 6),
        ("bs(age, df=5, lower_bound=0, upper_bound=200)", 7),
        ("poly(age, 3)", 5),
        ("cr(age, df=4)", 6),
        ("bs(x, df=100)", 102),
        ("bs(x, df=5):g0", 152),
        ("g0*age", 61),
        ("x*age", 5),
        ("(x + age + x0)**2", 8),
        (f"({'+'.join(ALL[:20])})**2", 212),
        ("+".join(f"x{i}:x{j}" for i in range(40) for j in range(i)), 782),
        ("C(age)", 54),
        ("C(age // 10)", 8),
        ("scale(age) + center(x)", 4),
        ("0 + g0", 31),
    ],
    ids=lambda text: str(text)[:30],
)
def test_ordinary_formulas_are_built(right, dimension):
    assert us.formula(f"y ~ {right}", family="beta", schema=SCHEMA).dimension == dimension


def test_the_widest_design_is_a_thousand_columns():
    def built(levels):
        column = {"role": "public", "type": "categorical", "levels": list(range(levels))}
        schema = Schema.from_dict({"columns": {"y": COLUMNS["y"], "g": column}})
        return us.formula("y ~ g", family="beta", schema=schema)

    assert built(LARGEST_WIDTH - 1).dimension == LARGEST_WIDTH
    with pytest.raises(BadInput, match=r"'g' has 1,000: write fewer terms, or declare fewer"):
        built(LARGEST_WIDTH)


@pytest.mark.parametrize("formula", ["g0 ~ x", "y ~ g0*g1*g2", "C(x) ~ 1", "y ~ C(x):C(age)"])
def test_a_regression_is_bounded_in_the_same_way(formula):
    with pytest.raises(BadInput, match=r"columns, more than 1,000|has 30 levels|not public"):
        measure_regression(None, None, SCHEMA, formula)


# From a published file.

WIDE = {f"c{k}": COLUMNS["y"] for k in range(3000)}
DEEP = {"role": "confidential", "type": "categorical", "levels": [str(k) for k in range(100_000)]}
WIDER = {"role": "public", "type": "categorical", "levels": [str(k) for k in range(990)]}
MANY = {f"m{k}": WIDER for k in range(100)}


def first(column):
    """The first value that a declaration allows, as a table writes it."""
    return str(column["levels"][0] if "levels" in column else column["bounds"][0])


def published(model, columns=COLUMNS, parameters=None):
    schema = {"columns": columns}
    return {
        "parameters": parameters or {},
        "model": model,
        "schema": schema,
        "schema_digest": Schema.from_dict(schema).digest,
        "mechanism": "anchored",
    }


LARGE = "more than 300 for the|too many levels for the"
SPECS = [
    *(
        (published({"formula": f"y ~ {right}", "family": "beta"}), sentence)
        for right, sentence in HOSTILE.items()
    ),
    (published({"name": "joint"}, WIDE), LARGE),
    (published({"name": "joint", "order": list(WIDE)}, WIDE), LARGE),
    (published({"name": "mixture"}, WIDE), LARGE),
    (published({"name": "joint"}, {"c": DEEP}), LARGE),
    (published({"name": "mixture"}, {"c": DEEP}), LARGE),
    (published({"name": "joint"}, {"y": COLUMNS["y"], **MANY}), LARGE),
    (published({"name": "mixture"}, {"y": COLUMNS["y"], **MANY}), LARGE),
]

SAMPLING = """\
import json, resource, sys, time
from pathlib import Path
import understudy as us
from understudy.errors import BadInput
from understudy.models import formula
from understudy.models.table import joint, mixture

schema = us.Schema.from_dict({"columns": {"y": {"role": "confidential", "type": "continuous",
    "bounds": [0, 1]}, "x": {"role": "public", "type": "continuous", "bounds": [0, 1]}}})
us.formula("y ~ bs(x, df=5)", family="beta", schema=schema)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
for directory in sys.argv[1:]:
    started = time.monotonic()
    try:
        us.sample(directory, rows=3)
    except BadInput as fault:
        said = str(fault)
    print(json.dumps([said, time.monotonic() - started]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
def test_a_published_file_cannot_take_the_memory_of_whoever_samples_from_it(tmp_path):
    """One GiB beyond what the libraries take is enough to refuse each of them."""
    places = [tmp_path / str(k) for k in range(len(SPECS))]
    for place, (spec, _) in zip(places, SPECS, strict=True):
        place.mkdir()
        (place / "parameters.json").write_text(json.dumps(spec))
        row = {name: first(column) for name, column in spec["schema"]["columns"].items()}
        (place / "synthetic.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    command = [sys.executable, "-c", SAMPLING, *map(str, places)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for (_, sentence), (said, seconds) in zip(SPECS, answers, strict=True):
        assert re.search(sentence, said), said
        assert seconds < 20, said


def test_on_the_command_line_it_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = {"y": COLUMNS["y"], "x": NUMBER}
    spec = published({"formula": "y ~ bs(x, df=1000000000)", "family": "beta"}, columns)
    (tmp_path / "parameters.json").write_text(json.dumps(spec))
    (tmp_path / "synthetic.csv").write_text("y,x\n0.5,0.5\n")
    assert run(["sample", ".", "--rows", "3", "-o", "more.csv"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "has 'bs(x, df=1000000000)', where df must be a whole number up to 100." in said
    assert not (tmp_path / "more.csv").exists()
