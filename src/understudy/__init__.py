"""Turn any Bayesian model into a differentially private data synthesiser.

    import understudy as us

    schema = us.Schema.load("salaries.toml")
    model = us.formula("salary ~ gender + age + weeks", family="beta", schema=schema)
    mechanism = us.CensorUw(epsilon=1.0, adjacency="replace-one")
    release = us.synthesize(model, "salaries.csv", mechanism)
    print(release.guarantee)
    release.write("out/")

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from understudy.adapters.numpyro import from_numpyro
    from understudy.errors import BadInput, Refused
    from understudy.guarantee import Adjacency, Guarantee
    from understudy.mechanisms import (
        CensorUw,
        CensorW,
        PerturbedHistogram,
        Unweighted,
        Weighted,
        WeightedE,
    )
    from understudy.models.base import Model, Parameter
    from understudy.models.beta import beta
    from understudy.models.formula import formula
    from understudy.release import Release
    from understudy.schema import Schema
    from understudy.simulation import sample
    from understudy.synthesis import synthesize
    from understudy.tables import read as read_table

_HOME = {
    "Adjacency": "understudy.guarantee",
    "BadInput": "understudy.errors",
    "CensorUw": "understudy.mechanisms",
    "CensorW": "understudy.mechanisms",
    "Guarantee": "understudy.guarantee",
    "Model": "understudy.models.base",
    "Parameter": "understudy.models.base",
    "PerturbedHistogram": "understudy.mechanisms",
    "Refused": "understudy.errors",
    "Release": "understudy.release",
    "Schema": "understudy.schema",
    "Unweighted": "understudy.mechanisms",
    "Weighted": "understudy.mechanisms",
    "WeightedE": "understudy.mechanisms",
    "beta": "understudy.models.beta",
    "formula": "understudy.models.formula",
    "from_numpyro": "understudy.adapters.numpyro",
    "read_table": "understudy.tables",
    "sample": "understudy.simulation",
    "synthesize": "understudy.synthesis",
}

__all__ = [
    "Adjacency",
    "BadInput",
    "CensorUw",
    "CensorW",
    "Guarantee",
    "Model",
    "Parameter",
    "PerturbedHistogram",
    "Refused",
    "Release",
    "Schema",
    "Unweighted",
    "Weighted",
    "WeightedE",
    "beta",
    "formula",
    "from_numpyro",
    "read_table",
    "sample",
    "synthesize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    original = "read" if name == "read_table" else name
    return getattr(importlib.import_module(_HOME[name]), original)


def __dir__() -> list[str]:
    return sorted(__all__)
