"""A release read back is the release."""

import json

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import BETA, SHARE, schema_of
from understudy.synthesis.opening import opened

TABLE = pd.DataFrame({"x": np.random.default_rng(1).beta(2, 5, 300)})


@pytest.fixture
def public(tmp_path):
    release = us.synthesize(BETA, TABLE, us.Summary(epsilon=1.0), tables=2, rows=50, seed=1)
    return release.write(tmp_path / "out") / "public"


def test_all_tables_are_found_and_the_model_is_built_again(public):
    found = opened(public)
    assert [table.name for table in found.tables] == ["synthetic.csv", "synthetic-2.csv"]
    assert found.model is not None
    assert found.model.spec == BETA.spec
    assert found.schema == BETA.schema


def test_one_parameters_file_is_one_table(public):
    found = opened(public / "parameters-2.json")
    assert [table.name for table in found.tables] == ["synthetic-2.csv"]


def test_digests_that_disagree_are_damage(public):
    file = public / "parameters.json"
    contents = json.loads(file.read_text())
    contents["schema"]["table"]["size"] = 17
    file.write_text(json.dumps(contents))
    with pytest.raises(us.BadInput, match="does not fit its digest"):
        opened(public)


def test_a_histogram_needs_no_model():
    release = us.synthesize(
        schema_of(300, x=SHARE), TABLE, us.PerturbedHistogram(epsilon=1.0), seed=1
    )
    assert opened(release).model is None
    with pytest.raises(us.BadInput, match="leave out `model`"):
        opened(release, BETA)
