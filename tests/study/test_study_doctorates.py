"""The paper's sample is found in every form in which the survey is published, or refused."""

import re

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from understudy.domain import tables
from understudy.errors import BadInput
from understudy.study.doctorates import AGES, SCHEMA, read_doctorates
from understudy.study.fixed_width import Place, find_places

# Invented respondents in the codes of the survey; the first three are in the sample.
RESPONDENTS = pd.DataFrame(
    {
        "EDTP": ["3", "3", "3", "4", "L", "3", "3", "3", "3"],
        "NDGMENGP": ["12", "12", "12", "12", "12", "22", "12", "12", "12"],
        "SALARYP": [81000, 0, 509000, 70000, 9999998, 60000, 9999998, 50000, 50000],
        "GENDER": ["F", "M", "F", "M", "F", "M", "F", "M", "F"],
        "AGEGRP": [25, 45, 70, 45, 45, 45, 45, 45, 98],
        "WKSWK": [52, 2, 36, 52, 98, 52, 98, 98, 52],
    }
)
SAMPLE = pd.DataFrame(
    {
        "salary": [81000.0, 0.0, 509000.0],
        "gender": ["F", "M", "F"],
        "age": ["29 and under", "45-49", "70-75"],
        "weeks": [52.0, 2.0, 36.0],
    }
)
# Not the survey's own order or widths: they must be read, not known.
PLACES = {
    "GENDER": (1, 1),
    "EDTP": (2, 2),
    "NDGMENGP": (3, 4),
    "AGEGRP": (7, 9),
    "WKSWK": (10, 12),
    "SALARYP": (13, 21),
}
LAYOUTS = {
    "LAYOUT.TXT": "\n".join(
        [
            "SAS NAME  LENGTH   FORMAT   START    END     TYPE    LABEL",
            "ACADV      0001    $CHAR1.  00022    00022   Character  OTHER",
            *(
                f"{name:<10} {last - first + 1:04}  {'3.0' if name == 'WKSWK' else '$CHAR9.'}  "
                f"{first:05}    {last:05}   Numeric      X_EDTP_LABEL"
                for name, (first, last) in PLACES.items()
            ),
        ]
    ),
    "pointers.sas": "DATA x; INFILE 'epsd17.dat'; INPUT\n"
    + "\n".join(
        f"  @{first:03} {name} {'$' if name in ('EDTP', 'GENDER') else ''}{last - first + 1}."
        for name, (first, last) in PLACES.items()
    )
    + ";\nLABEL EDTP = 'WHERE';",
    "columns.sas": "data x; input "
    + " ".join(
        f"{name.lower()} $ {first}-{last}" if last > first else f"{name.lower()} $ {first}"
        for name, (first, last) in PLACES.items()
    )
    + ";\nformat edtp $codes.;",
    "load.sps": "DATA LIST FILE=DATA /\n"
    + "\n".join(f"  {name:<14} {a:05}    - {b:05} (A)" for name, (a, b) in PLACES.items())
    + '\n.\nVARIABLE LABELS\n  EDTP "E_JOB_EMPLR_EDUC_INST_TYPE"\nVALUE LABELS\n   /AGEGRP\n'
    + '    25                    "25: Ages 29 or younger"\n    30       "30: Ages 30-34"\n',
}


def fixed_width(respondents=RESPONDENTS):
    lines = []
    for record in respondents.to_dict("records"):
        line = [" "] * 24
        for name, (first, last) in PLACES.items():
            line[first - 1 : last] = f"{record[name]:>{last - first + 1}}"
        lines.append("".join(line))
    return "\n".join(lines) + "\n"


def published(tmp_path, layout="LAYOUT.TXT", respondents=RESPONDENTS):
    """Write the survey as fixed-width text with one layout, and return the path of the data."""
    path = tmp_path / "EPSD17.DAT"
    path.write_text(fixed_width(respondents))
    if layout is not None:
        (tmp_path / layout).write_text(LAYOUTS[layout])
    return path


def refusal(path):
    with pytest.raises(BadInput) as caught:
        read_doctorates(path)
    sentence = str(caught.value)
    assert sentence[-1] in ".?"
    assert "\n" not in sentence
    assert not {"81000", "509000", "70000", "50000"} & set(re.findall(r"\d+", sentence))
    return sentence


