"""Checks that must hold, and verdicts on every figure, change with the numbers."""

import re

import pytest

from study_results import changed, outcome_of, outcomes
from understudy.study import illustration, paper
from understudy.study.catalogue import FIGURES
from understudy.study.findings import Agreement
from understudy.study.verdicts import checks, illustrated, verdicts


def test_the_illustration_is_judged_by_its_numbers(curves):
    def outcomes(summary):
        return {finding.agreement for finding in illustrated(summary).findings}

    summary = illustration.summary(curves)
    assert outcomes(summary) == {Agreement.AGREES}
    censored = (summary.given == "table") & (summary.density == illustration.CENSORED)
    plain = summary[(summary.given == "table") & (summary.density == illustration.POSTERIOR)]
    still = summary.copy()
    still.loc[censored, "mean"] = plain["mean"].item()
    assert Agreement.DIFFERS in outcomes(still)


def test_results_like_the_paper_s_pass_every_check(results):
    assert {finding.agreement for finding in checks(results)} == {Agreement.AGREES}


@pytest.mark.parametrize(
    ("change", "where", "about"),
    [
        (
            lambda v: v + 8,
            {"mechanism": "unweighted", "statistic": "lipschitz_bound"},
            "of Unweigh",
        ),
        (
            lambda v: v - 1,
            {"mechanism": "weighted", "statistic": "lipschitz_bound"},
            "of Weighted ",
        ),
        *(
            (
                lambda v: v * 1.07,
                {"mechanism": "censor-uw", "epsilon": epsilon, "statistic": "records"},
                f"Censor_uw censors .* ε = {epsilon:g},",
            )
            for epsilon in paper.EPSILONS
        ),
        (
            lambda v: v * 0.74,
            {"mechanism": "weighted-e", "epsilon": 4.0, "c1": 1.0, "statistic": "records"},
            "truncates .* ε = 4,",
        ),
        (
            lambda v: v * 1.09,
            {"mechanism": "weighted-e", "epsilon": 3.0, "statistic": "records"},
            "truncates .* ε = 3,",
        ),
        (
            lambda v: v + 1e-6,
            {"mechanism": "censor-uw", "epsilon": 3.0, "statistic": "lipschitz_bound"},
            "exceed",
        ),
        (
            lambda v: v + 0.2,
            {"mechanism": "censor-w", "epsilon": 4.0, "c1": 1.0, "statistic": "max_ecdf"},
            "max-ECDF",
        ),
        (
            lambda v: v + 2,
            {"mechanism": "weighted", "c1": 0.8, "statistic": "lipschitz_bound"},
            "downscaling",
        ),
    ],
)
def test_a_check_fails_when_its_numbers_do(frame, change, where, about):
    failed = [
        f for f in checks(changed(frame, change, **where)) if f.agreement is not Agreement.AGREES
    ]
    assert len(failed) == 1
    assert failed[0].agreement is Agreement.DIFFERS
    assert re.search(about, failed[0].text)


def test_every_figure_and_table_has_a_verdict(results):
    judged = verdicts(results)
    assert set(judged) == {*FIGURES, "table-1", "table-supplement"}
    silent = [name for name, verdict in judged.items() if not verdict.findings]
    assert silent == ["mean"]


@pytest.mark.parametrize(
    ("name", "about", "change", "where"),
    [
        (
            "lipschitz",
            "concentrated",
            lambda v: 2.6 + 9 * (v - 2.6),
            {"mechanism": "weighted-e", "epsilon": 5.0, "statistic": "lipschitz_bound"},
        ),
        (
            "lipschitz",
            "passes",
            lambda v: v - 1,
            {"mechanism": "weighted-e", "epsilon": 4.0, "statistic": "lipschitz_bound"},
        ),
        (
            "lipschitz",
            "gather",
            lambda v: v + 0.6,
            {"mechanism": "weighted-e", "epsilon": 3.0, "statistic": "lipschitz_bound"},
        ),
        (
            "lipschitz",
            "stays below",
            lambda v: v * 0 + 2.5,
            {"mechanism": "censor-w", "epsilon": 5.0, "statistic": "lipschitz_bound"},
        ),
        (
            "table-1",
            "counts of Censor_uw",
            lambda v: v * 1.2,
            {"mechanism": "censor-uw", "epsilon": 5.0, "statistic": "records"},
        ),
    ],
)
def test_a_verdict_changes_with_the_numbers(frame, results, name, about, change, where):
    assert outcome_of(results, name, about) is Agreement.AGREES
    after = outcomes(changed(frame, change, **where), name)
    assert Agreement.DIFFERS in after.values()
    assert not any(about in text and o is Agreement.AGREES for text, o in after.items())


def test_a_difference_is_explained_where_a_reason_is_known_and_not_otherwise(frame):
    where = {"epsilon": 5.0, "statistic": "records"}
    far = changed(frame, lambda v: v * 0.1, mechanism="censor-w", **where)
    known = next(f for f in verdicts(far)["table-1"].findings if f.agreement is Agreement.DIFFERS)
    assert "because" in known.sentence
    far = changed(frame, lambda v: v * 2, mechanism="censor-uw", **where)
    unknown = next(f for f in verdicts(far)["table-1"].findings if f.agreement is Agreement.DIFFERS)
    assert unknown.sentence.endswith("no reason is known.")


def test_the_guess_at_the_paper_s_counts_is_judged_too(frame):
    def reason(guess):
        far = changed(frame, lambda v: v * 0.1, mechanism="censor-w", statistic="records")
        far = changed(far.frame, guess, mechanism="censor-w", statistic="records_unweighted")
        return next(f.reason for f in verdicts(far)["table-1"].findings if "of Censor_w" in f.text)

    assert reason(lambda v: v).endswith("which fits")
    assert reason(lambda v: v * 1.5).endswith("is closer, but does not fit")
    assert reason(lambda v: v * 5).endswith("does not fit either")


def test_downscaled_truncation_is_explained_by_the_formula_where_it_holds(frame):
    where = {"mechanism": "weighted-e", "statistic": "records"}
    far = changed(frame, lambda v: v * 0 + 29, c1=0.8, **where)
    finding = verdicts(far)["table-supplement"].findings[0]
    assert finding.agreement is Agreement.DIFFERS
    assert "and so it is here (29.0 and 29.0), but not in the paper (91.0 and 29.0)" in (
        finding.sentence
    )
    elsewhere = verdicts(changed(far.frame, lambda v: v + 9, epsilon=5.0, **where))
    assert "no reason is known" in elsewhere["table-supplement"].findings[0].sentence
