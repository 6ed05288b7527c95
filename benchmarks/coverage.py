"""Do intervals from a release hold the truth as often as they say? `understudy infer`, many times.

    python benchmarks/coverage.py --case beta --replicates 1000 [--epsilon 5 1] [--file F.jsonl]
    python benchmarks/coverage.py --case joint --replicates 100 --data ../shared/data


A table of fresh people is drawn from a fixed truth for each replicate, predictors included, and
released by `summary`. Of each question the 95 % interval is kept, beside three others: the
confidential one, from the table itself; the naive one, from a single synthetic table as if its rows
were records; and naive pooling, the mean over five synthetic tables with the mean of their
variances. For each cell the share of replicates is printed in which an interval holds the truth,
and its width, in widths of the confidential one.

`regression`, `lognormal`, `logistic`, `groups`: public predictors, copied. `joint`: tables from the
joint model as it was fitted to the CPS of 1992, without privacy. `heaped`: half of the values of
`beta` are rounded to twentieths, which the model does not know. `interaction`: the regression, of a
truth in which two predictors interact. `finite-*`: about the table's own records, whose answers are
then the truth.

Each replicate is a line of the file, so a study that was interrupted goes on where it ended. Seeds
are fixed. Add-remove, strict, no history.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

import understudy as us
from understudy.domain.tables import Columns, encode
from understudy.questions import asked
from understudy.questions.together import Together
from understudy.support.randomness import Source
from understudy.synthesis.answering import intervals
from understudy.synthesis.known import Known
from understudy.synthesis.opening import opened

if __name__ == "coverage":
    # Numba looks for a library of this name, and finds whatever stands first in the path.
    raise ImportError("a script that shares its name with a library")

LEVEL, BAND = 0.95, 0.999
MANY = 2**21
TABLES = 5
SHARE = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
UNIT = {"role": "public", "type": "continuous", "bounds": [0, 1]}
YES_NO = {"role": "public", "type": "categorical", "levels": ["no", "yes"]}
GROUPS = [f"g{k:02d}" for k in range(20)]


@dataclass(frozen=True)
class Case:
    """A model, questions, and tables of so many people from a fixed truth."""

    model: us.Model
    questions: tuple[str, ...]
    people: Callable[[np.random.Generator, int], pd.DataFrame]
    size: int
    finite: bool = False

    @property
    def asked(self) -> Together:
        """All questions."""
        return Together.of([asked(each, self.model.schema) for each in self.questions])

    def coded(self, table: pd.DataFrame) -> Columns:
        """Return a table as questions read it."""
        return encode(table, self.model.schema)


def _of_outcome(name: str) -> tuple[str, ...]:
    return f"mean({name})", f"median({name})", f"quantile({name}, 0.9)"


def beta(data: Path) -> Case:
    """Return the paper's Beta(0.5, 3)."""
    schema = us.Schema.from_dict({"table": {"size": 2000}, "columns": {"x": SHARE}})
    return Case(
        us.beta(schema),
        _of_outcome("x"),
        lambda g, size: pd.DataFrame({"x": g.beta(0.5, 3, size)}),
        2000,
    )


def heaped(data: Path) -> Case:
    """Return the same with every second value rounded."""
    honest = beta(data)

    def people(generator: np.random.Generator, size: int) -> pd.DataFrame:
        x = generator.beta(0.5, 3, size)
        return pd.DataFrame({"x": np.where(generator.random(size) < 0.5, np.round(x * 20) / 20, x)})

    return replace(honest, people=people)


