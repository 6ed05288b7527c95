"""Section 5 on a small table: every synthesiser, what it really guarantees, and its own seed."""

import numpy as np
import pandas as pd
import pytest

from study_applications import FILES, KEYS, of_the_paper
from understudy.errors import BadInput
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.study.application import LABELS, MECHANISMS, compute, derived_seed, run_application
from understudy.study.application_sample import CPS_FILE

HISTOGRAMS = {key: MECHANISMS[key] for key in ("ph", "ph-sqrt")}
"""What takes no time, because nothing is fitted."""


@pytest.mark.slow
def test_every_synthesiser_makes_one_table_as_large_as_the_data(ran):
    application, _, stages = ran
    assert list(application.tables) == KEYS
    assert {len(table.synthetic) for table in application.tables.values()} == {120}
    finished = [name for name, done in stages if done == 1]
    assert finished == ["Model", *(LABELS[key] for key in MECHANISMS), "Writing"]


@pytest.mark.slow
def test_each_table_states_the_guarantee_that_really_holds(ran):
    guarantees = {key: table.guarantee for key, table in ran[0].tables.items()}
    kinds = {key: guarantee.kind for key, guarantee in guarantees.items()}
    asymptotic = {"weighted", "weighted-e", "censor-w"}
    assert {key for key, kind in kinds.items() if kind is Kind.ASYMPTOTIC} == asymptotic
    assert kinds["unweighted"] is Kind.NONE
    added, replaced = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
    assert guarantees["censor-w"].epsilon is None
    assert guarantees["censor-uw"].epsilon == {added: 5, replaced: 10}
    assert guarantees["ph"].epsilon == {added: 2.5, replaced: 5}
    assert guarantees["ph-sqrt"].epsilon == guarantees["ph"].epsilon
    assert guarantees["summary-5"].epsilon == {added: 5, replaced: 10}
    assert guarantees["summary-1"].epsilon == {added: 1, replaced: 2}
    assert guarantees["anchored-1"].epsilon[added] == pytest.approx(1)
    assert guarantees["anchored-5"].epsilon[added] <= 5


@pytest.mark.slow
def test_the_row_of_epsilons_holds_2_delta_or_what_is_guaranteed(ran):
    for table in list(ran[0].tables.values())[:4]:
        assert table.values["epsilon"] == pytest.approx(2 * table.values["lipschitz_bound"])
    histogram = ran[0].tables["ph"]
    assert histogram.values["lipschitz_bound"] is None
    assert histogram.values["epsilon"] == 5


@pytest.fixture(scope="module")
def histograms(small):
    return compute(small, seed=4, mechanisms=HISTOGRAMS)


def test_histograms_make_tables_as_large_as_the_data_and_state_what_holds(histograms):
    assert list(histograms.tables) == ["ph", "ph-sqrt"]
    for table in histograms.tables.values():
        assert len(table.synthetic) == 120
        assert table.guarantee.kind is Kind.STRICT
        assert table.guarantee.epsilon == {Adjacency.ADD_REMOVE: 2.5, Adjacency.REPLACE_ONE: 5}
        assert table.values["epsilon"] == 5
        assert table.values["lipschitz_bound"] is None
        assert table.values["mean"] == pytest.approx(table.synthetic.mean())


def test_the_statistics_of_the_data_are_those_of_2004(histograms, earnings):
    table = pd.read_csv(earnings / CPS_FILE)
    values = table.loc[table["year"] == 2004, "earnings"]
    assert histograms.data["mean"] == pytest.approx(values.mean())
    assert histograms.data["median"] == pytest.approx(values.median())


def test_a_histogram_depends_on_the_seed_and_its_name_alone(histograms):
    """The slow test below says the same of a synthesiser with a fit."""
    alone = {"ph-sqrt": HISTOGRAMS["ph-sqrt"]}
    expected = histograms.tables["ph-sqrt"].synthetic
    again = compute(histograms.sample, seed=4, mechanisms=alone).tables["ph-sqrt"]
    np.testing.assert_array_equal(again.synthetic, expected)
    elsewhere = compute(histograms.sample, seed=5, mechanisms=alone).tables["ph-sqrt"]
    assert not np.array_equal(elsewhere.synthetic, expected)


@pytest.mark.slow
def test_a_synthesiser_s_table_depends_on_the_seed_and_its_name_alone(ran):
    application = ran[0]
    last = {key: MECHANISMS[key] for key in ("censor-uw", "ph")}
    again = compute(application.sample, seed=4, mechanisms=last)
    for key, one in again.tables.items():
        assert np.array_equal(one.synthetic, application.tables[key].synthetic)
        assert one.values == application.tables[key].values
    elsewhere = compute(application.sample, seed=5, mechanisms={"ph": MECHANISMS["ph"]})
    expected = application.tables["ph"].synthetic
    assert not np.array_equal(elsewhere.tables["ph"].synthetic, expected)


def test_seeds_are_distinct_and_fit_a_seed():
    seeds = {derived_seed(seed, key) for seed in (0, 1, 2**62) for key in KEYS}
    assert len(seeds) == 3 * len(KEYS)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_rows_and_densities_have_the_data_first():
    application = of_the_paper()
    assert list(application.labels) == list(application.row("mean")) == ["data", *KEYS]
    assert application.row("mean")["data"] == 91_019
    assert application.row("max_ecdf")["data"] is None
    at, densities = application.densities
    assert list(densities) == ["data", *KEYS]
    assert np.trapezoid(densities["ph"], at) == pytest.approx(1, abs=1e-2)


def test_the_command_computes_and_writes(tmp_path, monkeypatch):
    monkeypatch.setattr("understudy.study.application.compute", lambda *_, **__: of_the_paper())
    stages = []
    run_application(None, tmp_path, seed=1, progress=lambda *stage: stages.append(stage))
    assert {file.name for file in (tmp_path / "application").iterdir()} == FILES
    assert ("Writing", 1) in stages


def test_a_directory_that_cannot_be_made_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("")
    monkeypatch.setattr(
        "understudy.study.application.compute", lambda *_, **__: pytest.fail("worked")
    )
    with pytest.raises(BadInput, match="cannot be written to"):
        run_application(None, tmp_path / "taken", seed=1)
