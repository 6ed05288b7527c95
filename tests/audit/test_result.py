"""What is said about what was found."""

import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest

from understudy.audit import Audit, audit
from understudy.mechanisms import CensorUw
from understudy.privacy.guarantee import Adjacency


def found(**changes):
    facts = {
        "mechanism": "censor-uw",
        "adjacency": Adjacency.ADD_REMOVE,
        "target": 1.0,
        "largest_log_ratio": 1.0,
        "claimed": 1.0,
        "n": 200,
        "neighbour": "the record 1 added",
    }
    return Audit(**(facts | changes))


def test_rounding_breaks_no_claim_but_a_leak_does():
    assert not found(largest_log_ratio=1 + 1e-9).broken
    assert found(largest_log_ratio=1.001).broken
    assert found(largest_log_ratio=1.001).exceeds
    assert not found(largest_log_ratio=1.5, claimed=2.0).broken
    assert found(largest_log_ratio=1.5, claimed=2.0).exceeds
    assert not found(largest_log_ratio=1.5, claimed=None).broken


def test_the_json_holds_what_the_contract_says():
    contents = json.loads(json.dumps(found(largest_log_ratio=math.inf).to_dict(), allow_nan=False))
    assert contents["largest_log_ratio"] is None
    assert contents["exceeds"] is True
    contents = found(claimed=None).to_dict()
    assert (
        contents.items()
        >= {
            "mechanism": "censor-uw",
            "adjacency": "add-remove",
            "target": 1.0,
            "largest_log_ratio": 1.0,
            "claimed": None,
            "exceeds": False,
            "n": 200,
            "neighbour": "the record 1 added",
        }.items()
    )


def test_the_text_gives_all_numbers():
    text = str(found(target=3.0, claimed=2.875, largest_log_ratio=2.5, selection_log_ratio=2.25))
    assert all(number in text for number in ("ε = 3", "2.875", "2.5", "2.25", "the record 1 added"))
    assert "No neighbour was found that breaks the claim." in text
    assert "broken" in str(found(largest_log_ratio=2.0))
    assert "more than the ε = 1" in str(found(largest_log_ratio=2.0, claimed=None))
    assert "none is ruled out" in str(found(claimed=None))


def test_both_posteriors_are_drawn():
    seen = audit(CensorUw(epsilon=1.0), n=200, adjacency="add-remove")
    assert [curve.parameter for curve in seen.curves] == ["phi", "lambda"]
    for curve in seen.curves:
        assert np.trapezoid(curve.before, curve.at) == pytest.approx(1, abs=0.05)
        assert np.trapezoid(curve.after, curve.at) == pytest.approx(1, abs=0.05)
    picture = ElementTree.fromstring(seen.figure())
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    words = {element.text for element in picture.iter() if element.text}
    assert {"phi", "lambda", "Table", "Neighbour"} <= words