def _predictors(generator: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    return {
        "a": generator.random(size),
        "b": generator.beta(2, 3, size),
        "c": generator.integers(2, size=size),
    }


def regression(data: Path, interaction: float = 0.0) -> Case:
    """Return a beta regression with five parameters."""
    columns = {"y": SHARE, "a": UNIT, "b": UNIT, "c": YES_NO}
    schema = us.Schema.from_dict({"table": {"size": 8000}, "columns": columns})

    def people(generator: np.random.Generator, size: int) -> pd.DataFrame:
        x = _predictors(generator, size)
        eta = -0.5 + 0.8 * x["a"] - 0.6 * x["b"] + 0.4 * x["c"] + interaction * x["a"] * x["c"]
        mean = 1 / (1 + np.exp(-eta))
        y = generator.beta(6 * mean, 6 * (1 - mean))
        return pd.DataFrame({"y": y, **x, "c": np.array(["no", "yes"])[x["c"]]})

    model = us.formula("y ~ a + b + c", family="beta", schema=schema)
    questions = (*_of_outcome("y"), "mean(y) by c", "y ~ a + b + c")
    return Case(model, questions, people, 8000)


def lognormal(data: Path) -> Case:
    """Return a regression of amounts."""
    amount = {"role": "confidential", "type": "continuous", "bounds": [0, 1_000_000]}
    columns = {"y": amount, "a": UNIT, "c": YES_NO}
    schema = us.Schema.from_dict({"table": {"size": 5000}, "columns": columns})

    def people(generator: np.random.Generator, size: int) -> pd.DataFrame:
        x = _predictors(generator, size)
        del x["b"]
        y = np.exp(10.2 + 0.5 * x["a"] + 0.3 * x["c"] + 0.6 * generator.normal(size=size))
        table = pd.DataFrame({"y": y, **x, "c": np.array(["no", "yes"])[x["c"]]})
        return table[table["y"] <= 1_000_000]

    model = us.formula("y ~ a + c", family="lognormal", schema=schema)
    return Case(model, (*_of_outcome("y"), "log(y) ~ a + c"), people, 5000)


def logistic(data: Path) -> Case:
    """Return a logistic regression."""
    answer = {"role": "confidential", "type": "binary", "levels": ["no", "yes"]}
    columns = {"y": answer, "a": UNIT, "b": UNIT, "c": YES_NO}
    schema = us.Schema.from_dict({"table": {"size": 5000}, "columns": columns})

    def people(generator: np.random.Generator, size: int) -> pd.DataFrame:
        x = _predictors(generator, size)
        eta = -1 + 1.2 * x["a"] - 0.8 * x["b"] + 0.5 * x["c"]
        yes = generator.random(size) < 1 / (1 + np.exp(-eta))
        words = np.array(["no", "yes"])
        return pd.DataFrame({"y": words[yes.astype(int)], **x, "c": words[x["c"]]})

    model = us.formula("y ~ a + b + c", family="bernoulli", schema=schema)
    questions = ("share(y == 'yes')", "share(y == 'yes') by c", "y ~ a + b + c")
    return Case(model, questions, people, 5000)


def groups(data: Path) -> Case:
    """Return a beta regression with an intercept for each of twenty groups."""
    group = {"role": "public", "type": "categorical", "levels": GROUPS}
    columns = {"y": SHARE, "a": UNIT, "g": group}
    schema = us.Schema.from_dict({"table": {"size": 4000}, "columns": columns})
    offsets = 0.4 * np.random.default_rng(20).normal(size=len(GROUPS))

    def people(generator: np.random.Generator, size: int) -> pd.DataFrame:
        a, g = generator.random(size), generator.integers(len(GROUPS), size=size)
        mean = 1 / (1 + np.exp(0.3 - 0.8 * a - offsets[g]))
        y = generator.beta(6 * mean, 6 * (1 - mean))
        return pd.DataFrame({"y": y, "a": a, "g": np.array(GROUPS)[g]})

    model = us.formula("y ~ a + (1 | g)", family="beta", schema=schema)
    return Case(model, (*_of_outcome("y"), "y ~ a", "mean(y) by g"), people, 4000)


def joint(data: Path) -> Case:
    """Return whole tables, from the joint model fitted to the CPS of 1992."""
    frame = pd.read_csv(data / "cps_earnings_1992_2004.csv")
    frame = frame[frame["year"] == 1992][["earnings", "degree", "gender", "age"]]
    levels = {
        name: sorted(frame[name].astype(str).unique().tolist()) for name in ("degree", "gender")
    }
    declared: dict[str, Any] = {
        "earnings": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
        "age": {"role": "confidential", "type": "integer", "bounds": [25, 34]},
    }
    for name, each in levels.items():
        declared[name] = {"role": "confidential", "type": "categorical", "levels": each}
    schema = us.Schema.from_dict({"table": {"size": len(frame)}, "columns": declared})
    model = us.joint(schema)
    # Nobody is protected by so large an ε: the fit stands for a truth.
    fitted = us.synthesize(model, frame, us.Summary(epsilon=50.0), seed=1)

    def people(generator: np.random.Generator, size: int) -> pd.DataFrame:
        return fitted.sample(size, seed=int(generator.integers(2**62)))

    questions = ("mean(earnings)", "mean(earnings) by gender", "mean(earnings) by degree")
    return Case(model, questions, people, len(frame))


CASES: dict[str, Callable[[Path], Case]] = {
    "beta": beta,
    "regression": regression,
    "lognormal": lognormal,
    "logistic": logistic,
    "groups": groups,
    "joint": joint,
    "heaped": heaped,
    "interaction": partial(regression, interaction=1.0),
    "finite-beta": lambda data: replace(beta(data), finite=True),
    "finite-regression": lambda data: replace(regression(data), finite=True),
}
_BUILT: dict[str, tuple[Case, dict[str, float]]] = {}
"""Cases of this process and what is true of them: a model built again is compiled again."""


def _built(name: str, data: Path) -> tuple[Case, dict[str, float]]:
    if name not in _BUILT:
        case = CASES[name](data)
        many = case.people(np.random.default_rng(123), MANY)
        _BUILT[name] = case, case.asked.answer(case.coded(many))
    return _BUILT[name]


def replicate(name: str, epsilon: float, number: int, data: Path) -> dict[str, Any]:
    """Return for each answer what is true, and the intervals."""
    case, truth = _built(name, data)
    table = case.people(np.random.default_rng([number, 16]), case.size)
    release = us.synthesize(case.model, table, us.Summary(epsilon=epsilon), seed=9000 + number)
    source = Source(number)
    known = Known.of(opened(release), given=case.finite, source=source)
    answers = known.ask(case.asked)
    if case.finite:
        answers, _ = known.of_records(case.asked, answers)
        truth = case.asked.answer(case.coded(table))
    ours = intervals(answers, [None] * len(answers.names), LEVEL)
    own = _ends(*zip(*case.asked.analyse(case.coded(table)).values(), strict=True))
    naive, pooled = _naive(case, known)
    check = release.parameters[0]["check"]
    return {
        "case": name,
        "epsilon": epsilon,
        "replicate": number,
        "truth": truth,
        "ours": {each.name: (each.lower, each.upper) for each in ours},
        "confidential": dict(zip(truth, own, strict=True)),
        "naive": dict(zip(truth, naive, strict=True)),
        "pooled": dict(zip(truth, pooled, strict=True)),
        "warned": check["warning"] is not None,
        "sampler": release.internal.diagnostics["fit"]["sampler"],
    }


def _naive(case: Case, known: Known) -> tuple[list[Any], list[Any]]:
    """Return the intervals of those who take synthetic rows for records."""
    analyses = []
    for k in range(TABLES):
        public = known.whom.public
        made = known.simulated(known.thetas[k], public, case.size)
        analyses.append(list(case.asked.analyse(made).values()))
    values, variances = np.moveaxis(np.array(analyses), 2, 0)
    return _ends(values[0], variances[0]), _ends(values.mean(axis=0), variances.mean(axis=0))


def _ends(values: Any, variances: Any) -> list[Any]:
    reach = scipy.stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(variances)
    return np.column_stack([values - reach, values + reach]).tolist()


def run(name: str, epsilon: float, wanted: argparse.Namespace) -> list[dict[str, Any]]:
    """Make the replicates that the file does not hold yet, and return all of them."""
    path: Path = wanted.file
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = [each for each in known if (each["case"], each["epsilon"]) == (name, epsilon)]
    todo = sorted(set(range(wanted.replicates)) - {each["replicate"] for each in lines})
    with ProcessPoolExecutor(wanted.workers, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(replicate, name, epsilon, k, wanted.data) for k in todo]
        for done in as_completed(jobs):
            lines.append(done.result())
            with path.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
    return [each for each in lines if each["replicate"] < wanted.replicates]


def report(lines: list[dict[str, Any]], cells: int) -> None:
    """Print coverage and width of every answer, beside the band that a right interval keeps to."""
    first = lines[0]
    tail = (1 - BAND) / cells / 2
    low, high = (scipy.stats.binom.ppf(p, len(lines), LEVEL) / len(lines) for p in (tail, 1 - tail))
    warned = np.mean([each["warned"] for each in lines])
    print(f"{first['case']}, ε = {first['epsilon']:g}, {len(lines)} replicates,", end=" ")
    print(f"band {low:.3f} to {high:.3f}, the check warned in {warned:.1%}")
    for name in first["truth"]:
        held, wide = {}, {}
        for kind in ("ours", "confidential", "naive", "pooled"):
            ends = np.array([each[kind][name] for each in lines], dtype=float)
            truth = np.array([each["truth"][name] for each in lines])
            held[kind] = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
            wide[kind] = np.nanmean(ends[:, 1] - ends[:, 0])
        verdict = "pass" if low <= held["ours"] <= high else "FAIL"
        others = ", ".join(f"{kind} {held[kind]:.3f}" for kind in held if kind != "ours")
        ratio = wide["ours"] / wide["confidential"] if wide["confidential"] else np.nan
        print(f"  {name:>28}: {held['ours']:.3f} {verdict}, width {ratio:.3f}; {others}")


def main() -> None:
    """Study a case at each ε."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--case", choices=CASES, nargs="+", default=list(CASES))
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--epsilon", type=float, nargs="*", default=[5.0, 1.0, 0.3, 0.1])
    parser.add_argument("--file", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cells", type=int, default=100, help="Cells of the whole study.")
    wanted = parser.parse_args()
    for name in wanted.case:
        for epsilon in wanted.epsilon:
            report(run(name, epsilon, wanted), wanted.cells)


if __name__ == "__main__":
    main()
