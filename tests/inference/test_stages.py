"""What is public of a climb: read from a release, scored as the mechanism scores, or refused."""

import itertools

import numpy as np
import pytest

import understudy as us
from skewed import COLUMN, DATA, MODEL, NEAR, TABLE, N
from understudy.errors import BadInput, Refused
from understudy.inference.stages import TemperedStage, read_stages
from understudy.mechanisms.anchored import Stage
from understudy.mechanisms.ladder import anchored_row
from understudy.mechanisms.reference import Reference
from understudy.samplers.exact import UNIT, summed_scores
from understudy.samplers.proposals import Proposal

STAGE = TemperedStage(0.3, 1.5, Proposal(NEAR, 0.2 * np.eye(2)), 2048, NEAR + 0.1)


@pytest.fixture(scope="module")
def published():
    return us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0), seed=1).parameters[0]


def test_a_stage_scores_records_as_the_mechanism_does():
    z = STAGE.proposal.draw(np.random.default_rng(0), 70)
    row = anchored_row(MODEL, NEAR, DATA, Stage(0.3, 1.5))
    ours = STAGE.scores(MODEL, {name: np.asarray(values) for name, values in DATA.items()}, z)
    assert ours.shape == (70, N)
    theirs = summed_scores(MODEL, z, DATA, row) / UNIT
    np.testing.assert_allclose(ours.sum(axis=1), theirs, atol=N / UNIT)


def test_what_is_written_is_read_again():
    again = TemperedStage.from_dict(STAGE.to_dict())
    assert again.to_dict() == STAGE.to_dict()


def test_a_release_says_all_of_its_climb(published):
    """Each draw is the next anchor, and the last one is the θ that is published."""
    stages, mechanism = read_stages(published, MODEL), us.Anchored(epsilon=1.0)
    ladder = mechanism.ladder(size=N, dimension=2)
    assert [(s.alpha, s.threshold) for s in stages] == [(s.alpha, s.threshold) for s in ladder]
    for before, after in itertools.pairwise(stages):
        np.testing.assert_array_equal(after.proposal.centre, before.drawn)
    theta = MODEL.unconstrain(published["parameters"])
    np.testing.assert_allclose(stages[-1].drawn, theta, atol=1e-9)
    assert published["size"] == N


def test_a_release_that_does_not_say_is_refused(published):
    with pytest.raises(Refused, match="does not say from what"):
        read_stages({k: v for k, v in published.items() if k != "ladder"}, MODEL)


@pytest.mark.parametrize(
    "change",
    [
        lambda stage: stage.pop("alpha"),
        lambda stage: stage.update(alpha=-1.0),
        lambda stage: stage.update(drawn=[0.0]),
        lambda stage: stage.update(root=[[1.0, 0.0]]),
        lambda stage: stage.update(anchor=[0.0, float("nan")]),
        lambda stage: stage.update(root=[[1.0, 0.0], [0.0, 0.0]]),
        lambda stage: stage.update(candidates="many"),
        lambda stage: stage.update(candidates=float("inf")),
    ],
)
def test_a_damaged_file_is_refused(change):
    stage = STAGE.to_dict()
    change(stage)
    with pytest.raises(BadInput, match="damaged"):
        read_stages({"ladder": [stage]}, MODEL)


@pytest.mark.parametrize(
    "ladder", [[], None, "tall", [STAGE.to_dict()] * 31, [STAGE.to_dict() | {"drawn": "here"}]]
)
def test_a_ladder_that_is_none_is_refused(ladder):
    with pytest.raises(BadInput, match="damaged"):
        read_stages({"ladder": ladder}, MODEL)


@pytest.mark.parametrize("other", [{"threshold": 0.5}, {"candidates": 10}, {"candidates": 10**12}])
def test_what_was_not_tried_is_refused(other):
    with pytest.raises(Refused, match="found to be right"):
        read_stages({"ladder": [STAGE.to_dict() | other]}, MODEL)


def test_more_parameters_than_were_tried_are_refused():
    numbers = {name: COLUMN | {"role": "public"} for name in "abcd"}
    schema = us.Schema.from_dict({"table": {"size": N}, "columns": {"x": COLUMN, **numbers}})
    model = us.formula("x ~ a + b + c + d", family="beta", schema=schema)
    with pytest.raises(Refused, match="up to 5 parameters, and this model has 6"):
        read_stages({"ladder": []}, model)


def test_units_of_several_rows_are_refused():
    unit = {"person": {"role": "unit"}}
    schema = us.Schema.from_dict(
        {"table": {"size": N, "rows_per_unit": 3}, "columns": {"x": COLUMN, **unit}}
    )
    with pytest.raises(Refused, match="'person' hang together"):
        read_stages({"ladder": []}, us.beta(schema))


@pytest.mark.parametrize(("origin", "told"), [("confidential", False), ("public", True)])
def test_nothing_is_told_of_an_anchor_from_a_confidential_reference(origin, told):
    learned = Reference(None, (0.0, 1.0), {"phi": 0.2, "lambda": 3.0}, origin)
    mechanism = us.Anchored(epsilon=1.0, reference=learned)
    contents = us.synthesize(MODEL, TABLE, mechanism, seed=1).parameters[0]
    assert ("ladder" in contents) is told


@pytest.mark.slow
def test_nothing_is_told_of_a_climb_by_chains():
    mechanism = us.Anchored(epsilon=1.0)
    contents = us.synthesize(MODEL, TABLE, mechanism, sampler="nuts", seed=1).parameters[0]
    assert "ladder" not in contents
