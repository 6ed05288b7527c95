"""Text in which every column has its fixed place, read by the layout that came with it.

Where the columns are is never guessed: it is read from a file beside the data, which may be

    a data dictionary        EDTP   0001   $CHAR1.   00103   00103   Character   ...
    a SAS program            @103 EDTP $1.      or      EDTP $ 103-103
    an SPSS program          EDTP   00103 - 00103 (A)

These are public documents, so they may be quoted; the data may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from understudy.errors import BadInput

SUFFIXES = (".dat", ".txt", ".asc")
_LAYOUT_SUFFIXES = (".sas", ".sps", ".txt")
_LARGEST_LAYOUT = 2_000_000
"""Bytes; whatever is larger is data."""

_STYLES = (
    r"^\s*{name}\s+\d+\s+\$?[A-Z]*\d+\.\d*\s+(?P<first>\d+)\s+(?P<last>\d+)\s",
    r"@\s*(?P<first>\d+)\s+{name}\s+\$?\s*(?:CHAR)?(?P<width>\d+)\.",
    # Without a last position, only the dollar sign of a text column tells a place from a length.
    r"\b{name}\s+(?:\$|(?=\d+\s*-))\s*(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?(?![\d.]|\s*-)",
)


class Place(NamedTuple):
    """First and last position of a column, counted from 1."""

    first: int
    last: int


def read_fixed_width(path: Path, variables: Sequence[str]) -> pd.DataFrame:
    """Return the named variables as text, blanks around them removed."""
    places = _layout(path, variables)
    needed = max(place.last for place in places.values())
    try:
        lines = path.read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    records = [line for line in lines if line.strip("\x1a \t")]
    if not records:
        raise BadInput(f"{path} has no records.")
    for row, record in enumerate(records, start=1):
        if len(record) < needed:
            raise BadInput(
                f"row {row} of {path} ends at position {len(record)}, but the layout beside it "
                f"reaches to position {needed}: they do not belong together."
            )
    return pd.DataFrame(
        {
            name: [record[place.first - 1 : place.last].strip() for record in records]
            for name, place in places.items()
        },
        dtype="str",
    )


def _layout(path: Path, variables: Sequence[str]) -> Mapping[str, Place]:
    """Return the places of all variables from the layout beside the data, or refuse."""
    if not path.is_file():
        raise BadInput(f"there is no file {path}.")
    layouts = {
        candidate: places
        for candidate in sorted(path.parent.iterdir())
        if candidate != path and _may_be_a_layout(candidate)
        if (places := find_places(candidate.read_text(encoding="latin-1"), variables))
    }
    named_alike = [each for each in layouts if each.stem.lower() == path.stem.lower()]
    chosen = named_alike or list(layouts)
    if not chosen:
        raise BadInput(
            f"{path} is fixed-width text, and no file beside it says where its columns are: put "
            f"the layout of the same download (LAYOUTPSD17.TXT, or a SAS or SPSS program that "
            f"reads the file) into its directory."
        )
    for other in chosen[1:]:
        if layouts[other] != layouts[chosen[0]]:
            raise BadInput(
                f"{chosen[0].name} and {other.name} give different columns for {path}: leave only "
                f"the layout that belongs to it in its directory."
            )
    return layouts[chosen[0]]


def _may_be_a_layout(path: Path) -> bool:
    known = path.suffix.lower() in _LAYOUT_SUFFIXES
    return known and path.is_file() and path.stat().st_size <= _LARGEST_LAYOUT


def find_places(text: str, variables: Sequence[str]) -> dict[str, Place] | None:
    """Return where a layout puts each variable, or None unless it places every one of them once."""
    for style in _STYLES:
        places = {name: _find(style, name, text) for name in variables}
        if all(len(place) == 1 for place in places.values()):
            return {name: place.pop() for name, place in places.items()}
    return None


def _find(style: str, name: str, text: str) -> set[Place]:
    pattern = re.compile(style.format(name=re.escape(name)), re.IGNORECASE | re.MULTILINE)
    places = set()
    for match in pattern.finditer(text):
        parts = match.groupdict()
        first = int(parts["first"])
        last = int(parts.get("last") or first + int(parts.get("width") or 1) - 1)
        if not 1 <= first <= last:
            return set()
        places.add(Place(first, last))
    return places
