"""Choosing pairs: what a record can change, what it costs, and how likely each pick is."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import understudy as us
from summaries import ANSWER, CONFIDENTIAL, PUBLIC
from understudy.inference.allowance import Allowance
from understudy.inference.cells import Cells, Pair
from understudy.inference.contribution import TableContribution
from understudy.mechanisms import Summary, choosing, one_round, table_rounds
from understudy.mechanisms.choosing import PairErrors, choose
from understudy.support.randomness import Source
from understudy.synthesis.preparation import prepare

PURE, NORMAL = Allowance(epsilon=0.3), Allowance(rho=0.02)
NAMES = [f"y{k}" for k in range(13)]


def declared(columns, rows_per_unit=None, size=300):
    table = {"size": size} | ({"rows_per_unit": rows_per_unit} if rows_per_unit else {})
    return us.Schema.from_dict({"table": table, "columns": columns})


THREE = {
    "a": ANSWER,
    "b": CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"], "missing": "model"},
    "c": CONFIDENTIAL | {"type": "continuous", "bounds": [0, 10]},
}
UNIT, WEIGHT = {"role": "unit"}, {"role": "survey-weight", "bounds": [0, 90], "average": 5}
SCHEMAS = {
    "rows": declared(THREE),
    "units": declared(THREE | {"person": UNIT}, 2),
    "weights": declared(THREE | {"v": WEIGHT}),
    "both": declared(THREE | {"person": UNIT, "v": WEIGHT}, 2),
}
MODELS = {name: us.joint(schema) for name, schema in SCHEMAS.items()}
ROW = st.tuples(
    st.integers(0, 1), st.integers(-1, 2), st.floats(0, 10), st.floats(0, 90, allow_subnormal=False)
)


def columns_of(records):
    """Return a coded table; a record is a list of rows."""
    rows = [(*row, person) for person, record in enumerate(records) for row in record]
    a, b, c, v, person = map(np.array, zip(*rows, strict=True)) if rows else [np.empty(0)] * 5
    return {
        "a": a.astype(np.int64),
        "b": b.astype(np.int64),
        "c": c.astype(np.float64),
        "v": v.astype(np.float64),
        "person": person.astype(np.int64),
    }


def errors_of(name, seed):
    """Return the scores of all pairs against predictions that are anything."""
    generator, schema = np.random.default_rng(seed), SCHEMAS[name]
    cells = [
        Cells(schema.column("a")),
        Cells(schema.column("b")),
        Cells(schema.column("c"), (2.0, 6.5), (0.0,)),
    ]
    pairs = {
        (p.column.name, q.column.name): Pair(p, q) for p, q in itertools.combinations(cells, 2)
    }
    groups = {each.column.name: generator.integers(each.count, size=50) for each in cells}
    return PairErrors(schema, pairs, groups, float(generator.uniform(1, 40)), 0.7)


@pytest.mark.parametrize("name", SCHEMAS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_record_moves_no_score_by_more_than_the_sensitivity(name, data):
    """A record is a unit with all its rows where units are declared, and counts by its weight."""
    most = 3 if SCHEMAS[name].unit is not None else 1
    record = st.lists(ROW, min_size=1, max_size=most)
    records = data.draw(st.lists(record, min_size=1, max_size=12))
    seed, place = data.draw(st.integers(0, 99)), data.draw(st.integers(0, len(records) - 1))
    errors, left = errors_of(name, seed), columns_of(records[:place] + records[place + 1 :])
    whole, less = errors.scores(columns_of(records)), errors.scores(left)
    assert whole.dtype == np.int64
    assert np.abs(whole - less).max() <= errors.bound
    if SCHEMAS[name].unit is None:
        moved = errors.moved(errors.surplus(errors.counting(left)), columns_of([records[place]]))
        assert moved.tolist() == [(whole - less).tolist()]


@pytest.mark.parametrize(
    ("name", "most"), [("rows", 1), ("units", 2), ("weights", 2**10), ("both", 2**11)]
)
def test_the_sensitivity_is_what_a_record_counts_and_not_more(name, most):
    """One that is all in a cell where there are too many already moves scores so far."""
    record = [(0, 1, 3.0, 90.0)] * (2 if SCHEMAS[name].unit is not None else 1)
    errors = errors_of(name, 3)
    before, after = (errors.scores(columns_of([record] * times)) for times in (99, 100))
    assert errors.bound == most
    assert (after - before).tolist() == [most] * 3


def test_a_score_is_the_error_less_what_noise_would_cause():
    schema = declared({"a": ANSWER, "b": ANSWER})
    pair = Pair(Cells(schema.column("a")), Cells(schema.column("b")))
    groups = {"a": np.array([0, 0, 1, 1]), "b": np.array([0, 1, 0, 1])}
    columns = {"a": np.zeros(40, dtype=np.int64), "b": np.zeros(40, dtype=np.int64)}
    errors = PairErrors(schema, {("a", "b"): pair}, groups, 40.0, 1.6)
    assert errors.scores(columns).tolist() == [(30 + 10 + 10 + 10) - 6]


@pytest.mark.parametrize("allowance", [PURE, NORMAL, Allowance(epsilon=7.1), Allowance(rho=1e-7)])
@pytest.mark.parametrize("count", [1, 3, 9, 70])
@pytest.mark.parametrize("sensitivity", [1, 5, 2**11])
def test_all_picks_together_cost_no_more_than_allowed(allowance, count, sensitivity):
    """By OpenDP's map, and by the theorems that it implements."""
    scale = choosing._scale(sensitivity, allowance, count)
    each = Fraction(choosing._made(scale, allowance).map(sensitivity))
    hair = 1 + Fraction(1, 10**14)
    assert count * each <= Fraction(allowance.amount) * hair
    assert count * each >= Fraction(allowance.amount) * Fraction(999_999, 10**6)
    epsilon = 2 * sensitivity / scale
    own = epsilon if allowance.rho is None else epsilon**2 / 8
    assert float(each) == pytest.approx(own, rel=1e-9)


