"""Invented respondents of the Survey of Doctorate Recipients, in the forms it is published in."""

import re

import pandas as pd
import pytest

from understudy.domain import tables
from understudy.errors import BadInput
from understudy.study.doctorates import SCHEMA, read_doctorates

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
    table, left_out = doctorates
    pd.testing.assert_frame_equal(table, SAMPLE, check_dtype=False)
    assert left_out == 3
    tables.encode(table, SCHEMA)
