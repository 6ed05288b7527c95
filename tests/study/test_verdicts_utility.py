"""What is said about distances and statistics follows from them."""

import pytest

from study_results import changed, outcome_of, outcomes
from understudy.study.arms import true_value
from understudy.study.findings import Agreement
from understudy.study.verdicts import verdicts


@pytest.mark.parametrize(
    ("name", "about", "change", "where"),
    [
        (
            "max-ecdf",
            "PH is worse",
            lambda v: v / 10,
            {"mechanism": "ph", "statistic": "max_ecdf"},
        ),
        (
            "max-ecdf",
            "Weighted-e deteriorates",
            lambda v: v / 3,
            {"mechanism": "weighted-e", "epsilon": 3.0, "statistic": "max_ecdf"},
        ),
        (
            "avg-ecdf",
            "lowest median",
            lambda v: v * 9,
            {"mechanism": "censor-w", "epsilon": 3.0, "statistic": "avg_ecdf"},
        ),
        (
            "downscaling-q15",
            "Weighted-e improves",
            lambda v: v + 0.1,
            {"mechanism": "weighted-e", "c1": 0.8, "statistic": "q15"},
        ),
        (
            "median-at-5",
            "Weighted is the closest",
            lambda v: v + 0.1,
            {"mechanism": "weighted", "c1": 1.0, "statistic": "median"},
        ),
        (
            "q90",
            "Censor_uw is farther",
            lambda v: v * 0 + true_value("q90"),
            {"mechanism": "censor-uw", "statistic": "q90"},
        ),
    ],
)
def test_a_verdict_changes_with_the_numbers(frame, results, name, about, change, where):
    assert outcome_of(results, name, about) is Agreement.AGREES
    after = outcomes(changed(frame, change, **where), name)
    assert Agreement.DIFFERS in after.values()
    assert not any(about in text and o is Agreement.AGREES for text, o in after.items())


def test_medians_that_change_places_by_chance_still_rise(frame):
    where = {"mechanism": "censor-w", "epsilon": 5.0, "c1": 1.0, "statistic": "max_ecdf"}
    weighted = frame[(frame.mechanism == "weighted") & (frame.c1 == 1.0)]
    weighted = weighted[weighted.statistic == "max_ecdf"].value.to_numpy()
    near = changed(frame, lambda v: weighted - 1e-4 * (v - v.mean()) / v.std() - 1e-5, **where)
    finding = verdicts(near)["max-ecdf"].findings[0]
    assert finding.agreement is Agreement.AGREES
    assert "the medians rise, up to Monte Carlo error, from Weighted" in finding.text


def test_what_the_paper_does_not_have_is_reported_and_not_judged(results):
    judged = verdicts(results)
    assert judged["mean"].beyond.startswith("The paper has no such figure. Mean distance")
    assert "for Summary. Unweighted, which has no privacy" in judged["avg-ecdf"].beyond
