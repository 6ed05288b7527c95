"""Synthetic tables of more rows than are held."""

import pickle

import numpy as np
import pandas as pd
import pytest

import understudy as us
from synthesised import BETA, TABLE
from understudy.domain import tables
from understudy.errors import BadInput
from understudy.synthesis import simulation
from understudy.synthesis.large import LargeTable, in_batches, shown, whole
from understudy.synthesis.simulation import sample_large


@pytest.fixture(scope="module")
def released():
    return us.synthesize(BETA, TABLE, us.Summary(epsilon=1.0), seed=1)


@pytest.fixture
def small(monkeypatch):
    """Let no table be small enough to be held, and batches be of so many rows."""
    monkeypatch.setattr(simulation, "_CELL", 2**40)
    monkeypatch.setattr(simulation, "_CELLS", 300)


def test_the_rows_of_a_large_table_are_the_same_whenever_it_is_passed(released, small):
    table = sample_large(released, rows=1000, seed=3)
    assert isinstance(table, LargeTable)
    batches = list(in_batches(table))
    assert [len(batch) for batch in batches] == [300, 300, 300, 100]
    for one, other in zip(batches, table, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert len(table) == 1000
    pd.testing.assert_frame_equal(shown(table), batches[0])
    pd.testing.assert_frame_equal(table.head(), batches[0].head())
    assert not np.array_equal(batches[0].to_numpy(), batches[1].to_numpy())


def test_a_small_table_is_held(released):
    held = sample_large(released, rows=1000, seed=3)
    pd.testing.assert_frame_equal(whole(held), released.sample(1000, seed=3))
    assert shown(held) is held


def test_a_large_table_is_distributed_as_a_held_one(released, small):
    table = sample_large(released, rows=20_000, seed=3)
    values = pd.concat(list(table)).to_numpy().ravel()
    others = released.sample(20_000, seed=4).to_numpy().ravel()
    points = np.linspace(0, 1, 101)
    shares = [np.searchsorted(np.sort(each), points) / 20_000 for each in (values, others)]
    assert np.abs(shares[0] - shares[1]).max() < 0.025


def test_a_large_release_is_written_whole(tmp_path, small):
    release = us.synthesize(BETA, TABLE, us.Summary(epsilon=1.0), seed=1, rows=1000)
    assert repr(release).startswith("<Release: 1 table of 1,000 synthetic rows.")
    release.write(tmp_path / "out", parquet=True)
    public = tmp_path / "out" / "public"
    written = tables.read(public / "synthetic.csv").astype(float)
    expected = pd.concat(list(release.tables[0]), ignore_index=True)
    np.testing.assert_array_equal(written, expected)
    pd.testing.assert_frame_equal(tables.read(public / "synthetic.parquet"), expected)
    assert "1,000 synthetic rows" in (public / "card.html").read_text("utf-8")
    assert "1,000 synthetic rows" in release._repr_html_()


def test_what_needs_a_large_table_at_once_is_refused_and_says_what_to_do(released, small):
    release = us.synthesize(BETA, TABLE, us.Summary(epsilon=1.0), seed=1, rows=1000)
    with pytest.raises(BadInput, match="table of 1,000 rows is too large to be held: write the"):
        _ = release.synthetic
    with pytest.raises(TypeError, match="write the release instead"):
        pickle.dumps(release.tables[0])
    assert "1,000" in repr(release.tables[0])


def test_public_rows_of_batches_are_those_of_the_whole_table(monkeypatch):
    from understudy.domain.skeleton import Skeleton

    public = {"g": np.arange(50)}
    for skeleton in (
        Skeleton(public, 50, copied=True),
        Skeleton(public, 50),
        Skeleton(public, 70, copied=True),
        Skeleton(public, 70, reweighted=True),
    ):
        for balanced in (False, True):
            at_once = skeleton.drawn(np.random.default_rng(1), balanced=balanced)["g"]
            batches = skeleton.in_batches(np.random.default_rng(1), 16, balanced=balanced)
            pieces = [batch["g"] for batch in batches]
            assert [len(piece) for piece in pieces[:-1]] == [16] * (len(pieces) - 1)
            assert sum(map(len, pieces)) == skeleton.rows
            if skeleton.rows == 50 and not skeleton.reweighted:
                np.testing.assert_array_equal(np.concatenate(pieces), at_once)
