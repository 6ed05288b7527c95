"""Section 5, run once on a small table, and judged on numbers whose verdict is known."""

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.study import application_sample
from understudy.study.application import (
    BEYOND,
    PAPER,
    Application,
    MeasuredTable,
    compute,
    derived_seed,
    run_application,
)
from understudy.study.application_claims import (
    BEST,
    SECOND,
    density_distances,
    figure_claims,
    marks,
    paper_marks,
    paper_values,
    table_claims,
)
from understudy.study.application_output import (
    STATISTICS,
    as_text,
    render_section,
    write_application,
)
from understudy.study.application_sample import CPS_FILE, Sample, load_sample
from understudy.study.paper import TABLE_2

FILES = {"results.json", "table-2.csv", "densities.svg", "densities.png", "section.html"}
KEYS = [each.key for each in (*PAPER, *BEYOND)]


@pytest.fixture(scope="module")
def earnings(tmp_path_factory):
    """A directory with a small, invented table in the place of the Current Population Survey."""
    generator = np.random.default_rng(8)
    n = 150
    table = pd.DataFrame(
        {
            "year": ["2004"] * (n - 30) + ["1992"] * 30,
            "earnings": np.round(100 * generator.beta(2, 8, n), 2),
            "degree": generator.choice(["bachelor", "highschool"], n),
            "gender": generator.choice(["male", "female"], n),
            "age": generator.integers(25, 35, n),
        }
    )
    folder = tmp_path_factory.mktemp("data")
    table.to_csv(folder / CPS_FILE, index=False)
    return folder


@pytest.fixture(scope="module")
def ran(earnings, tmp_path_factory):
    """The whole command on that table: what it returns, and where it wrote."""
    out = tmp_path_factory.mktemp("out")
    stages = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(application_sample.DATA_DIRECTORY, str(earnings))
        # Three parameters instead of five: exact draws then take an eighth of the candidates.
        patch.setattr(application_sample, "CPS_FORMULA", "earnings ~ gender")
        application = run_application(
            "cps", out, seed=4, progress=lambda name, done: stages.append((name, done))
        )
    return application, out / "application", stages


# The whole command, on a small table.


def test_every_synthesiser_makes_one_table_as_large_as_the_data(ran):
    application, _, stages = ran
    assert [outcome.key for outcome in application.outcomes] == KEYS
    assert {len(outcome.synthetic) for outcome in application.outcomes} == {120}
    finished = [name for name, done in stages if done == 1]
    assert finished == ["Model", *(each.label for each in (*PAPER, *BEYOND)), "Writing"]


def test_each_outcome_states_the_guarantee_that_really_holds(ran):
    found = {outcome.key: outcome for outcome in ran[0].outcomes}
    kinds = {key: outcome.kind for key, outcome in found.items()}
    asymptotic = {"weighted", "weighted-e", "censor-w"}
    assert {key for key, kind in kinds.items() if kind is Kind.ASYMPTOTIC} == asymptotic
    assert kinds["unweighted"] is Kind.NONE
    added, replaced = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
    assert found["censor-w"].guaranteed is None
    assert found["censor-uw"].guaranteed == {added: 5, replaced: 10}
    assert found["ph"].guaranteed == {added: 2.5, replaced: 5}
    assert found["ph-sqrt"].guaranteed == found["ph"].guaranteed
    assert found["anchored-1"].guaranteed[added] == pytest.approx(1)
    assert found["anchored-5"].guaranteed[added] <= 5


def test_the_row_of_epsilons_holds_2_delta_or_what_is_guaranteed(ran):
    for outcome in ran[0].paper[:4]:
        assert outcome.values["epsilon"] == pytest.approx(2 * outcome.values["lipschitz_bound"])
    histogram = ran[0].paper[4]
    assert histogram.values["lipschitz_bound"] is None
    assert histogram.values["epsilon"] == 5


def test_the_statistics_of_the_data_are_those_of_2004(ran, earnings):
    table = pd.read_csv(earnings / CPS_FILE)
    values = table.loc[table["year"] == 2004, "earnings"]
    assert ran[0].data["mean"] == pytest.approx(values.mean())
    assert ran[0].data["median"] == pytest.approx(values.median())


def test_a_synthesiser_s_table_depends_on_the_seed_and_its_name_alone(ran):
    application = ran[0]
    again = compute(application.sample, seed=4, paper=PAPER[3:], beyond=())
    for one, other in zip(again.paper, application.paper[3:], strict=True):
        assert np.array_equal(one.synthetic, other.synthetic)
        assert one.values == other.values
    elsewhere = compute(application.sample, seed=5, paper=PAPER[4:], beyond=())
    assert not np.array_equal(elsewhere.paper[0].synthetic, application.paper[4].synthetic)


