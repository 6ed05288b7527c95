"""Every synthesiser that has a label has a mechanism, at the settings asked for."""

from understudy.mechanisms import Mechanism
from understudy.privacy.guarantee import Adjacency
from understudy.study import synthesisers
from understudy.study.arms import LABELS, OURS
from understudy.study.synthesisers import promises


def test_every_label_but_that_of_the_data_has_a_mechanism():
    assert {*synthesisers.bayesian(4.0), *synthesisers.others(4.0)} == {*LABELS} - {"data"}


def test_settings_reach_the_mechanisms():
    for name, mechanism in synthesisers.bayesian(4.0, 0.8).items():
        assert isinstance(mechanism, Mechanism)
        assert mechanism.name == name
        assert getattr(mechanism, "epsilon", 4.0) == 4.0
        assert getattr(mechanism, "c1", 0.8) == 0.8
    others = synthesisers.others(3.0)
    assert {mechanism.epsilon for mechanism in others.values()} == {3.0}
    # With a Laplace scale of 2/ε, as in the paper, a replaced record costs ε.
    assert {others[name].adjacency for name in ("ph", "ph-sqrt")} == {Adjacency.REPLACE_ONE}


def test_the_page_s_guarantees_are_those_of_the_theorem():
    rows = {row["label"]: row for row in promises()}
    assert (rows["Censor_w"]["said"], rows["Censor_w"]["kind"]) == ("DP", "asymptotic")
    assert (rows["Censor_uw"]["added"], rows["Censor_uw"]["replaced"]) == ("ε", "2ε")
    assert rows["Censor_uw"]["kind"] == "conditional"
    assert (rows["PH"]["added"], rows["PH"]["replaced"]) == ("ε/2", "ε")
    for name in ("Anchored, history", "Anchored, ladder", "Summary"):
        row = rows[name]
        assert (row["kind"], row["added"], row["replaced"]) == ("strict", "ε", "2ε")
    assert {row["label"] for row in rows.values() if row["beyond"]} == {
        label.removesuffix(" (DP)") for label in OURS.values()
    }
