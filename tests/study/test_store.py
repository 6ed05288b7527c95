"""Replicates on disk are trusted only if they are whole, unedited and of this study."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import study_workers
from understudy.errors import BadInput
from understudy.study.arms import COLUMNS
from understudy.study.store import ReplicateStore, StudySettings

SEED = 11


def opened(directory):
    return ReplicateStore.open(directory, StudySettings(seed=SEED, sampler="quadrature"))


def test_a_replicate_is_read_as_it_was_written_and_by_its_own_study_only(tmp_path):
    store = opened(tmp_path)
    _, rows = study_workers.quick(3, SEED, "quadrature")
    store.write(3, rows)
    pd.testing.assert_frame_equal(store.read(3), pd.DataFrame(rows, columns=list(COLUMNS)))
    assert store.read(4) is None
    other = ReplicateStore(tmp_path, StudySettings(seed=SEED + 1, sampler="quadrature"))
    assert other.read(3) is None


def test_a_truncated_file_is_run_again(tmp_path):
    store = opened(tmp_path)
    store.write(1, study_workers.quick(1, SEED, "quadrature")[1])
    assert store.read(1) is not None
    place = tmp_path / "replicates" / "0001.parquet"
    place.write_bytes(place.read_bytes()[:100])
    assert store.read(1) is None


def test_an_edited_number_is_not_trusted_even_with_the_digest_beside_it(tmp_path):
    store = opened(tmp_path)
    store.write(1, study_workers.quick(1, SEED, "quadrature")[1])
    place = tmp_path / "replicates" / "0001.parquet"
    table = pq.read_table(place)
    values = pa.array([table["value"][0].as_py() + 1e-9])
    edited = table.set_column(table.schema.get_field_index("value"), "value", values)
    pq.write_table(edited.replace_schema_metadata(table.schema.metadata), place)
    assert store.read(1) is None


@pytest.mark.parametrize("change", [{"seed": SEED + 1}, {"sampler": "nuts"}])
def test_replicates_of_two_studies_are_not_mixed(tmp_path, change):
    settings = {"seed": SEED, "sampler": "quadrature"}
    ReplicateStore.open(tmp_path, StudySettings(**settings))
    with pytest.raises(BadInput, match="must not be mixed"):
        ReplicateStore.open(tmp_path, StudySettings(**{**settings, **change}))


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_a_damaged_description_is_refused(tmp_path, text):
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(BadInput, match="is damaged"):
        opened(tmp_path)


def test_a_directory_of_the_application_may_hold_the_study_too(tmp_path):
    (tmp_path / "application").mkdir()
    (tmp_path / "index.html").write_text("")
    opened(tmp_path)
    assert json.loads((tmp_path / "study.json").read_text())["seed"] == SEED
