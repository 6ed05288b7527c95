"""What is said about bounds and counts follows from them."""

import pytest

from study_results import changed, outcome_of, outcomes
from understudy.study.findings import Agreement
from understudy.study.verdicts import verdicts


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
