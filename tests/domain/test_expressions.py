"""The language of rules means what Python means by it, and can do nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rule_columns import CODED, COLUMNS, RECORDS
from understudy.domain.expressions import extent, named, truth
from understudy.domain.parsing import LONGEST, parse
from understudy.errors import BadInput


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


def test_a_column_whose_name_is_no_word_is_written_in_backticks():
    node = parse("`hours worked` <= 40", COLUMNS)
    assert list(named(node)) == ["hours worked"]
    assert truth(node, {"hours worked": np.array([39.0, 41.0])}).tolist() == [True, False]


def test_levels_may_be_written_as_whole_numbers_like_in_a_schema():
    for text in ("ill == 1", "ill == '1'", "1 == ill", "ill in (1,)", "not ill != 1"):
        assert truth(parse(text, COLUMNS), {"ill": np.array([0, 1])}).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (3, "must be text"),
        ("", "cannot be read|can be read"),
        ("a ==", "can be read"),
        ("a == 1; b", "can be read"),
        ("a == 1\nimport os", "can be read"),
        ("a", "are understood"),
        ("a + b", "are understood"),
        ("__import__('os').system('true') == 0", "are understood"),
        ("a.real == 0", "are understood"),
        ("a[0] == 0", "are understood"),
        ("abs(a) == 0", "are understood"),
        ("a ** 9 == 0", "are understood"),
        ("a / b == 0", "are understood"),
        ("(lambda: 0)() == a", "are understood"),
        ("[a for a in b] == 1", "are understood"),
        ("f'{a}' == 1", "are understood"),
        ("(a := 3) == 3", "are understood"),
        ("True", "are understood"),
        ("a == True", "are understood"),
        ("a == None", "are understood"),
        ("a == 1j", "are understood"),
        ("a is 1", "compares with 'is'"),
        ("a == 'no'", "numbers with text"),
        ("wages == 1", "no column 'wages'"),
        ("jobs == 'no'", "did you mean 'job'"),
        ("pid == 1", "has the role 'ignore'"),
        ("job == 'none'", "no level 'none'"),
        ("job == 'ful'", "did you mean 'full'"),
        ("job < 'no'", "have no order"),
        ("job == a", "one of its levels"),
        ("job + 1 == 2", "has levels"),
        ("job in 'no'", "after 'in'"),
        ("a in ()", "after 'in'"),
        ("a in b", "after 'in'"),
        (f"a == 1{'0' * 400}", "too large"),
        ("a == 1e999", "too large"),
        ("x * 1e200 * 1e200 == 1", "too large"),
        ("a == " + "1 + " * LONGEST + "1", f"longer than {LONGEST}"),
        ("a == '\\d'", "numbers with text"),
        ("a == \x00", "can be read"),
    ],
)
def test_whatever_else_is_refused_with_a_reason(text, reason):
    with pytest.raises(BadInput, match=reason):
        parse(text, COLUMNS)


@pytest.mark.parametrize(
    "text", ["-" * 400 + "a == 1", "(" * 180 + "a" + ")" * 180 + " == 1", "not " * 120 + "a == 1"]
)
def test_deep_expressions_are_read_or_refused_and_exhaust_nothing(text):
    try:
        node = parse(text, COLUMNS)
    except BadInput:
        return
    rows = len(next(iter(CODED.values())))
    assert truth(node, CODED).shape == (rows,)
