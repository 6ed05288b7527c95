"""Section 5 as files: the same numbers in all of them, and the paper's only beside its own data."""

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from study_applications import FILES, KEYS, of_the_paper
from understudy.study.application import LABELS, MECHANISMS
from understudy.study.application_output import (
    STATISTICS,
    as_text,
    render_section,
    write_application,
    write_densities,
)
from understudy.study.application_sample import load_sample


def check_files(application, folder, records):
    assert {file.name for file in folder.iterdir()} == FILES
    results = json.loads((folder / "results.json").read_text())
    assert results["records"] == records
    assert len(results["rows"]) == (1 + len(KEYS)) * len(STATISTICS)
    by_place = {(row["synthesiser"], row["statistic"]): row["value"] for row in results["rows"]}
    with (folder / "table-2.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["", "Data", *(LABELS[key] for key in application.tables)]
    assert [row[0] for row in rows] == list(STATISTICS.values())
    for row, statistic in zip(rows, STATISTICS, strict=True):
        for key, text in zip(["data", *KEYS], row[1:], strict=True):
            value = by_place[key, statistic]
            assert text == "NA" if value is None else abs(float(text) - value) <= 0.0051


@pytest.mark.slow
def test_all_files_are_written_and_hold_the_same_numbers(ran):
    application, folder, _ = ran
    check_files(application, folder, records=120)


@pytest.fixture(scope="module")
def elsewhere(small, tmp_path_factory):
    """The paper's numbers, scaled, as if they were about another table, and where they are."""
    application = of_the_paper()
    scaled = {
        key: replace(
            table,
            values={key: value and value / 1e4 for key, value in table.values.items()},
            synthetic=table.synthetic / 1e4,
        )
        for key, table in application.tables.items()
    }
    data = {key: value / 1e4 for key, value in application.data.items()}
    application = replace(application, sample=small, data=data, tables=scaled)
    folder = tmp_path_factory.mktemp("elsewhere")
    write_application(application, folder)
    return application, folder


def test_numbers_below_a_thousand_are_the_same_in_all_files(elsewhere):
    check_files(*elsewhere, records=120)


def test_other_data_never_stand_beside_the_paper_s_numbers(elsewhere):
    application, folder = elsewhere
    results = json.loads((folder / "results.json").read_text())
    assert {row["paper"] for row in results["rows"]} == {None}
    section = (folder / "section.html").read_text()
    assert "other data than the paper's" in section.replace("&#39;", "'")
    assert "91,019" not in section
    assert "other data than the paper's" in " ".join(as_text(application, folder).split())


class Balanced(HTMLParser):
    """Checks that every element that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_section_is_a_sound_fragment_that_says_what_it_is_about():
    section = render_section(of_the_paper())
    parser = Balanced()
    parser.feed(section)
    parser.close()
    assert parser.open == []
    assert not {"html", "head", "body", "script"} & set(parser.seen)
    assert section.startswith('<section id="application">')
    assert "What it is &amp; whether it may be shown. It has 1500 records" in section
    assert "a table &lt;b&gt;" in section
    assert 'src="application/densities.svg"' in section
    text = re.sub(r"<[^>]+>", " ", section)
    for word in ("diagnostic, not a guarantee", "asymptotic", "2/ε", "Agrees with the paper"):
        assert word in text


def test_the_section_has_the_paper_s_rows_with_its_values_below_ours():
    section = render_section(of_the_paper(weighted={"max_ecdf": 0.0123}))
    rows = dict(re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', section, re.DOTALL))
    assert [name for name in rows if name in STATISTICS.values()] == list(STATISTICS.values())
    cells = re.findall(r"<td.*?</td>", rows["max-ECDF"], re.DOTALL)
    assert len(cells) == 1 + len(KEYS)
    assert '<span class="best">0.0123</span>' in cells[1]
    assert '<small><span class="best">0.0656</span></small>' in cells[1]
    assert "ours" not in cells[5]
    assert "first-of-ours" in cells[6]
    assert "first-of-ours" not in cells[7]
    assert all("ours" in cell and "<small>" not in cell for cell in cells[6:])
    epsilons = re.findall(r"<td.*?</td>", rows["Privacy ε"], re.DOTALL)
    assert ["†" in cell for cell in epsilons] == [False, True, True, True, *[False] * 7, True]


def test_files_are_the_same_byte_for_byte_and_leave_nothing_behind(tmp_path):
    contents = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_application(of_the_paper(), tmp_path / name)
        contents.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]
    assert contents[0].keys() == FILES


def test_the_table_holds_the_paper_s_numbers_after_ours(tmp_path):
    write_application(of_the_paper(weighted={"mean": 123_456.7}), tmp_path)
    with (tmp_path / "table-2.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    mean = next(row for row in rows if row[""] == "Mean")
    assert mean["Weighted (aDP)"] == "123457"
    assert mean["Weighted (aDP), paper"] == "92994"
    assert mean["Data, paper"] == "91019"


def test_without_data_the_simulated_survey_is_used_and_said_to_be_simulated(tmp_path):
    sample = load_sample(None)
    assert len(sample.values) == 1601
    assert "simulated" in sample.source
    assert "no real record is in it" in sample.statement
    assert sample.size == "It has 1601 records; the paper has as many."
    application = replace(of_the_paper(), sample=sample)
    caption = re.search(r"<caption>.*?</caption>", render_section(application), re.DOTALL)
    assert caption is not None
    assert "the simulated survey" in caption[0]
    shown = as_text(application, tmp_path)
    assert "simulated" in shown
    assert max(map(len, shown.splitlines())) < 120


def test_the_picture_names_every_curve_in_text(tmp_path):
    write_densities(of_the_paper(), tmp_path)
    picture = ElementTree.parse(tmp_path / "densities.svg")
    texts = {
        "".join(element.itertext()).strip() for element in picture.iter() if "text" in element.tag
    }
    assert {LABELS[key] for key in MECHANISMS} <= texts
    assert {"As in the paper", "Beyond the paper", "Data", "Salary, dollars a year"} <= texts
    assert (tmp_path / "densities.png").read_bytes().startswith(b"\x89PNG")
