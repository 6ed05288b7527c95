"""What is said of the application follows from its numbers; the paper's own agree with it."""

from dataclasses import replace

import numpy as np
import pytest

from study_applications import DATA, KEYS, SHIFTS, of_the_paper
from understudy.study.application_claims import (
    BEST,
    SECOND,
    density_distances,
    figure_claims,
    marks,
    ranked,
    table_claims,
)
from understudy.study.application_output import STATISTICS
from understudy.study.paper import TABLE_2


def agreements(claims):
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
        found = {mark: key for key, mark in ranked(statistic, TABLE_2[statistic]).items()}
        assert [found[mark] for mark in (BEST, SECOND) if mark in found] == expected


def test_our_columns_are_marked_where_they_would_stand_among_the_five():
    better = {"anchored-5": {"max_ecdf": 0.01}, "anchored-1": {"max_ecdf": 0.08}}
    protects_nobody = {"unweighted": {"max_ecdf": 0.001}}
    found = marks(of_the_paper(**better, **protects_nobody), "max_ecdf")
    assert found == {
        "weighted": BEST,
        "censor-w": SECOND,
        "summary-5": SECOND,
        "summary-1": SECOND,
        "anchored-5": BEST,
        "anchored-1": SECOND,
        "ph-sqrt": SECOND,
    }


def test_the_paper_s_own_numbers_agree_with_the_paper():
    application = of_the_paper()
    assert agreements(table_claims(application)) == [True] * 4
    assert agreements(figure_claims(application)) == [True] * 2


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


def test_an_anchored_release_that_spends_less_is_told_and_one_that_spends_all_is_not():
    application = of_the_paper()
    assert not any("Anchored was asked" in claim.text for claim in table_claims(application))
    guarantee = application.tables["anchored-5"].guarantee
    guarantee.epsilon = dict.fromkeys(guarantee.epsilon, 4.23)
    said = table_claims(application)[-1].text
    assert said.startswith("Anchored was asked for ε = 5 and spends 4.23")


def test_the_distance_of_densities_is_the_area_between_them_halved():
    apart = density_distances(of_the_paper())
    assert list(sorted(SHIFTS, key=apart.get)) == list(SHIFTS)
    assert all(0 < apart[key] < 1 for key in KEYS)
    application = of_the_paper()
    same = replace(application.tables["weighted"], synthetic=DATA)
    far = replace(application.tables["ph"], synthetic=np.full(100, 499_000.0))
    apart = density_distances(replace(application, tables={"weighted": same, "ph": far}))
    assert apart["weighted"] == 0
    assert apart["ph"] == pytest.approx(1, abs=1e-3)
