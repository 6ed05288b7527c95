"""What the application is run on, and what is said about it."""

import pytest

from understudy.errors import BadInput
from understudy.study import application_sample
from understudy.study.application_sample import CPS_FILE, load_sample


def test_the_simulated_survey_is_encoded_within_its_schema():
    sample = load_sample(None)
    assert sample.outcome == "salary"
    assert sample.comparable
    assert sample.values.min() >= sample.schema.confidential[0].lower


def test_cps_is_looked_for_in_the_declared_directory_and_beside_the_project(
    earnings, tmp_path, monkeypatch
):
    monkeypatch.delenv(application_sample.DATA_DIRECTORY, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with pytest.raises(BadInput, match=f"{CPS_FILE} is not in ../shared/data: put it there"):
        load_sample("cps")
    beside = tmp_path / "shared" / "data"
    beside.mkdir(parents=True)
    (beside / CPS_FILE).write_text((earnings / CPS_FILE).read_text())
    assert len(load_sample("cps").values) == 120
    monkeypatch.setenv(application_sample.DATA_DIRECTORY, str(tmp_path / "nothing"))
    assert len(load_sample("cps").values) == 120
    (beside / CPS_FILE).write_text("year,earnings,degree,gender,age\n1992,10,bachelor,male,30\n")
    with pytest.raises(BadInput, match="no record of the year 2004"):
        load_sample("cps")
    (beside / CPS_FILE).write_text("earnings\n10\n")
    with pytest.raises(BadInput, match="no column 'year'"):
        load_sample("cps")


def test_anything_else_is_the_path_of_the_survey_of_doctorate_recipients(tmp_path):
    path = tmp_path / "extract.csv"
    path.write_text(
        "EDTP,NDGMENGP,SALARYP,GENDER,AGEGRP,WKSWK\n3,12,81000,F,45,52\n3,12,L,F,45,52\n"
    )
    sample = load_sample(str(path))
    assert sample.comparable
    assert sample.size == (
        "Found 1 records; the paper has 1601 (1 more with skipped or missing answers were left "
        "out)."
    )
    assert "public-use file" in sample.statement
    assert "would be confidential" in sample.statement
    assert list(sample.values) == [81000]
    with pytest.raises(BadInput, match="there is no file"):
        load_sample(str(tmp_path / "none.csv"))
