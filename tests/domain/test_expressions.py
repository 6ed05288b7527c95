"""The language of rules means what Python means by it, and can do nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rule_columns import CODED, COLUMNS, RECORDS
from understudy.domain.expressions import extent, truth
from understudy.domain.parsing import parse


def by_python(text):
    names = ("a", "b", "c", "job")
    return [eval(text, {}, dict(zip(names, record, strict=True))) for record in RECORDS]


numbers = st.recursive(
    st.sampled_from(["a", "b", "c"]) | st.integers(-9, 9).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        lambda parts: f"({' '.join(parts)})"
    ),
    max_leaves=4,
)
comparisons = st.one_of(
    st.tuples(numbers, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), numbers).map(" ".join),
    st.tuples(numbers, numbers, numbers).map(lambda n: f"{n[0]} <= {n[1]} < {n[2]}"),
    st.tuples(st.sampled_from(["==", "!="]), st.sampled_from(["no", "part"])).map(
        lambda pair: f"job {pair[0]} '{pair[1]}'"
    ),
    st.sampled_from(["job in ('no', 'part')", "a not in [1, 2, -5]", "b in (0, c)"]),
)
truths = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda p: f"({' '.join(p)})"),
        inner.map(lambda part: f"not ({part})"),
    ),
    max_leaves=4,
)


@given(truths)
def test_an_expression_means_what_python_means_by_it(text):
    assert truth(parse(text, COLUMNS), CODED).tolist() == by_python(text)


@given(numbers)
def test_bounds_of_a_number_hold_for_every_record(text):
    node = parse(f"{text} == 0", COLUMNS).left
    low, high = extent(node, COLUMNS)
    assert all(low <= value <= high for value in by_python(text))


def test_sums_of_decimals_forgive_a_rounding_error_and_nothing_else_does():
    cents = {"x": np.array([300.3]), "a": np.array([0.0])}
    assert 100.1 + 200.2 != 300.3
    assert truth(parse("x == 100.1 + 200.2", COLUMNS), cents).all()
    assert truth(parse("x >= 100.1 + 200.2", COLUMNS), cents).all()
    assert not truth(parse("x == 100.1 + 200.201", COLUMNS), cents).any()
    tiny = {"x": np.array([5e-324]), "a": np.array([0.0])}
    assert truth(parse("x > 0", COLUMNS), tiny).all()
    assert not truth(parse("x == 0", COLUMNS), tiny).any()
    assert not truth(parse("a + 1 == 2", COLUMNS), {"a": np.array([1 + 1e-15])}).any()