def check(doctorates):
    pd.testing.assert_frame_equal(doctorates.table, SAMPLE, check_dtype=False)
    assert doctorates.left_out == 3
    tables.encode(doctorates.table, SCHEMA)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fixed_width_text_is_read_by_the_layout_beside_it(tmp_path, layout):
    check(read_doctorates(published(tmp_path, layout)))


def test_layouts_that_agree_may_lie_together_with_other_files_of_the_download(tmp_path):
    path = published(tmp_path)
    for name, text in LAYOUTS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "Fpsd17.sas").write_text("FORMAT EDTP $CODES_R2_.;\nFORMAT AGEGRP AGES_3_.;")
    (tmp_path / "README.TXT").write_text("EDTP, NDGMENGP and 3 others.")
    check(read_doctorates(path))


def test_fixed_width_text_without_its_layout_is_refused(tmp_path):
    sentence = refusal(published(tmp_path, layout=None))
    assert "no file beside it says where its columns are" in sentence
    incomplete = "\n".join(LAYOUTS["LAYOUT.TXT"].splitlines()[:-1])
    (tmp_path / "LAYOUT.TXT").write_text(incomplete)
    assert "no file beside it says" in refusal(tmp_path / "EPSD17.DAT")


def test_layouts_that_disagree_are_refused_unless_one_is_named_like_the_data(tmp_path):
    path = published(tmp_path)
    other = LAYOUTS["load.sps"].replace("00002    - 00002", "00005    - 00005")
    (tmp_path / "load.sps").write_text(other)
    sentence = refusal(path)
    assert "LAYOUT.TXT and load.sps give different columns" in sentence
    (tmp_path / "epsd17.txt").write_text(LAYOUTS["LAYOUT.TXT"])
    check(read_doctorates(path))


def test_a_layout_that_places_a_variable_twice_says_nothing():
    names = list(PLACES)
    for text in LAYOUTS.values():
        assert find_places(text, names) == {name: Place(*PLACES[name]) for name in names}
    twice = LAYOUTS["LAYOUT.TXT"] + LAYOUTS["LAYOUT.TXT"].replace(
        "00002    00002", "00005    00005"
    )
    assert find_places(twice, names) is None
    assert find_places(LAYOUTS["load.sps"].replace("00001", "00000"), names) is None


def test_data_and_layout_of_different_lengths_do_not_belong_together(tmp_path):
    path = published(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:15], *lines[2:]]))
    sentence = refusal(path)
    assert "row 2 of" in sentence
    assert "do not belong together" in sentence
    path.write_text("\n\x1a")
    assert "has no records" in refusal(path)


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
    monkeypatch.setattr(tables, "read", lambda path: written)
    check(read_doctorates(tmp_path / "epsd17.csv"))


@pytest.mark.parametrize("name", ["SALARYP", "AGEGRP", "WKSWK", "GENDER"])
@pytest.mark.parametrize("written", ["", ".", "L", " L ", None, np.nan])
def test_skipped_and_missing_answers_are_left_out_and_counted(tmp_path, monkeypatch, name, written):
    answers = RESPONDENTS[name].astype(object)
    answers[1] = written
    monkeypatch.setattr(tables, "read", lambda path: RESPONDENTS.assign(**{name: answers}))
    doctorates = read_doctorates(tmp_path / "epsd17.csv")
    assert list(doctorates.table["salary"]) == [81000, 509000]
    assert doctorates.left_out == 4
    assert doctorates.size == (
        "Found 2 records; the paper has 1601 (4 more with skipped or missing answers were left out)."
    )


def test_the_paper_s_size_is_recognised(tmp_path, monkeypatch):
    many = pd.concat([RESPONDENTS.iloc[:1]] * 1601, ignore_index=True)
    monkeypatch.setattr(tables, "read", lambda path: many)
    doctorates = read_doctorates(tmp_path / "epsd17.csv")
    assert doctorates.size == "Found 1601 records, as in the paper."


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
    monkeypatch.setattr(tables, "read", lambda path: RESPONDENTS.assign(**{name: answers}))
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
