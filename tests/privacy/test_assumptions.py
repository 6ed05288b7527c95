"""Sentences for whoever relies on a guarantee, which follow from what was asked for alone."""

import pytest

from understudy.privacy import assumptions
from understudy.privacy.guarantee import Kind


@pytest.mark.parametrize("draws", [1, 3])
@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("kind", [Kind.CONDITIONAL, Kind.ASYMPTOTIC])
def test_chains_rest_on_convergence_only_where_an_epsilon_does(kind, draws, accepted):
    told = " ".join(assumptions.chains(kind, draws, accept_poor_mixing=accepted))
    assert ("have converged" in told) == (kind is Kind.CONDITIONAL)
    assert ("the 3 draws are" in told) == (kind is Kind.CONDITIONAL and draws == 3)
    assert ("was accepted in advance" in told) == accepted
    assert ("whether one was refused depends on the confidential table" in told) != accepted


def test_whom_the_guarantee_is_about_is_a_person_a_column_or_a_row():
    assert "'person', with all its rows" in assumptions.protected("person", row_is_unit=False)
    assert "protected k times less" in assumptions.protected(None, row_is_unit=True)
    assert "at most one record" in assumptions.protected(None, row_is_unit=False)


def test_copied_columns_leave_membership_unprotected_whoever_it_is_about():
    for unit, whose in (
        (None, "one record's confidential"),
        ("person", "all rows of one 'person'"),
    ):
        told = assumptions.copied_predictors(unit)
        assert "membership is not protected" in told
        assert whose in told


def test_every_sentence_is_one_that_can_be_published_as_it_is():
    said = [*assumptions.ORIGINS.values(), *assumptions.CALIBRATED_ON.values()]
    said += [assumptions.ADDS_UP, assumptions.SETTINGS, assumptions.MODEL, assumptions.TRUE_SIZE]
    said += [assumptions.MEASURED_ONCE, assumptions.PUBLIC_FILES, assumptions.survey_weights("w")]
    for sentence in said:
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert "--" not in sentence
