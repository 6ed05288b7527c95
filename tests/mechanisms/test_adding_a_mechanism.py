"""A mechanism in one file and one line: the one of `docs/adding-a-mechanism.md`."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.cli import run
from understudy.mechanisms import BY_NAME
from understudy.privacy.guarantee import Adjacency

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-mechanism.md"
SCHEMA = """\
[table]
size = 120
[columns.pay]
role = "confidential"
type = "continuous"
bounds = [0, 100]
"""


@pytest.fixture(scope="module")
def tempered(tmp_path_factory):
    """Write the page's file, run it, and add its line to the registry."""
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path_factory.mktemp("mechanisms") / "tempered.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location("tempered", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tempered"] = module
    spec.loader.exec_module(module)
    BY_NAME["tempered"] = module.Tempered
    yield module.Tempered
    del BY_NAME["tempered"], sys.modules["tempered"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("office")
    pay = 100 * np.random.default_rng(3).beta(2, 5, (2, 120))
    for name, values in zip(("reference", "january"), pay, strict=True):
        pd.DataFrame({"pay": values}).to_csv(place / f"{name}.csv", index=False)
    (place / "pay.toml").write_text(SCHEMA)
    return place


def test_synthesize(tempered, place):
    model = us.beta(us.Schema.load(place / "pay.toml"))
    release = us.synthesize(
        model, place / "january.csv", tempered(epsilon=2.0), sampler="exact", seed=1
    )
    assert release.guarantee.kind == "strict"
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == 2.0
    assert len(release.synthetic) == 120
    assert set(release.parameters[0]["parameters"]) == {"phi", "lambda"}


def test_weights_are_those_of_the_mechanism(tempered, place):
    """What the target is made of comes from `alpha`, and not from what other rows have."""
    model = us.beta(us.Schema.load(place / "pay.toml"))
    release = us.synthesize(
        model, place / "january.csv", tempered(epsilon=2.0, c1=0.0), sampler="exact", seed=1
    )
    assert release.internal.diagnostics["dropped_records"] == 120


def test_calibrate(tempered, place):
    model = us.beta(us.Schema.load(place / "pay.toml"))
    calibration = us.calibrate(
        model, place / "reference.csv", reference_is="public", population="staff",
        mechanisms=["tempered"], epsilon=2.0, draws=1,
    )  # fmt: skip
    assert calibration.policy.mechanism == "tempered"
    assert {outcome.setting.c1 for outcome in calibration.outcomes} == {0.5, 0.8}


def test_audit(tempered):
    kept = us.audit(tempered(epsilon=1.0), n=200, adjacency="add-remove")
    assert kept.claimed == 1.0
    assert not kept.broken

    class Careless(tempered):
        """It censors at four times what it says."""

        @property
        def bound(self):
            return 4 * super().bound

    assert us.audit(Careless(epsilon=1.0), n=200, adjacency="add-remove").broken


def test_the_command_line(tempered, place, tmp_path):
    asked = (
        f"synthesize {place}/january.csv --schema {place}/pay.toml --model beta --epsilon 2 "
        f"--mechanism tempered --sampler exact --out {tmp_path}/out"
    )
    assert run(asked.split()) == 0
    promised = json.loads((tmp_path / "out" / "public" / "guarantee.json").read_text())
    assert (promised["mechanism"], promised["kind"]) == ("tempered", "strict")
    assert run(f"sample {tmp_path}/out/public --rows 5 --out {tmp_path}/more.csv".split()) == 0
    assert len(pd.read_csv(tmp_path / "more.csv")) == 5
    settled = (
        f"calibrate {place}/reference.csv --reference-is public --schema {place}/pay.toml --model "
        f"beta --population staff --mechanism tempered --epsilon 2 --draws 1 --quiet --out "
        f"{tmp_path}/POLICY.toml"
    )
    assert run(settled.split()) == 0
    assert run(["audit", "--mechanism", "tempered", "--epsilon", "1", "--n", "200", "--json"]) == 0
