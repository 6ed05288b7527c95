"""The table of guarantees is that of the theorem."""

from understudy.study.arms import OURS
from understudy.study.promises import promises


def test_the_page_s_guarantees_are_those_of_the_theorem():
    rows = {row.label: row for row in promises()}
    assert (rows["Censor_w"].said, rows["Censor_w"].kind) == ("DP", "asymptotic")
    assert (rows["Censor_uw"].added, rows["Censor_uw"].replaced) == ("ε", "2ε")
    assert rows["Censor_uw"].kind == "conditional"
    assert (rows["PH"].added, rows["PH"].replaced) == ("ε/2", "ε")
    for name in ("Anchored, history", "Anchored, ladder"):
        assert (rows[name].kind, rows[name].added, rows[name].replaced) == ("strict", "ε", "2ε")
    assert {row.label for row in rows.values() if row.beyond} == {
        label.removesuffix(" (DP)") for label in OURS.values()
    }
