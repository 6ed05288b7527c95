"""The audit of sums reaches what a record may do, finds what it must not, and invents nothing."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import understudy as us
from summaries import ANSWER, BETA, CONFIDENTIAL, LOGISTIC, OUTCOMES, PUBLIC, SHARE, schema_of
from understudy.audit.sums import SumBench, simulated_request
from understudy.errors import BadInput
from understudy.inference.allowance import Allowance
from understudy.inference.contribution import ScoreContribution
from understudy.mechanisms import Summary, choosing, one_round
from understudy.models.record.declared import as_declared
from understudy.privacy.guarantee import Adjacency

SLOW = pytest.mark.slow
BOTH = list(Adjacency)


def audit(mechanism, model=BETA, adjacency="add-remove", n=500):
    return us.audit(mechanism, n=n, adjacency=adjacency, model=model)


@cache
def of_beta(epsilon):
    """The audit that several tests look at; the search takes longer than all of them."""
    return us.audit(Summary(epsilon=epsilon), n=2000, adjacency="add-remove")


@pytest.mark.parametrize("epsilon", [pytest.param(5.0, marks=SLOW), 1.0, 0.1])
def test_on_the_beta_model_the_claim_is_reached_and_not_passed(epsilon):
    found = of_beta(epsilon)
    assert found.claimed == found.target == epsilon
    assert 0.9999 * epsilon < found.largest_log_ratio <= epsilon
    assert not found.exceeds
    assert not found.broken
    assert [each.kind for each in found.rounds] == ["table", "score"]
    assert all(each.longest <= each.bound for each in found.rounds)
    assert "a record with x = " in found.neighbour


def test_an_anchor_leaves_one_round():
    found = audit(Summary(epsilon=1.0, anchor={"phi": 0.2, "lambda": 3.0}))
    assert [each.kind for each in found.rounds] == ["score"]
    assert 0.9999 < found.largest_log_ratio <= 1.0


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_two_records_are_as_far_apart_as_any_of_a_fine_grid(epsilon):
    mechanism = Summary(epsilon=epsilon, adjacency="replace-one")
    bench = bench_of(mechanism, BETA, Adjacency.REPLACE_ONE)
    tiny = 10.0 ** -np.arange(300)
    values = np.unique(np.concatenate([np.linspace(0, 1, 600), tiny, 1 - tiny[:16]]))
    distance = 0.0
    for each in bench.measured:
        vectors = each.contribution.each({"x": values})
        apart = np.abs(vectors[:, None] - vectors[None]).sum(axis=2)
        distance = distance + apart / each.noise.scale
    found = max(bench.log_ratio(pair) for pair in bench.search(np.random.default_rng(0)))
    assert 0.999 * distance.max() < found <= epsilon


def bench_of(mechanism, model, adjacency):
    request = simulated_request(mechanism, as_declared(model), n=500, seed=0)
    return SumBench(request, tuple(mechanism.measures(request)), adjacency)


GAPS = SHARE | {"missing": "model"}
KIND = CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"], "missing": "model"}
HOURS = CONFIDENTIAL | {"type": "count", "bounds": [0, 80]}
MODELS = {
    "joint": lambda: us.joint(schema_of(x=GAPS, k=KIND, h=HOURS, g=PUBLIC)),
    "logistic": lambda: LOGISTIC,
    "mixture": lambda: us.mixture(schema_of(x=SHARE, k=KIND, h=HOURS)),
    **{name: (lambda name=name: OUTCOMES[name][0]) for name in OUTCOMES if name != "beta"},
}


@pytest.mark.parametrize(
    "name", [n if n == "joint" else pytest.param(n, marks=SLOW) for n in MODELS]
)
@pytest.mark.parametrize("adjacency", BOTH)
def test_with_any_model_the_claim_is_nearly_reached_and_not_passed(name, adjacency):
    found = audit(Summary(epsilon=1.0, adjacency=adjacency), MODELS[name](), adjacency)
    least = 0.9999 if adjacency is Adjacency.ADD_REMOVE else 0.7
    assert least < found.largest_log_ratio <= found.claimed == 1.0
    assert not found.exceeds
    assert not found.broken


def test_a_claim_is_stated_under_the_other_adjacency_too():
    found = audit(Summary(epsilon=0.1), adjacency="replace-one")
    assert found.claimed == 0.2
    assert 0.15 < found.largest_log_ratio <= 0.2
    assert found.exceeds
    assert not found.broken


def changed(**methods):
    """Return a summary whose scores have some methods of their own."""
    kind = dataclass(frozen=True, eq=False)(type("Careless", (ScoreContribution,), methods))

    class Careless(Summary):
        def measures(self, request):
            *before, last = super().measures(request)
            own = last.contribution
            made = kind(own.model, own.z, own.directions, own.centre, own.length, own.count)
            return (*before, replace(last, contribution=made))

    return Careless(epsilon=1.0)


def test_a_clip_that_is_off_by_a_factor_is_found():
    def each(self, columns):
        return ScoreContribution.each(self, columns) * 5 // 4

    found = audit(changed(each=each, total=lambda self, columns: self.each(columns).sum(axis=0)))
    assert found.broken
    assert found.exceeds
    table, scores = (each.epsilon for each in found.rounds)
    assert found.largest_log_ratio == pytest.approx(table + scores * 5 / 4, abs=1e-3)
    assert "a record with x = " in found.neighbour


def test_a_clip_that_is_off_by_a_few_units_of_millions_is_found():
    """The noise would hide so little, but the bound that was stated is passed."""
    bound = property(lambda self: self.length - 4)
    found = audit(changed(bound=bound))
    assert found.largest_log_ratio <= found.claimed
    assert [each.passed for each in found.rounds] == [False, True]
    assert found.broken
    assert found.exceeds


@pytest.mark.parametrize("adjacency", BOTH)
def test_noise_of_half_the_scale_is_found(monkeypatch, adjacency):
    right = one_round.with_noise

    def half(true, *, sensitivity, allowance, source):
        twice = Allowance(epsilon=2 * allowance.epsilon)
        return right(true, sensitivity=sensitivity, allowance=twice, source=source)

    monkeypatch.setattr(one_round, "with_noise", half)
    found = audit(Summary(epsilon=0.1, adjacency=adjacency), adjacency=adjacency)
    assert found.claimed == 0.1
    assert found.largest_log_ratio == pytest.approx(0.2, rel=0.2)
    assert found.broken


def in_single_precision(self, columns):
    values = ScoreContribution.each(self, columns).astype(np.float32)
    return np.cumsum(values, axis=0)[-1].astype(np.int64)


def by_chunk(self, columns):
    return ScoreContribution.total(self, columns) + len(columns["x"]) // 2048


@pytest.mark.parametrize("total", [in_single_precision, by_chunk])
def test_a_sum_that_is_not_one_of_contributions_is_found(total):
    found = audit(changed(total=total))
    assert found.broken
    assert found.largest_log_ratio == np.inf
    assert found.to_dict()["largest_log_ratio"] is None
    assert "the sum of round 2 is not that of what its records contribute" in found.neighbour
    with pytest.raises(BadInput, match="nothing to draw"):
        found.figure()


@pytest.mark.parametrize("wrong", [np.iinfo(np.int64).min, 2**60])
def test_a_record_that_contributes_no_number_is_found(wrong):
    """What is not a number turns into the smallest whole one, whose size overflows."""

    def each(self, columns):
        values = ScoreContribution.each(self, columns)
        values[columns["x"] == 1.0, 0] = wrong
        return values

    found = audit(changed(each=each))
    assert found.broken
    assert found.largest_log_ratio == np.inf
    assert "x = 1 " in found.neighbour
    assert "contributes no vector of whole numbers" in found.neighbour


def test_a_delta_is_refused():
    with pytest.raises(BadInput, match="compares pure ε: leave out `delta`"):
        audit(Summary(epsilon=1.0, delta=1e-6))


def test_what_was_measured_of_two_neighbours_is_drawn():
    found = of_beta(1.0)
    assert [curve.parameter.split(":")[0] for curve in found.curves] == ["round 1", "round 2"]
    for curve in found.curves:
        assert np.trapezoid(curve.before, curve.at) == pytest.approx(1, abs=0.01)
        assert np.trapezoid(curve.after, curve.at) == pytest.approx(1, abs=0.01)
        ratio = np.abs(np.log(curve.before / curve.after)).max()
        assert 0 < ratio <= 1
    assert "Density of the noisy sum" in found.figure()


def test_people_with_several_rows_are_refused():
    schema = us.Schema.from_dict(
        {"table": {"rows_per_unit": 3}, "columns": {"who": {"role": "unit"}, "x": SHARE}}
    )
    with pytest.raises(BadInput, match="takes a row for a record"):
        audit(Summary(epsilon=1.0), us.beta(schema))


MANY = us.joint(schema_of(300, **{f"y{k}": ANSWER for k in range(13)}))


def test_choices_of_pairs_are_rounds_too():
    """Together with the sums they account for the whole ε."""
    bench = bench_of(Summary(epsilon=1.0), MANY, Adjacency.ADD_REMOVE)
    kinds = [each.kind for each in bench.published]
    assert kinds == ["table", *["choice", "table"] * 3]
    origin = {name: np.array([k % 2]) for k, name in enumerate(f"y{k}" for k in range(13))}
    shifts = [each.each(origin) for each in bench.published]
    found = [
        each.told_apart(float(each.lengths(shift)[0]))
        for each, shift in zip(bench.published, shifts, strict=True)
    ]
    assert all(each > 0 for each in found)
    assert 0.9 < sum(found) <= 1
    assert sum(each.told_apart(each.bound) for each in bench.published) <= 1


@SLOW
@pytest.mark.parametrize("adjacency", BOTH)
def test_with_chosen_pairs_the_claim_is_reached_and_not_passed(adjacency):
    found = audit(Summary(epsilon=1.0, adjacency=adjacency), MANY, adjacency, n=300)
    assert 0.9999 < found.largest_log_ratio <= found.claimed == 1.0
    assert not found.broken
    assert [each.longest == each.bound for each in found.rounds] == [True] * 7
    assert found.curves[1].parameter.startswith("round 3")


@SLOW
def test_choices_at_half_the_noise_are_found(monkeypatch):
    right = choosing._scale
    monkeypatch.setattr(choosing, "_scale", lambda *asked: right(*asked) / 2)
    found = audit(Summary(epsilon=1.0), MANY, n=300)
    assert [each.passed for each in found.rounds] == [False, *[True, False] * 3]
    assert found.broken
    assert found.largest_log_ratio > 1.05
