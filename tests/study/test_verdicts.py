"""Checks that must hold, and verdicts on every figure, change with the numbers."""

import re

import pytest

from study_results import changed
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
