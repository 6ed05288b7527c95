"""A layout that declares a column of each kind, and what is said of changes that make no sense."""

import copy

import pytest

from understudy.domain.schema import Schema
from understudy.errors import BadInput

LAYOUT = {
    "table": {"size": 8000},
    "columns": {
        "salary": {"role": "confidential", "type": "continuous", "bounds": [0, 600000]},
        "children": {"role": "confidential", "type": "count", "bounds": [0, 20]},
        "gender": {"role": "public", "type": "categorical", "levels": ["F", "M"]},
        "employed": {"role": "public", "type": "binary"},
        "id": {"role": "ignore"},
    },
}


def changed(column, **keys):
    layout = copy.deepcopy(LAYOUT)
    layout["columns"][column].update(keys)
    return layout


def refusal(layout):
    with pytest.raises(BadInput) as caught:
        Schema.from_dict(layout, source="s.toml")
    sentence = str(caught.value)
    assert sentence.startswith("s.toml: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence
