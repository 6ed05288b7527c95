"""The paper's sample is found in every form in which the survey is published, or refused."""

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from study_doctorates import RESPONDENTS, check, refusal
from understudy.study.application_sample import load_sample
from understudy.study.doctorates import AGES, SCHEMA, read_doctorates


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xpt"])
def test_extracts_and_sas_files_are_read(tmp_path, suffix):
    path = tmp_path / f"epsd17{suffix}"
    extra = RESPONDENTS.assign(OBSNUM=range(len(RESPONDENTS)))
    if suffix == ".xpt":
        pyreadstat.write_xport(extra, path)
    elif suffix == ".csv":
        extra.to_csv(path, index=False)
    else:
        extra.to_parquet(path)
    check(read_doctorates(path))


def test_the_sas_file_of_the_download_is_read_as_sas_stores_it(tmp_path, monkeypatch):
    """Nobody but SAS writes this format: what its reader gives is put in its place."""
    stored = RESPONDENTS.astype({"SALARYP": float, "AGEGRP": float, "WKSWK": float})
    path = tmp_path / "epsd17.sas7bdat"
    path.write_bytes(b"SAS")
    monkeypatch.setattr(pyreadstat, "read_sas7bdat", lambda *_, **__: (stored, None))
    check(read_doctorates(path))


@pytest.mark.parametrize(
    "write",
    [
        lambda codes: [" " + code for code in codes],
        lambda codes: [float(code) if code.isdigit() else np.nan for code in codes],
        lambda codes: [f"{code}.0" if code.isdigit() else code for code in codes],
        lambda codes: [int(code) if code.isdigit() else code for code in codes],
    ],
    ids=["spaces", "floats", "decimals", "mixed"],
)
def test_a_code_is_the_same_however_it_is_written(tmp_path, monkeypatch, write):
    written = RESPONDENTS.assign(
        **{name: write(list(RESPONDENTS[name])) for name in ("EDTP", "NDGMENGP")},
        AGEGRP=[f" {code}" for code in RESPONDENTS["AGEGRP"]],
    ).rename(columns=str.lower)
    monkeypatch.setattr("understudy.study.doctorates.read", lambda path: written)
    check(read_doctorates(tmp_path / "epsd17.csv"))


@pytest.mark.parametrize("name", ["SALARYP", "AGEGRP", "WKSWK", "GENDER"])
@pytest.mark.parametrize("written", ["", ".", "L", " L ", None, np.nan])
def test_skipped_and_missing_answers_are_left_out_and_counted(tmp_path, monkeypatch, name, written):
    answers = RESPONDENTS[name].astype(object)
    answers[1] = written
    monkeypatch.setattr(
        "understudy.study.doctorates.read", lambda path: RESPONDENTS.assign(**{name: answers})
    )
    table, left_out = read_doctorates(tmp_path / "epsd17.csv")
    assert list(table["salary"]) == [81000, 509000]
    assert left_out == 4
    assert load_sample(str(tmp_path / "epsd17.csv")).size == (
        "Found 2 records; the paper has 1601 (4 more with skipped or missing answers were left "
        "out)."
    )


def test_the_paper_s_size_is_recognised(tmp_path, monkeypatch):
    many = pd.concat([RESPONDENTS.iloc[:1]] * 1601, ignore_index=True)
    monkeypatch.setattr("understudy.study.doctorates.read", lambda path: many)
    sample = load_sample(str(tmp_path / "epsd17.csv"))
    assert sample.size == "Found 1601 records, as in the paper."


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SALARYP", 600001),
        ("SALARYP", -1),
        ("SALARYP", "unknown"),
        ("WKSWK", 0),
        ("WKSWK", 53),
        ("WKSWK", 36.5),
        ("AGEGRP", 20),
        ("AGEGRP", "old"),
        ("GENDER", "X"),
        ("GENDER", 1),
    ],
)
def test_a_code_that_the_codebook_does_not_have_is_refused_by_its_place(
    tmp_path, monkeypatch, name, code
):
    answers = RESPONDENTS[name].astype(object)
    answers[2] = code
    monkeypatch.setattr(
        "understudy.study.doctorates.read", lambda path: RESPONDENTS.assign(**{name: answers})
    )
    path = tmp_path / "epsd17.csv"
    assert refusal(path) == (
        f"the value in row 3 of column {name} of {path} is none that the codebook of 2017 has: is "
        f"it the public-use file of that year?"
    )


def test_other_tables_are_refused(tmp_path):
    path = tmp_path / "epsd17.csv"
    RESPONDENTS.drop(columns="WKSWK").to_csv(path, index=False)
    assert "has no column WKSWK: the application needs EDTP, NDGMENGP, SALARYP" in refusal(path)
    RESPONDENTS.assign(edtp="3").to_csv(path, index=False)
    assert "more than one column EDTP" in refusal(path)
    RESPONDENTS.assign(NDGMENGP="22").to_csv(path, index=False)
    assert "no record of" in refusal(path)
    assert "there is no file" in refusal(tmp_path / "none.dat")
    assert "there is no file" in refusal(tmp_path / "none.sas7bdat")
    assert "must end in" in refusal(tmp_path / "epsd17.zip")


def test_the_declared_domain_is_that_of_the_codebook():
    assert SCHEMA.size == 1601
    assert SCHEMA.column("age").levels == tuple(AGES.values())
    assert list(AGES) == [25, 30, 35, 40, 45, 50, 55, 60, 65, 70]
    # The lowest and the highest code must lie inside, where a Beta density is finite.
    assert SCHEMA.column("salary").lower < 0
    assert SCHEMA.column("salary").upper > 509_000
