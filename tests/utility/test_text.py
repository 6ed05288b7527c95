"""The measures as plain text, and what a notebook shows in their place."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from understudy.domain.schema import Schema
from understudy.utility import measure_table
from understudy.utility.text import notebook

COLUMNS = {
    "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 9], "missing": "model"},
    "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"]},
    "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})


@pytest.fixture(scope="module")
def utility():
    rng = np.random.default_rng(0)
    made = [
        pd.DataFrame(
            {
                "pay": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 9, n)),
                "job": rng.choice(["x", "y"], n),
                "age": rng.integers(0, 100, n),
            }
        )
        for n in (90, 60)
    ]
    return measure_table(*made, SCHEMA, regression="pay ~ job")


def test_the_text_holds_the_measures_under_a_line_that_says_who_may_read_them(utility):
    text = utility.to_text()
    assert text.startswith("CONFIDENTIAL: computed from the confidential table; do not publish.\n")
    pay, job = utility.columns["pay"], utility.columns["job"]
    for told in (
        f"max-ECDF         {pay.max_ecdf:.4f}",
        f"avg-ECDF         {pay.avg_ecdf:.6f}",
        f"total variation  {job.total_variation:.4f}",
        f"pMSE             {utility.propensity.pmse:.6f}, {utility.propensity.ratio:.2f} times",
    ):
        assert told in text
    (statistics,) = re.findall(r"90th percentile +(\S+) +(\S+)", text)
    both = pay.confidential.q90, pay.synthetic.q90
    assert [float(cell) for cell in statistics] == pytest.approx(both, rel=1e-5)
    (missing,) = re.findall(r"missing +(\S+)% +(\S+)%", text)
    shares = 100 * pay.missing.confidential, 100 * pay.missing.synthetic
    assert [float(cell) for cell in missing] == pytest.approx(shares, abs=0.005)
    (slope,) = re.findall(r"job\[T.y\] +(\S+) +(\S+)", text)
    coefficient = utility.regression.coefficients[1]
    both = coefficient.confidential.value, coefficient.synthetic.value
    assert [float(cell) for cell in slope] == pytest.approx(both, rel=1e-5)


def test_pairs_come_furthest_apart_first(utility):
    told = re.findall(r"(\d\.\d{4}) +\d\.\d{4}   (\w+ × \w+)", utility.to_text())
    distances = {" × ".join(pair.columns): pair.total_variation for pair in utility.pairs}
    assert [name for _, name in told] == sorted(distances, key=lambda name: -distances[name])


def test_a_notebook_shows_what_was_measured_and_no_number(utility):
    html = utility._repr_html_()
    for told in ("pay, job", "pay ~ job", "max-ECDF", "pMSE", "to_text()", "confidential"):
        assert told in html
    assert not any(character.isdigit() for character in html)
    assert repr(utility) == "<TableUtility: confidential, stays inside>"


def test_names_in_a_notebook_are_shown_and_never_obeyed():
    html = notebook("<script>", {"<b>": "a & b"})
    assert "<script>" not in html
    assert "<b>" not in html
    assert "a &amp; b" in html
