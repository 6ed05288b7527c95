"""A declaration that contradicts itself is refused."""

import pytest

from schemas import LAYOUT, changed, refusal
from understudy.domain.schema import Schema
from understudy.errors import BadInput


@pytest.mark.parametrize(
    ("column", "keys", "said"),
    [
        ("salary", {"bounds": [1, 0]}, "reversed"),
        ("salary", {"bounds": [1, 1]}, "equal"),
        ("salary", {"bounds": [0, float("inf")]}, "finite"),
        ("salary", {"bounds": [float("nan"), 1]}, "finite"),
        ("salary", {"bounds": [-1.7e308, 1.7e308]}, "finite"),
        ("salary", {"bounds": [0, 10**400]}, "too large"),
        ("salary", {"bounds": [0]}, "two numbers"),
        ("salary", {"bounds": [0, 1, 2]}, "two numbers"),
        ("salary", {"bounds": 3}, "two numbers"),
        ("salary", {"bounds": ["0", "1"]}, "two numbers"),
        ("salary", {"bounds": [False, True]}, "two numbers"),
        ("salary", {"levels": ["a", "b"]}, "remove its levels"),
        ("salary", {"outside": "ignore"}, "'refuse' or 'clamp'"),
        ("salary", {"outside": 3}, "'refuse' or 'clamp'"),
        ("salary", {"missing": "drop"}, "must be 'refuse'"),
        ("salary", {"role": "secret"}, "confidential | public | ignore"),
        ("salary", {"role": "publik"}, "did you mean 'public'?"),
        ("salary", {"role": ["public"]}, "confidential | public | ignore"),
        ("salary", {"type": "number"}, "continuous | count"),
        ("salary", {"type": "continous"}, "did you mean 'continuous'?"),
        ("salary", {"bound": [0, 1]}, "did you mean 'bounds'?"),
        ("children", {"bounds": [0.5, 20]}, "whole numbers"),
        ("children", {"bounds": [-1, 20]}, "negative"),
        ("children", {"bounds": [0, 2**53 + 2]}, "2^53"),
        ("children", {"type": "integer", "bounds": [-(2**53) - 2, 0]}, "2^53"),
        ("gender", {"levels": ["F"]}, "at least two levels"),
        ("gender", {"levels": []}, "at least two levels"),
        ("gender", {"levels": ["F", "M", "F"]}, "repeated levels: 'F'"),
        ("gender", {"levels": [1, "1"]}, "repeated levels: '1'"),
        ("gender", {"levels": ["F", ""]}, "empty"),
        ("gender", {"levels": ["F", "M\n"]}, "line break"),
        ("gender", {"levels": ["F", 1.5]}, "quotes"),
        ("gender", {"levels": "F"}, "must be a list"),
        ("gender", {"bounds": [0, 1]}, "remove its bounds"),
        ("gender", {"outside": "clamp"}, "only numbers can be clamped"),
        ("employed", {"levels": ["a", "b", "c"]}, "exactly two levels, not 3"),
    ],
)
def test_a_contradictory_declaration_is_refused(column, keys, said):
    sentence = refusal(changed(column, **keys))
    assert said in sentence
    assert column in sentence


def test_levels_have_no_bounds():
    with pytest.raises(BadInput, match="'gender' is not numeric"):
        Schema.from_dict(LAYOUT).column("gender").lower  # noqa: B018
