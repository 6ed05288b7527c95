"""How pictures look: the same everywhere, and text that stays text."""

from __future__ import annotations

import matplotlib
import pytest

from pages import HOSTILE, Reader
from understudy.report import figures
from understudy.report.svg import inline_svg, printable, shortened


def pictures():
    numbers = ([1.0, 2, 4, 8], [2.0, 3, 5, 7]), "pay"
    return [
        figures.density(*numbers, (0, 9)),
        figures.ecdf(*numbers, (0, 9)),
        figures.qq(*numbers),
        figures.levels(("xxy", "xyy"), "job", ["x", "y"]),
    ]


def test_a_users_matplotlib_settings_do_not_change_a_picture():
    usual = pictures()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert pictures() == usual


def test_two_pictures_in_one_page_share_no_id_and_no_style():
    drawn = "".join(pictures())
    reader = Reader(drawn)
    assert max(reader.ids.values()) == 1
    assert "style" not in reader.tags
    assert {value[1:] for value in reader.values("href")} <= reader.ids.keys()


def test_a_description_is_read_aloud_and_never_obeyed():
    reader = Reader(inline_svg(lambda axes: axes.set_xlabel(HOSTILE), HOSTILE))
    assert reader.values("aria-label") == [HOSTILE]
    assert HOSTILE in "".join(reader.words)
    assert "script" not in reader.tags


@pytest.mark.parametrize("broken", ["\x00", "\x1f", "\ud800", "\uffff"])
def test_what_no_xml_may_contain_is_replaced(broken):
    assert printable(f"a{broken}b") == "a\ufffdb"
    Reader(inline_svg(lambda axes: axes.set_xlabel(printable(broken)), broken))


def test_long_names_are_cut():
    assert shortened("a" * 28) == "a" * 28
    assert shortened("a" * 29) == "a" * 27 + "…"
    assert shortened("abcdef", 4) == "abc…"
