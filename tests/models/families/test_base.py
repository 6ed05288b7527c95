"""What families share: outcomes on the scale of their declared bounds, of the types they take."""

import numpy as np
import pytest

from family_checks import BINARY, continuous
from understudy.domain.schema import Column, Role, Type
from understudy.errors import BadInput
from understudy.models.families import FAMILIES
from understudy.models.families.base import accept, scaled, unscaled


def test_outcomes_run_from_zero_to_one_between_their_bounds_and_back():
    column = continuous(-50.0, 150.0)
    values = np.array([-50.0, 0.0, 50.0, 150.0])
    np.testing.assert_allclose(scaled(values, column), [0.0, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(unscaled(scaled(values, column), column), values)


def test_rounding_never_leaves_the_bounds():
    column = continuous(0.1, 0.7)
    ends = unscaled(np.array([-1e-17, 1 + 1e-15]), column)
    assert ends.tolist() == [0.1, 0.7]


def test_a_column_of_another_type_is_refused_with_those_that_would_do():
    accept(BINARY, "categorical", Type.CATEGORICAL, Type.BINARY)
    with pytest.raises(BadInput, match="'y' is declared binary, but the family gamma needs a cont"):
        accept(BINARY, "gamma", Type.CONTINUOUS)


def test_every_family_is_checked_by_a_file_of_this_directory():
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    checked = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        if path != Path(__file__):
            spec = spec_from_file_location(path.stem, path)
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            for value in vars(module).values():
                checked |= {name for name, _ in getattr(value, "PAIRS", ())}
    assert checked == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_takes_a_date_for_a_number(family):
    born = Column("born", Role.CONFIDENTIAL, Type.DATE, bounds=(0.0, 999.0))
    with pytest.raises(BadInput, match="'born' is declared date, but the family"):
        FAMILIES[family](born)