SCORES, SCALE = np.array([0, 7, 10, 3, 10]), 4.0


def permute_and_flip(scores, scale):
    """Return how likely each pick is: in a random order, the first whose coin falls so."""
    chances = np.exp((scores - scores.max()) / scale)
    total = np.zeros(len(scores))
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for item in order:
            total[item] += left * chances[item]
            left *= 1 - chances[item]
    return total / len(orders)


def exponential(scores, scale):
    raised = np.exp((scores - scores.max()) / scale)
    return raised / raised.sum()


@pytest.mark.parametrize(
    ("allowance", "expected"), [(PURE, permute_and_flip), (NORMAL, exponential)]
)
@pytest.mark.parametrize(("seed", "times"), [(5, 12_000), (None, 2000)])
def test_picks_are_as_likely_as_the_mechanism_says(allowance, expected, seed, times):
    """Seeded ones as OpenDP's own."""
    source, chances = Source(seed), expected(SCORES, SCALE)
    assert chances.sum() == pytest.approx(1.0)
    picked = [choosing._noisy_max(SCORES, SCALE, allowance, source) for _ in range(times)]
    shares = np.bincount(picked, minlength=len(SCORES)) / times
    assert (np.abs(shares - chances) < 5.5 * np.sqrt(chances * (1 - chances) / times)).all()


@pytest.mark.parametrize(
    ("allowance", "expected"), [(PURE, permute_and_flip), (NORMAL, exponential)]
)
def test_neighbouring_scores_change_no_chance_by_more_than_a_pick_costs(allowance, expected):
    """For pure ε by enumeration: e^ε bounds every ratio. Gumbel noise has the same bound here."""
    sensitivity = 2
    for moved in itertools.product((-sensitivity, 0, sensitivity), repeat=len(SCORES)):
        ratio = expected(SCORES + np.array(moved), SCALE) / expected(SCORES, SCALE)
        assert np.abs(np.log(ratio)).max() <= 2 * sensitivity / SCALE + 1e-12


