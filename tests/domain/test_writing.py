"""Tables are written so that they can be read as they were."""

import pandas as pd
import pytest

from refusals import refusal
from understudy.domain import tables, writing


def test_csv_is_written_plainly_and_numbers_survive(tmp_path):
    frame = pd.DataFrame({"x": [0.1 + 0.2, 1e-300], "n": [1, 2], "g": ["é", 'a,"b']})
    writing.write(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == (
        'x,n,g\n0.30000000000000004,1,é\n1e-300,2,"a,""b"\n'.encode()
    )


def test_other_formats_are_not_written_and_the_disk_may_refuse(tmp_path):
    frame = pd.DataFrame({"x": [1]})
    assert ".csv or .parquet" in refusal(writing.write, frame, tmp_path / "t.dta")
    for suffix in writing.WRITABLE:
        with pytest.raises(OSError, match="t"):
            writing.write(frame, tmp_path / "missing" / f"t{suffix}")


def test_batches_make_one_table_in_every_file_at_once(tmp_path):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5], "g": ["a", "b", "a"]})
    files = [tmp_path / f"t{suffix}" for suffix in writing.WRITABLE]
    writing.write_all((frame.iloc[k : k + 1] for k in range(3)), *files)
    assert pd.read_parquet(tmp_path / "t.parquet").equals(frame)
    assert (tmp_path / "t.csv").read_text() == "x,g\n0.5,a\n1.5,b\n2.5,a\n"
    assert tables.read(tmp_path / "t.csv")["g"].tolist() == ["a", "b", "a"]
