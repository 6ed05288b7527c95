import math
from pathlib import Path

import pytest

from understudy.errors import BadInput
from understudy.privacy.guarantee import (
    Adjacency,
    Guarantee,
    Kind,
    Weights,
    bound_for,
    check_epsilon,
)


def guarantee(**changes):
    settings = {
        "mechanism": "censor-uw",
        "kind": Kind.STRICT,
        "asked": Adjacency.ADD_REMOVE,
        "epsilon": {Adjacency.ADD_REMOVE: 1.0, Adjacency.REPLACE_ONE: 2.0},
        "draws": 1,
        "weights": Weights.NONE,
        "sampler": "exact",
        "assumptions": ("The sun rises.",),
        "seeded": False,
        "rows": 10,
    }
    return Guarantee(**(settings | changes))


def test_the_paper_s_bound_is_half_of_epsilon_and_replace_one_halves_it_again():
    assert bound_for(epsilon=5.0, adjacency=Adjacency.ADD_REMOVE) == 2.5
    assert bound_for(epsilon=5.0, adjacency=Adjacency.REPLACE_ONE) == 1.25


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e-300, 1e300, "1", None, True])
def test_an_epsilon_that_is_not_a_positive_number_is_refused(epsilon):
    with pytest.raises(BadInput, match="`epsilon` must be a positive"):
        check_epsilon(epsilon)


def test_an_unknown_adjacency_is_refused_with_the_known_ones():
    with pytest.raises(BadInput, match="'add-remove' or 'replace-one'"):
        Adjacency.parse("hamming")


def test_the_file_has_every_key_of_the_contract():
    contents = guarantee().to_dict()
    assert contents["epsilon"] == {"add-remove": 1.0, "replace-one": 2.0}
    assert set(contents) >= {
        "mechanism", "kind", "epsilon", "delta", "draws", "stages", "weights", "sampler",
        "assumptions", "seeded", "charged", "rows",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [Kind.ASYMPTOTIC, Kind.NONE])
def test_only_a_strict_or_conditional_guarantee_states_numbers(kind):
    contents = guarantee(kind=kind, epsilon=None).to_dict()
    assert contents["epsilon"] == {"add-remove": None, "replace-one": None}
    assert contents["delta"] is None
    with pytest.raises(ValueError, match="exactly when it is strict"):
        guarantee(kind=kind)
    with pytest.raises(ValueError, match="exactly when it is strict"):
        guarantee(epsilon=None)


def test_plain_words_state_both_epsilons_their_factors_and_the_missing_ledger():
    text = str(guarantee())
    assert "ε = 1 when one record is added or removed, and ε = 2" in text
    assert "at most 2.72 by taking part, or 7.39 by having other values" in text
    assert "not charged to any ledger" in text
    assert "  - The sun rises." in text


def test_without_protected_membership_the_words_speak_of_values():
    text = guarantee(membership=False).headline
    assert "one record's confidential values are blanked" in text
    assert "added or removed" not in text


def test_with_a_unit_the_words_speak_of_all_its_rows():
    stated = guarantee(unit="pid")
    assert stated.to_dict()["unit"] == "pid"
    assert "ε = 1 when all rows of one 'pid' are added or removed, and ε = 2" in stated.headline
    assert "one 'pid' can have changed its probability" in stated.headline
    blanked = guarantee(unit="pid", membership=False).headline
    assert "when the confidential values in all rows of one 'pid' are blanked" in blanked
    assert guarantee().to_dict()["unit"] is None


def test_a_draw_by_chains_promises_on_condition():
    stated = guarantee(kind=Kind.CONDITIONAL, sampler="nuts")
    assert stated.headline.startswith(
        "ε = 1, provided that the Markov chains have converged. If they have, ε = 1 when one record"
    )
    contents = stated.to_dict()
    assert contents["kind"] == "conditional"
    assert contents["epsilon"] == {"add-remove": 1.0, "replace-one": 2.0}
    assert contents["delta"] is None
    assert "Strict" not in str(stated)
    assert guarantee().delta == 0.0


