"""The risk–utility page."""

import html
from xml.etree import ElementTree

import pytest

from offices import calibrated
from outcomes import BASELINE, GRID, SCHEMA, outcome
from understudy.periods.calibration.choice import WantedAccuracy
from understudy.periods.calibration.page import _reverse, cost, frontier, render
from understudy.periods.calibration.run import Calibration
from understudy.periods.policy import Policy
from understudy.privacy.guarantee import Adjacency


def command(workplace, place, kind, *more):
    return [
        "calibrate", str(workplace / "reference.csv"), "--schema", str(workplace / "pay.toml"),
        "--mechanism", "ph", "--epsilon", "1", "--draws", "1",
        "--population", "staff", "-o", str(place / "P.toml"), "--reference-is", kind, *more,
    ]  # fmt: skip


def test_the_page_says_how_many_periods_the_budget_pays_for(workplace, tmp_path):
    given = {"model": None, "mechanisms": ["ph"]}
    found = calibrated(workplace, epsilon=0.3, budget=1.0, draws=1, **given)
    assert found.periods == 3
    text = found.write(tmp_path / "POLICY.toml").read_text()
    assert "A budget of ε = 1 pays for 3 periods" in text
    assert "1 draw each" in text
    assert "± 0" not in text
    command = html.unescape(text)
    assert "--budget 1 --adjacency add-remove --population '<b>staff</b>'" in command


def made(outcomes, chosen, **changes):
    policy = Policy(
        mechanism=chosen.setting.mechanism,
        epsilon=chosen.setting.epsilon,
        adjacency=Adjacency.ADD_REMOVE,
        schema_digest="0" * 64,
        budget=2.0,
        population="staff",
        reference_is="public",
        reference_digest="0" * 64,
    )
    facts = {"policy": policy, "schema": SCHEMA, "reference": None, "chosen": chosen}
    facts |= {"baseline": BASELINE, "outcomes": tuple(outcomes), "target": None}
    return Calibration(**(facts | {"records": 1234, "draws": 1} | changes))


def test_it_says_why_the_setting_was_chosen():
    close = render(made(GRID, GRID[2]), "POLICY.toml")
    assert "at most a quarter further from the reference than those of the same model" in close
    assert "1,234" in close
    far = made(GRID, GRID[1])
    assert "than the closest of all" in render(far, "POLICY.toml")
    aimed = render(made(GRID, GRID[2], target=WantedAccuracy("max_ecdf", 0.06)), "POLICY.toml")
    assert "reaches max_ecdf = 0.06 on average" in aimed
    alone = [each for each in GRID if each.setting.epsilon == 1.0]
    assert "Of the settings with ε = 1" in render(made(alone, alone[0]), "POLICY.toml")


def test_it_tells_the_smallest_epsilon_for_accuracies_that_people_ask_for():
    """0.1 takes ε = 1, 0.03 is reached by none of those tried."""
    rows = {asked: epsilon for asked, epsilon, _ in _reverse(made(GRID, GRID[2]))}
    assert rows["max_ecdf = 0.1"] == rows["max_ecdf = 0.05"] == "1"
    assert rows["max_ecdf = 0.03"] == "none of those tried"


@pytest.mark.parametrize("baseline", [BASELINE, None])
def test_each_mechanism_that_was_drawn_has_a_line_and_the_choice_a_ring(baseline):
    drawn = ElementTree.fromstring(frontier(GRID, baseline, GRID[2]))
    words = {element.text for element in drawn.iter() if element.text}
    assert {"anchored", "ph", "chosen", "ε of each period (logarithmic)"} <= words
    assert {"0.1", "1", "5"} <= words, "the ε that were tried"
    assert "censor-uw" not in words, "its chains did not converge"
    assert ("without privacy" in words) == (baseline is not None)


def test_the_cost_is_told_in_words():
    assert cost(outcome(1.0, 0.024, median=0.012, total_variation=0.1)) == (
        "the median is off by 1.2% on average, the mean by 1%, the share of records up to some "
        "value by 2.4 percentage points where it is worst, the share of some levels by 10 "
        "percentage points where it is worst"
    )