def made(count, allowance=PURE, seed=4, scores=SCORES):
    pairs = [("a", str(k)) for k in range(len(scores))]
    errors = SimpleNamespace(pairs=pairs, scores_of=lambda counts: scores, bound=1)
    return choose(errors, {}, count, allowance=allowance, source=Source(seed))


@pytest.mark.parametrize("allowance", [PURE, NORMAL])
@pytest.mark.parametrize("seed", [4, None])
def test_no_pair_is_picked_twice(allowance, seed):
    choice = made(5, allowance, seed)
    assert sorted(choice.pairs) == [("a", str(k)) for k in range(5)]
    assert choice.candidates == 5


def test_large_scores_are_picked_first_where_noise_is_small():
    clear = made(3, Allowance(epsilon=1e4), scores=np.array([5, 900, 40, 7000, 1]))
    assert clear.pairs == (("a", "3"), ("a", "1"), ("a", "2"))


@pytest.mark.parametrize(
    ("allowance", "told"),
    [(PURE, ("permute-and-flip", 0.3, None)), (NORMAL, ("gumbel", None, 0.02))],
)
def test_what_is_published_are_the_pairs_and_the_noise_but_no_score(allowance, told):
    listed = made(2, allowance).to_dict()
    assert listed["kind"] == "choice"
    assert (listed["noise"]["distribution"], listed["epsilon"], listed.get("rho")) == told
    assert listed["definition"].keys() == {"score", "candidates"}
    assert all(type(name) is str for pair in listed["noisy"] for name in pair)
    larger = made(2, allowance, scores=SCORES + 1000).to_dict()
    assert larger == listed


def answers(generator, rows=300, **more):
    """Return answers of which the first two are the same."""
    table = pd.DataFrame({n: generator.choice(["no", "yes"], rows) for n in NAMES})
    return table.assign(y1=table["y0"], **more)


MANY = us.joint(declared({name: ANSWER for name in NAMES}))


def planned(delta):
    table = answers(np.random.default_rng(6))
    request = prepare(MANY, table, Summary(epsilon=3.0, delta=delta), seed=2)
    return request.mechanism.plan(request)


@pytest.fixture(scope="module", params=[None, 1e-6])
def listed(request):
    """What is listed of thirteen columns, by either noise, and what was planned."""
    plan = planned(request.param)
    return [each.to_dict() for each in plan.measure().published], plan


def test_stages_and_cost_are_those_of_the_rounds_that_are_listed(listed):
    told, plan = listed
    assert [each["kind"] for each in told] == ["table", *["choice", "table"] * 3]
    assert plan.stages == len(told) == 7
    for adjacency, cost in plan.cost.items():
        if plan.delta is None:
            spent, stated = sum(Fraction(each["epsilon"]) for each in told), cost.epsilon
            spent *= adjacency.steps
            assert stated == 3.0 * adjacency.steps
        else:
            spent, stated = sum(Fraction(each["rho"]) for each in told), cost.rho
            spent *= adjacency.steps**2
        assert spent <= Fraction(repr(stated))
        assert float(spent) == pytest.approx(stated)


def test_scores_allow_for_the_noise_of_a_table_that_shares_its_price_with_others(listed):
    _, plan = listed
    choices, shares = plan.measure().choices, plan._shares[2::2]
    for choice, share in zip(choices, shares, strict=True):
        together = len(choice.pairs) if plan.delta is None else math.sqrt(len(choice.pairs))
        assert choice.errors.noise == pytest.approx(together / share.rate)
        assert choice.epsilon == choice.allowance.epsilon


def test_pairs_that_were_chosen_are_measured_next_and_never_again(listed):
    told, _ = listed
    seen, left = set(), 78
    for choice, table in zip(told[1::2], told[2::2], strict=True):
        pairs = [tuple(part["column"] for part in t["pair"]) for t in table["definition"]["tables"]]
        assert [tuple(pair) for pair in choice["noisy"]] == pairs
        assert not seen & set(pairs)
        assert choice["definition"]["candidates"] == left
        seen, left = seen | set(pairs), left - len(pairs)
    assert len(seen) == 26
    assert ("y0", "y1") in seen