def test_seeds_are_distinct_and_fit_a_seed():
    seeds = {derived_seed(seed, key) for seed in (0, 1, 2**62) for key in KEYS}
    assert len(seeds) == 3 * len(KEYS)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_all_files_are_written_and_hold_the_same_numbers(ran):
    application, folder, _ = ran
    assert {file.name for file in folder.iterdir()} == FILES
    results = json.loads((folder / "results.json").read_text())
    assert results["records"] == 120
    assert len(results["rows"]) == (1 + len(KEYS)) * len(STATISTICS)
    by_place = {(row["synthesiser"], row["statistic"]): row["value"] for row in results["rows"]}
    with (folder / "table-2.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["", "Data", *(outcome.label for outcome in application.outcomes)]
    assert [row[0] for row in rows] == list(STATISTICS.values())
    for row, statistic in zip(rows, STATISTICS, strict=True):
        for key, text in zip(["data", *KEYS], row[1:], strict=True):
            value = by_place[key, statistic]
            assert text == "NA" if value is None else abs(float(text) - value) <= 0.0051


def test_other_data_never_stand_beside_the_paper_s_numbers(ran):
    application, folder, _ = ran
    results = json.loads((folder / "results.json").read_text())
    assert {row["paper"] for row in results["rows"]} == {None}
    section = (folder / "section.html").read_text()
    assert "other data than the paper's" in section.replace("&#39;", "'")
    assert "91,019" not in section
    assert "other data than the paper's" in " ".join(as_text(application, folder).split())


# Numbers whose verdict is known: the paper's own.

DATA = np.random.default_rng(1).beta(4, 16, 1500) * 5e5
SHIFTS = {"censor-w": 1e3, "weighted": 4e3, "weighted-e": 8e3, "censor-uw": 16e3, "ph": 60e3}
"""Shifted by these, the data's density moves away in the order that the paper sees in its plot."""


def survey(**changes):
    schema = Schema.from_dict(
        {"columns": {"salary": {"role": "confidential", "type": "continuous", "bounds": [0, 5e5]}}}
    )
    sample = Sample(
        source="a table <b>",
        statement="What it is & whether it may be shown.",
        size="It has 1500 records; the paper has 1601.",
        table=pd.DataFrame({"salary": DATA}),
        schema=schema,
        formula="salary ~ 1",
        unit="dollars a year",
        comparable=True,
    )
    return replace(sample, **changes)


def outcome(synthesiser, values):
    mechanism = synthesiser.mechanism
    strict = mechanism.kind is Kind.STRICT
    return MeasuredTable(
        key=synthesiser.key,
        label=synthesiser.label,
        kind=mechanism.kind,
        asked=mechanism.adjacency,
        guaranteed=dict.fromkeys(Adjacency, 5.0) if strict else None,
        values=values,
        synthetic=np.clip(DATA + SHIFTS.get(synthesiser.key, 5e3), 0, 5e5),
    )


def of_the_paper(**changes):
    """Return the application with the paper's numbers, some of them changed by `key=row`."""
    beyond = {statistic: row["censor-w"] for statistic, row in PRINTED.items()}
    return Application(
        sample=survey(),
        seed=3,
        data={s: PRINTED[s]["data"] for s in ("mean", "median", "q15", "q90")},
        paper=tuple(
            outcome(
                each, {s: row[each.key] for s, row in PRINTED.items()} | changes.get(each.key, {})
            )
            for each in PAPER
        ),
        beyond=tuple(outcome(each, beyond | changes.get(each.key, {})) for each in BEYOND),
    )


PRINTED = {statistic: paper_values(statistic) for statistic in TABLE_2}


def verdicts(claims):
    return [claim.agrees for claim in claims if claim.agrees is not None]


def test_the_paper_s_bold_and_underlined_numbers_are_found_again():
    best_and_second = {
        "lipschitz_bound": [],
        "epsilon": [],
        "max_ecdf": ["weighted", "censor-w"],
        "avg_ecdf": ["weighted", "weighted-e"],
        "mean": ["weighted-e", "weighted"],
        "median": ["weighted", "weighted-e"],
        "q15": ["weighted", "censor-w"],
        "q90": ["weighted-e", "censor-w"],
    }
    assert list(best_and_second) == list(TABLE_2) == list(STATISTICS)
    for statistic, expected in best_and_second.items():
        found = {mark: key for key, mark in paper_marks(statistic).items()}
        assert [found[mark] for mark in (BEST, SECOND) if mark in found] == expected


def test_our_columns_are_marked_where_they_would_stand_among_the_five():
    better = {"anchored-5": {"max_ecdf": 0.01}, "anchored-1": {"max_ecdf": 0.08}}
    protects_nobody = {"unweighted": {"max_ecdf": 0.001}}
    found = marks(of_the_paper(**better, **protects_nobody), "max_ecdf")
    assert found == {
        "weighted": BEST,
        "censor-w": SECOND,
        "anchored-5": BEST,
        "anchored-1": SECOND,
        "ph-sqrt": SECOND,
    }


def test_the_paper_s_own_numbers_agree_with_the_paper():
    application = of_the_paper()
    assert verdicts(table_claims(application)) == [True] * 4
    assert verdicts(figure_claims(application)) == [True] * 2


@pytest.mark.parametrize(
    ("place", "changes", "words"),
    [
        (0, {"censor-uw": {"lipschitz_bound": 2.4}}, "no record reaches"),
        (1, {"weighted": {"epsilon": 4.9}}, "one of them above"),
        (1, {"weighted": {"epsilon": 4.9}, "weighted-e": {"epsilon": 4.8}}, "both within"),
        (2, {"censor-w": {"avg_ecdf": 0.0001}}, "is Censor_w, Weighted, Weighted-e, Censor_uw"),
        (3, {"ph": {"avg_ecdf": 0.0001}}, "is Censor_uw; in the paper it is PH"),
    ],
)
def test_numbers_that_differ_are_said_to_differ(place, changes, words):
    claim = table_claims(of_the_paper(**changes))[place]
    assert claim.agrees is False
    assert words in claim.text


def test_what_is_said_about_the_posterior_follows_from_its_distance():
    worse = of_the_paper(unweighted={"max_ecdf": 0.11})
    assert "Weighted, Weighted-e and Censor_w are closer to the data" in table_claims(worse)[4].text
    better = of_the_paper(unweighted={"max_ecdf": 0.01})
    assert "closer to the data than any of the four" in table_claims(better)[4].text


def test_the_distance_of_densities_is_the_area_between_them_halved():
    apart = density_distances(of_the_paper())
    assert list(sorted(SHIFTS, key=apart.get)) == list(SHIFTS)
    assert all(0 < apart[key] < 1 for key in KEYS)
    application = of_the_paper()
    same = replace(application.paper[0], synthetic=DATA)
    far = replace(application.paper[4], synthetic=np.full(100, 499_000.0))
    apart = density_distances(replace(application, paper=(same, far)))
    assert apart["weighted"] == 0
    assert apart["ph"] == pytest.approx(1, abs=1e-3)


# The files.


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
    assert ["†" in cell for cell in epsilons] == [False, True, True, True, *[False] * 5, True]


def test_files_are_the_same_byte_for_byte_and_leave_nothing_behind(tmp_path):
    contents = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_application(of_the_paper(), tmp_path / name)
        contents.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]
    assert contents[0].keys() == FILES


def test_the_picture_names_every_curve_in_text(tmp_path):
    write_application(of_the_paper(), tmp_path)
    picture = ElementTree.parse(tmp_path / "densities.svg")
    texts = {
        "".join(element.itertext()).strip() for element in picture.iter() if "text" in element.tag
    }
    assert {each.label for each in (*PAPER, *BEYOND)} <= texts
    assert {"As in the paper", "Beyond the paper", "Data", "Salary, dollars a year"} <= texts
    assert (tmp_path / "densities.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_holds_the_paper_s_numbers_after_ours(tmp_path):
    write_application(of_the_paper(weighted={"mean": 123_456.7}), tmp_path)
    with (tmp_path / "table-2.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    mean = next(row for row in rows if row[""] == "Mean")
    assert mean["Weighted (aDP)"] == "123457"
    assert mean["Weighted (aDP), paper"] == "92994"
    assert mean["Data, paper"] == "91019"


# Which data.


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


def test_a_directory_that_cannot_be_made_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("")
    monkeypatch.setattr(
        "understudy.study.application.compute", lambda *_, **__: pytest.fail("worked")
    )
    with pytest.raises(BadInput, match="cannot be written to"):
        run_application(None, tmp_path / "taken", seed=1)
