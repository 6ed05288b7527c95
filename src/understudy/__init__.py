"""Turn any Bayesian model into a differentially private data synthesiser.

    import understudy as us

    schema = us.Schema.load("salaries.toml")
    model = us.formula("salary ~ gender + age + weeks", family="beta", schema=schema)
    mechanism = us.Anchored(epsilon=1.0, adjacency="replace-one")
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
    from understudy.adapters.bambi import from_bambi
    from understudy.adapters.numpyro import from_numpyro
    from understudy.adapters.pymc import from_pymc
    from understudy.calibration import calibrate
    from understudy.composition import compose
    from understudy.errors import BadInput, Refused
    from understudy.guarantee import Adjacency, Guarantee
    from understudy.issuing import Issue
    from understudy.ledger import Ledger
    from understudy.mechanisms import (
        Anchored,
        CensorUw,
        CensorW,
        Mechanism,
        PerturbedHistogram,
        Unweighted,
        Weighted,
        WeightedE,
    )
    from understudy.models.base import Model, Parameter
    from understudy.models.beta import beta
    from understudy.models.formula import formula
    from understudy.models.joint import joint
    from understudy.models.mixture import mixture
    from understudy.policy import Policy
    from understudy.references import Reference, reference
    from understudy.release import Release
    from understudy.schema import Schema
    from understudy.simulation import read_anchor, sample
    from understudy.synthesis import synthesize
    from understudy.tables import read as read_table
    from understudy.utility import measure_table

_HOME = {
    "Adjacency": "understudy.guarantee",
    "Anchored": "understudy.mechanisms",
    "BadInput": "understudy.errors",
    "CensorUw": "understudy.mechanisms",
    "CensorW": "understudy.mechanisms",
    "Guarantee": "understudy.guarantee",
    "Issue": "understudy.issuing",
    "Ledger": "understudy.ledger",
    "Mechanism": "understudy.mechanisms",
    "Model": "understudy.models.base",
    "Parameter": "understudy.models.base",
    "PerturbedHistogram": "understudy.mechanisms",
    "Policy": "understudy.policy",
    "Reference": "understudy.references",
    "Refused": "understudy.errors",
    "Release": "understudy.release",
    "Schema": "understudy.schema",
    "Unweighted": "understudy.mechanisms",
    "Weighted": "understudy.mechanisms",
    "WeightedE": "understudy.mechanisms",
    "beta": "understudy.models.beta",
    "calibrate": "understudy.calibration",
    "compose": "understudy.composition",
    "formula": "understudy.models.formula",
    "from_bambi": "understudy.adapters.bambi",
    "from_numpyro": "understudy.adapters.numpyro",
    "from_pymc": "understudy.adapters.pymc",
    "joint": "understudy.models.joint",
    "measure_table": "understudy.utility",
    "mixture": "understudy.models.mixture",
    "read_anchor": "understudy.simulation",
    "read_table": "understudy.tables",
    "reference": "understudy.references",
    "sample": "understudy.simulation",
    "synthesize": "understudy.synthesis",
}

__all__ = [
    "Adjacency",
    "Anchored",
    "BadInput",
    "CensorUw",
    "CensorW",
    "Guarantee",
    "Issue",
    "Ledger",
    "Mechanism",
    "Model",
    "Parameter",
    "PerturbedHistogram",
    "Policy",
    "Reference",
    "Refused",
    "Release",
    "Schema",
    "Unweighted",
    "Weighted",
    "WeightedE",
    "beta",
    "calibrate",
    "compose",
    "formula",
    "from_bambi",
    "from_numpyro",
    "from_pymc",
    "joint",
    "measure_table",
    "mixture",
    "read_anchor",
    "read_table",
    "reference",
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
