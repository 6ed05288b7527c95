"""Public rows stand for the population that weighted sums speak of."""

import numpy as np
import pytest

import understudy as us
from summaries import PUBLIC, SHARE
from understudy.inference.margins import as_population, margins, needed
from understudy.inference.measurement import Measurement, Noise
from understudy.models.record.declared import as_declared

WEIGHT = {"role": "survey-weight", "bounds": [0, 90], "average": 5}
AGE = {"role": "public", "type": "count", "bounds": [0, 100]}


def schema_of(**columns):
    return us.Schema.from_dict({"table": {"size": 4000}, "columns": {"x": SHARE, **columns}})


def sample():
    """Return public columns of a sample in which weights depend on both of them."""
    generator = np.random.default_rng(0)
    g, age = generator.integers(2, size=4000), generator.integers(20, 60, size=4000).astype(float)
    v = np.where(g == 1, 9.0, 1.0) * np.where(age < 30, 2.0, 0.5)
    return {"g": g, "age": age}, 5 * v / v.mean()


@pytest.mark.parametrize(("scale", "off"), [(0.5, 0.01), (1e9, None)])
def test_rows_are_as_frequent_as_weights_say_unless_noise_drowns_them(scale, off):
    model = as_declared(us.beta(schema_of(g=PUBLIC, age=AGE, v=WEIGHT))).row
    public, v = sample()
    table = margins(model, public, 1)
    total = table.total({**public, "v": v, "x": np.full(4000, 0.5)})
    rows = as_population(
        Measurement(table, total, Noise(scale), 1.0), public, np.random.default_rng(1)
    )
    if off is None:
        assert rows["g"].mean() == pytest.approx(public["g"].mean(), abs=0.01)
        return
    assert rows["g"].mean() == pytest.approx(np.average(public["g"], weights=v), abs=off)
    young = np.average(public["age"] < 30, weights=v)
    assert (rows["age"] < 30).mean() == pytest.approx(young, abs=0.03)
    assert set(zip(rows["g"], rows["age"], strict=True)) <= set(
        zip(public["g"], public["age"], strict=True)
    )


def test_counts_that_make_no_sense_still_give_rows():
    model = as_declared(us.beta(schema_of(g=PUBLIC, v=WEIGHT))).row
    public = {"g": np.zeros(50, dtype=np.int64)}
    table = margins(model, public, 1)
    rows = as_population(
        Measurement(table, np.array([-900, -5000]), Noise(300.0), 1.0), public,
        np.random.default_rng(1),
    )  # fmt: skip
    assert not rows["g"].any()


def test_the_round_is_for_weights_beside_public_columns():
    assert needed(schema_of(g=PUBLIC, v=WEIGHT))
    assert not needed(schema_of(g=PUBLIC))
    assert not needed(schema_of(v=WEIGHT))