def test_the_headline_of_a_conditional_guarantee_begins_with_the_epsilon_asked_for():
    stated = {Adjacency.ADD_REMOVE: 0.5, Adjacency.REPLACE_ONE: 1.0}
    asked = guarantee(
        kind=Kind.CONDITIONAL, sampler="nuts", asked=Adjacency.REPLACE_ONE, epsilon=stated
    )
    assert asked.headline.startswith("ε = 1, provided that the Markov chains have converged")


@pytest.mark.parametrize("changes", [{"sampler": "nuts"}, {"accept_poor_mixing": True}])
def test_no_draw_by_chains_can_be_called_strict(changes):
    with pytest.raises(ValueError, match="never strict"):
        guarantee(**changes)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_says_what_it_means(kind):
    stated = None if not kind.states_epsilon else guarantee().epsilon
    assert f"Kind: {kind} ({kind.meaning})" in str(guarantee(kind=kind, epsilon=stated))


def test_a_waived_check_of_convergence_stands_in_front():
    waived = guarantee(kind=Kind.CONDITIONAL, sampler="nuts", accept_poor_mixing=True)
    assert "have converged, WHICH WAS NOT REQUIRED OF THEM. If they have" in waived.headline
    assert waived.to_dict()["convergence_waived"]
    assert waived.delta is None


def test_printed_bounds_are_never_smaller_than_what_they_bound():
    """e^0.2 is 1.2214 and e^14 is 1.2 million; they were printed as 1.22 and 10^6."""
    stated = {Adjacency.ADD_REMOVE: 0.2, Adjacency.REPLACE_ONE: 14.0}
    assert "at most 1.23 by taking part, or 1,210,000 by" in guarantee(epsilon=stated).headline
    stated = {Adjacency.ADD_REMOVE: 1.234564, Adjacency.REPLACE_ONE: 2.469128}
    assert "ε = 1.23457 when" in guarantee(epsilon=stated).headline


def test_plain_words_survive_an_absurd_epsilon():
    stated = {Adjacency.ADD_REMOVE: 5000.0, Adjacency.REPLACE_ONE: 10000.0}
    assert "at most 10^2172 by taking part" in str(guarantee(epsilon=stated))


def test_a_seeded_guarantee_says_that_it_is_not_for_release():
    assert guarantee(seeded=True).headline.startswith("NOT FOR RELEASE")
    assert "NOT FOR RELEASE" not in str(guarantee())


PAGES = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/privacy-promise.md"])
@pytest.mark.parametrize("kind", Kind)
def test_every_page_says_the_same_of_the_four_kinds(page, kind):
    text = " ".join((PAGES / page).read_text(encoding="utf-8").split())
    assert f"`{kind}`" in text
    assert kind.meaning in text


def test_with_a_delta_the_promise_says_what_the_factor_does_not_bound():
    stated = guarantee(delta=1e-6)
    assert stated.to_dict()["delta"] == 1e-6
    assert stated.headline == (
        "Strict (ε, δ)-differential privacy with ε = 1 when one record is added or removed, and "
        "ε = 2 when one record is replaced, both with δ = 1e-06. Whatever is concluded from this "
        "release, one record can have changed its probability by a factor of at most 2.72 by "
        "taking part, or 7.39 by having other values, apart from a remainder of at most 1e-06 that "
        "no factor bounds."
    )


def test_without_one_a_strict_promise_is_pure():
    assert guarantee().delta == 0.0
    assert "δ" not in guarantee().headline


def test_only_a_strict_guarantee_has_a_delta():
    with pytest.raises(ValueError, match="only a strict guarantee"):
        guarantee(kind=Kind.CONDITIONAL, sampler="nuts", delta=1e-6)