@pytest.mark.slow
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_a_release_lists_them_and_states_what_was_planned(delta):
    table = answers(np.random.default_rng(6))
    release = us.synthesize(MANY, table, Summary(epsilon=3.0, delta=delta), seed=2)
    plan = planned(delta)
    told = [each.to_dict() for each in plan.measure().published]
    assert release.parameters[0]["rounds"] == told
    assert release.guarantee.stages == plan.stages == len(told)
    assert release.guarantee.epsilon == plan.epsilon
    # Columns that nothing is known of together would agree half of the time.
    assert (release.synthetic["y0"] == release.synthetic["y1"]).mean() > 0.75


@pytest.mark.parametrize("name", ["units", "weights", "public"])
def test_plans_agree_with_what_is_measured_of_units_and_weights_too(name):
    more = {
        "units": {"person": UNIT},
        "weights": {"v": WEIGHT},
        "public": {"v": WEIGHT, "g": PUBLIC},
    }[name]
    schema = declared({n: ANSWER for n in NAMES} | more, 2 if name == "units" else None)
    generator = np.random.default_rng(7)
    given = {
        "person": np.arange(300) // 2,
        "v": generator.uniform(1, 9, 300),
        "g": ["a", "b"] * 150,
    }
    table = answers(generator, **{key: given[key] for key in more})
    request = prepare(us.joint(schema), table, Summary(epsilon=1.0), seed=3)
    plan = request.mechanism.plan(request)
    published = plan.measure().published
    assert plan.stages == len(published) == (8 if name == "public" else 7)
    spent = [Fraction(each.to_dict()["epsilon"]) for each in published]
    assert spent == [Fraction(share.amount) for share in plan._shares]
    assert sum(spent) <= 1


def measured(table, seed=5):
    request = prepare(MANY, table, Summary(epsilon=1.0), seed=seed)
    return request.mechanism.plan(request).measure()


TABLES = [
    answers(np.random.default_rng(8)),
    answers(np.random.default_rng(8)).iloc[1:],
    pd.DataFrame({name: ["yes", "no", "yes"] for name in NAMES}),
]


def test_equal_counts_lead_to_the_same_choices_and_rounds_whatever_the_table(monkeypatch):
    """Counts are all that is read: with theirs fixed, scores, choices and all rounds are equal."""

    def fixed(self, columns):
        return np.arange(self.width) * 1000 % 777

    monkeypatch.setattr(TableContribution, "total", fixed)
    listed = [[each.to_dict() for each in measured(table).published] for table in TABLES]
    assert listed[0] == listed[1] == listed[2]


def test_what_is_measured_next_depends_on_what_was_published_alone(monkeypatch):
    """With what is published held fixed, no other table leads to other rounds or predictions."""
    predicted, noise_of = [], one_round.with_noise

    class Watched(PairErrors):
        def scores_of(self, counts):
            predicted[-1].append((sorted(self.pairs), self.size, self.noise, self.pool))
            return super().scores_of(counts)

    def fixed(true, **asked):
        return np.arange(len(true)) * 4000 % 7001, noise_of(np.zeros_like(true), **asked)[1]

    monkeypatch.setattr(table_rounds, "PairErrors", Watched)
    monkeypatch.setattr(one_round, "with_noise", fixed)
    monkeypatch.setattr(choosing, "_noisy_max", lambda values, *rest: len(values) // 3)
    listed = []
    for table in TABLES:
        predicted.append([])
        listed.append([each.to_dict() for each in measured(table).published])
    assert listed[0] == listed[1] == listed[2]
    for other in predicted[1:]:
        for (*told, codes), (*again, rows) in zip(predicted[0], other, strict=True):
            assert told == again
            assert all(np.array_equal(codes[name], rows[name]) for name in codes)
