"""Templates: everything is escaped, and what is lacking is an error."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from pages import HOSTILE, Reader
from understudy.report.template import fill


def test_what_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError):
        fill("card.html.j2", title="a")


def test_what_is_filled_in_is_escaped():
    html = fill("macros.html.j2")
    assert html.strip() == ""
    sections = ["guarantee", "closeness", "spending", "overview", "columns", "groups", "drift"]
    sections += ["answers", "pairs", "propensity", "regression", "influence", "convergence"]
    page = fill("report.html.j2", title=HOSTILE, sizes=HOSTILE, **dict.fromkeys(sections))
    reader = Reader(page)
    assert "script" not in reader.tags
    assert "".join(reader.words).count(HOSTILE) == 3
