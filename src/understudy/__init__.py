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
    from understudy.domain.schema import Schema
    from understudy.domain.tables import read as read_table
    from understudy.errors import BadInput, Refused
    from understudy.ledger.ledger import Ledger
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
    from understudy.mechanisms.reference import Reference, reference
    from understudy.models.base import Model, Parameter
    from understudy.models.beta import beta
    from understudy.models.formula import formula
    from understudy.models.table.joint import joint
    from understudy.models.table.mixture import mixture
    from understudy.periods.calibration import calibrate
    from understudy.periods.pending import PendingRelease
    from understudy.periods.policy import Policy
    from understudy.privacy.composition import compose
    from understudy.privacy.guarantee import Adjacency, Guarantee
    from understudy.synthesis.release import Release
    from understudy.synthesis.run import synthesize
    from understudy.synthesis.simulation import read_anchor, sample
    from understudy.utility import measure_table

_HOME = {
    "Adjacency": "understudy.privacy.guarantee",
    "Anchored": "understudy.mechanisms",
    "BadInput": "understudy.errors",
    "CensorUw": "understudy.mechanisms",
    "CensorW": "understudy.mechanisms",
    "Guarantee": "understudy.privacy.guarantee",
    "PendingRelease": "understudy.periods.pending",
    "Ledger": "understudy.ledger.ledger",
    "Mechanism": "understudy.mechanisms",
    "Model": "understudy.models.base",
    "Parameter": "understudy.models.base",
    "PerturbedHistogram": "understudy.mechanisms",
    "Policy": "understudy.periods.policy",
    "Reference": "understudy.mechanisms.reference",
    "Refused": "understudy.errors",
    "Release": "understudy.synthesis.release",
    "Schema": "understudy.domain.schema",
    "Unweighted": "understudy.mechanisms",
    "Weighted": "understudy.mechanisms",
    "WeightedE": "understudy.mechanisms",
    "beta": "understudy.models.beta",
    "calibrate": "understudy.periods.calibration",
    "compose": "understudy.privacy.composition",
    "formula": "understudy.models.formula",
    "from_bambi": "understudy.adapters.bambi",
    "from_numpyro": "understudy.adapters.numpyro",
    "from_pymc": "understudy.adapters.pymc",
    "joint": "understudy.models.table.joint",
    "measure_table": "understudy.utility",
    "mixture": "understudy.models.table.mixture",
    "read_anchor": "understudy.synthesis.simulation",
    "read_table": "understudy.domain.tables",
    "reference": "understudy.mechanisms.reference",
    "sample": "understudy.synthesis.simulation",
    "synthesize": "understudy.synthesis.run",
}

__all__ = [
    "Adjacency",
    "Anchored",
    "BadInput",
    "CensorUw",
    "CensorW",
    "Guarantee",
    "Ledger",
    "Mechanism",
    "Model",
    "Parameter",
    "PendingRelease",
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
