"""What is learned from another table: weights of any record, and an anchor."""

import pickle

import numpy as np
import pytest

import understudy as us
from skewed import DATA, MODEL, TABLE, VALUES
from understudy.synthesis.preparation import prepare
from understudy.synthesis.promise import promise


def test_weights_are_a_function_of_the_record_alone(learned):
    mechanism = us.CensorW(epsilon=3.0, reference=learned)
    together = np.asarray(mechanism.alpha(learned.risk(MODEL, DATA)))
    for k in (0, 7, 1999):
        alone = MODEL.prepare({"x": VALUES[k : k + 1]})
        weight = np.asarray(mechanism.alpha(learned.risk(MODEL, alone)))
        assert weight[0] == pytest.approx(together[k], abs=1e-12)
    assert 0 <= together.min() < together.max() <= 1


def test_an_anchored_draw_starts_at_the_reference(learned):
    mechanism = us.Anchored(epsilon=1.0, reference=learned)
    assert mechanism.start == learned.theta
    release = us.synthesize(MODEL, TABLE, mechanism, seed=1)
    assert release.guarantee.stages == 1
    assert any("reference" in s for s in release.guarantee.assumptions)


def test_an_earlier_release_can_stand_in(tmp_path):
    first = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0))
    file = first.write(tmp_path / "out") / "public/parameters.json"
    learned = us.reference(MODEL, file, confidential=False)
    assert learned.theta == us.read_anchor(file, MODEL)
    assert learned.extent[0] < learned.extent[1]
    second = us.synthesize(
        MODEL, TABLE, us.Anchored(epsilon=1.0, anchor=us.read_anchor(file, MODEL)), seed=2
    )
    assert second.guarantee.stages == 1
    assert any("its ε adds to this one" in s for s in second.guarantee.assumptions)
    weighted = us.CensorW(epsilon=1.0, reference=learned)
    third = promise(weighted.plan(prepare(MODEL, TABLE, weighted)), None)
    assert any("its ε adds to this one" in s for s in third.assumptions)


def test_what_was_learned_from_a_confidential_reference_is_not_shown(learned):
    shown = [repr(learned), repr(us.Anchored(epsilon=1.0, reference=learned))]
    shown.append(repr(us.CensorW(epsilon=1.0, reference=learned)))
    for text in shown:
        assert "confidential" in text
        for number in (*learned.extent, learned.theta["phi"]):
            assert f"{number:.4g}" not in text
    with pytest.raises(TypeError, match="confidential"):
        pickle.dumps(learned)
