"""Schemas that would make a model too large are refused before it is built."""

import time

import pytest

import understudy as us
from table_models import GENDER, schema


def test_too_many_parameters_are_refused():
    many = GENDER | {"levels": list(range(40))}
    with pytest.raises(us.BadInput, match=r"parameters, more than 1,000: declare fewer levels"):
        us.joint(schema(one=many, other=many))


def test_names_that_make_two_parameters_one_are_refused():
    with pytest.raises(us.BadInput, match="two parameters of the joint model 'a by b'"):
        us.joint(schema(**{"b": GENDER, "a": GENDER, "a by b": GENDER}))


@pytest.mark.parametrize("build", [us.joint, us.mixture], ids=["joint", "mixture"])
def test_columns_and_levels_are_counted_before_anything_is_built(build):
    deep = GENDER | {"levels": [f"level {k}" for k in range(20_000)]}
    wide = {f"column {k}": GENDER for k in range(1001)}
    begun = time.monotonic()
    with pytest.raises(us.BadInput, match=r"too many levels .* 'deep' alone 20,000"):
        build(schema(deep=deep))
    with pytest.raises(us.BadInput, match=r"has at least .* parameters, more than 1,000"):
        build(schema(**wide))
    # The contrasts among 20,000 levels alone would be 3 GB.
    assert time.monotonic() - begun < 5
