"""What people see of an answer."""

import json
import math

import pytest

from understudy.report.answers import Answer
from understudy.report.intervals import Interval

ESTIMATES = (
    Interval("F", 20_000.0, 19_000.0, 21_000.0, 510.0, 0.25),
    Interval("M", 22_000.0, 21_500.0, 22_500.0, 255.0, None),
    Interval("M − F", math.nan, math.nan, math.nan, math.nan, None),
)
ANSWER = Answer("mean(pay) by gender", 0.95, "the population", ESTIMATES, ("Take care.",))


def test_the_table_says_whom_it_is_about_and_aligns_its_numbers():
    lines = ANSWER.to_text().splitlines()
    assert lines[:2] == ["mean(pay) by gender, 95% intervals", "About the population."]
    head, first, second, third = lines[3], *lines[5:8]
    assert head.split() == ["estimate", "std", "err", "[0.025", "0.975]", "due", "to", "privacy"]
    assert first.split() == ["F", "20,000", "510", "19,000", "21,000", "25", "%"]
    assert second.split()[-1] == "–"
    assert third.split()[-5:] == ["–"] * 5
    assert first.index("20,000") == second.index("22,000")
    assert lines[-1] == "Warning: Take care."


def test_coefficients_look_like_those_of_other_software():
    fitted = Answer("pay ~ age", 0.9, "the population", ESTIMATES[:1], (), regression=True)
    head = fitted.to_text().splitlines()[3]
    assert head.split() == ["coef", "std", "err", "[0.05", "0.95]", "due", "to", "privacy"]


def test_json_has_the_keys_of_the_contract_and_null_for_what_cannot_be_told():
    found = json.loads(ANSWER.to_json())
    assert {"question", "level", "estimates", "warnings"} <= found.keys()
    keys = {"name", "estimate", "lower", "upper", "privacy_share"}
    assert all(keys <= each.keys() for each in found["estimates"])
    assert found["estimates"][2]["estimate"] is None
    assert found["estimates"][0]["privacy_share"] == 0.25


def test_the_figure_names_what_is_known_and_leaves_out_what_is_not():
    figure = ANSWER.figure()
    assert figure.startswith("<svg")
    assert ">F<" in figure
    assert ">M<" in figure
    assert "M − F" not in figure


@pytest.mark.parametrize("ending", ["html", "svg", "json"])
def test_it_can_be_written(tmp_path, ending):
    file = tmp_path / f"answer.{ending}"
    ANSWER.write(file)
    text = file.read_text(encoding="utf-8")
    if ending == "json":
        assert json.loads(text) == ANSWER.to_dict()
    else:
        assert "<svg" in text
    assert ("Take care." in text) == (ending != "svg")
    assert "http" not in text.replace("http://www.w3.org", "")


def test_names_are_text_even_in_a_page(tmp_path):
    odd = Answer("mean(`<b>`)", 0.95, "the population", ESTIMATES, ("<i>no</i>",))
    odd.write(tmp_path / "odd.html")
    page = (tmp_path / "odd.html").read_text(encoding="utf-8")
    assert "<b>" not in page
    assert "<i>no" not in page
    assert "<i>no" not in odd._repr_html_()
