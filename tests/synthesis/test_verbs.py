"""One set of verbs in Python, which take objects or paths and give objects."""

import pickle

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import understudy as us
from understudy.adapters.loading import rebuild_model

COLUMN = {"role": "confidential", "type": "continuous", "bounds": [0, 100]}
SCHEMA = us.Schema.from_dict({"table": {"size": 120}, "columns": {"pay": COLUMN}})
TABLE = pd.DataFrame({"pay": 100 * np.random.default_rng(2).beta(2, 5, 120)})
MECHANISM = us.Anchored(epsilon=1.0)


@pytest.fixture(scope="module")
def release():
    return us.synthesize(us.beta(SCHEMA), TABLE, MECHANISM, seed=1)


@pytest.mark.parametrize(
    "form", [polars.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"]
)
def test_a_table_of_any_library_gives_the_same_release(release, form):
    other = us.synthesize(us.beta(SCHEMA), form(TABLE), MECHANISM, seed=1)
    pd.testing.assert_frame_equal(other.synthetic, release.synthetic)


def test_a_release_draws_more_rows_of_itself(release, tmp_path):
    ours = release.sample(25, seed=4)
    assert len(ours) == 25
    public = release.write(tmp_path / "out") / "public"
    pd.testing.assert_frame_equal(us.sample(public, rows=25, seed=4), ours)


UNIT = us.Schema.from_dict(
    {"table": {"size": 120}, "columns": {"pay": COLUMN | {"bounds": [0, 1]}}}
)


def skewed(pay=None, n=120):
    import numpyro
    from numpyro import distributions as dist

    place = numpyro.sample("place", dist.Beta(2.0, 2.0))
    with numpyro.plate("records", n):
        numpyro.sample("pay", dist.Beta(1 + place, 4.0), obs=pay)


@pytest.mark.slow
def test_even_one_of_a_model_that_was_built_in_python():
    model = us.from_numpyro(skewed, schema=UNIT)
    mechanism = us.CensorUw(epsilon=1.0)
    release = us.synthesize(model, TABLE / 100, mechanism, sampler="exact", seed=1)
    assert len(release.sample(5)) == 5
    copied = pickle.loads(pickle.dumps(release))
    with pytest.raises(us.BadInput, match="built in Python"):
        copied.sample(5)


def test_what_is_published_of_a_model_that_was_built_in_python_does_not_rebuild_it():
    spec = us.from_numpyro(skewed, schema=UNIT).spec
    with pytest.raises(us.BadInput, match="built in Python"):
        rebuild_model(spec, schema=UNIT)


def test_compare_and_draft_take_tables_as_they_are(release):
    comparison = us.compare(TABLE, release.synthetic, SCHEMA)
    assert "max-ECDF" in comparison.to_text() or "pay" in comparison.to_text()
    assert "[columns.pay]" in us.draft(polars.from_pandas(TABLE))


@pytest.mark.slow
def test_a_policy_of_a_model_that_was_built_in_python_takes_that_model_again(tmp_path):
    model = us.from_numpyro(skewed, schema=UNIT)
    last_year = pd.DataFrame({"pay": np.random.default_rng(8).beta(2, 5, 120)})
    us.calibrate(
        model, last_year, reference_is="confidential", population="staff", epsilon=1.0,
        mechanisms=["anchored"], draws=1, budget=2.0,
    ).write(tmp_path / "POLICY.toml")  # fmt: skip
    us.Ledger.create(tmp_path / "l.db", budget=2.0, adjacency="add-remove", population="staff")
    asked = {"period": "2026-01", "ledger": tmp_path / "l.db"}
    with pytest.raises(us.Refused, match="was built in Python: give `model`"):
        us.release(tmp_path / "POLICY.toml", TABLE / 100, **asked)
    with pytest.raises(us.Refused, match="is not the policy's model"):
        us.release(tmp_path / "POLICY.toml", TABLE / 100, model=us.beta(UNIT), **asked)
    release = us.release(tmp_path / "POLICY.toml", TABLE / 100, model=model, **asked)
    assert release.guarantee.period == "2026-01"
