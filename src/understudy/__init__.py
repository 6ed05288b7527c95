"""Turn any Bayesian model into a differentially private data synthesiser.

    import understudy as us

    schema = us.Schema.load("salaries.toml")
    model = us.formula("salary ~ gender + age + weeks", family="beta", schema=schema)
    mechanism = us.Summary(epsilon=1.0, adjacency="replace-one")
    release = us.synthesize(model, "salaries.csv", mechanism)
    print(release.guarantee)
    print(release.infer("mean(salary) by gender"))
    release.write("out/")

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from understudy.adapters.bambi import from_bambi as from_bambi
    from understudy.adapters.numpyro import from_numpyro as from_numpyro
    from understudy.adapters.pymc import from_pymc as from_pymc
    from understudy.audit import audit as audit
    from understudy.domain.drafting import draft as draft
    from understudy.domain.schema import Schema as Schema
    from understudy.domain.table_files import read as read_table  # noqa: F401
    from understudy.errors import BadInput as BadInput
    from understudy.errors import Refused as Refused
    from understudy.ledger.ledger import Ledger as Ledger
    from understudy.mechanisms import Anchored as Anchored
    from understudy.mechanisms import CensorUw as CensorUw
    from understudy.mechanisms import CensorW as CensorW
    from understudy.mechanisms import Mechanism as Mechanism
    from understudy.mechanisms import PerturbedHistogram as PerturbedHistogram
    from understudy.mechanisms import Request as Request
    from understudy.mechanisms import RowMechanism as RowMechanism
    from understudy.mechanisms import Summary as Summary
    from understudy.mechanisms import Unweighted as Unweighted
    from understudy.mechanisms import Weighted as Weighted
    from understudy.mechanisms import WeightedE as WeightedE
    from understudy.mechanisms.published import read_anchor as read_anchor
    from understudy.mechanisms.published import read_draws as read_draws
    from understudy.mechanisms.reference import Reference as Reference
    from understudy.mechanisms.reference import reference as reference
    from understudy.models.base import Model as Model
    from understudy.models.base import Parameter as Parameter
    from understudy.models.beta import beta as beta
    from understudy.models.formula import formula as formula
    from understudy.models.table.joint import joint as joint
    from understudy.models.table.mixture import mixture as mixture
    from understudy.periods.calibration import Calibration as Calibration
    from understudy.periods.calibration import calibrate as calibrate
    from understudy.periods.pending import PendingRelease as PendingRelease
    from understudy.periods.pending import release as release
    from understudy.periods.policy import Policy as Policy
    from understudy.privacy.composition import compose as compose
    from understudy.privacy.guarantee import Adjacency as Adjacency
    from understudy.privacy.guarantee import Guarantee as Guarantee
    from understudy.questions.pooled import Pooled as Pooled
    from understudy.report.answers import Answer as Answer
    from understudy.report.comparison import Comparison as Comparison
    from understudy.report.comparison import compare as compare
    from understudy.synthesis.answering import infer as infer
    from understudy.synthesis.pooling import pool as pool
    from understudy.synthesis.release import Release as Release
    from understudy.synthesis.run import Synthesizer as Synthesizer
    from understudy.synthesis.run import synthesize as synthesize
    from understudy.synthesis.simulation import sample as sample
    from understudy.utility import measure_table as measure_table

_HOME = {
    "understudy.adapters.bambi": "from_bambi",
    "understudy.adapters.numpyro": "from_numpyro",
    "understudy.adapters.pymc": "from_pymc",
    "understudy.audit": "audit",
    "understudy.domain.schema": "Schema",
    "understudy.domain.drafting": "draft",
    "understudy.domain.table_files": "read_table",
    "understudy.errors": "BadInput Refused",
    "understudy.ledger.ledger": "Ledger",
    "understudy.mechanisms": "Anchored CensorUw CensorW Mechanism PerturbedHistogram "
    "Request RowMechanism Summary Unweighted Weighted WeightedE",
    "understudy.mechanisms.published": "read_anchor read_draws",
    "understudy.mechanisms.reference": "Reference reference",
    "understudy.models.base": "Model Parameter",
    "understudy.models.beta": "beta",
    "understudy.models.formula": "formula",
    "understudy.models.table.joint": "joint",
    "understudy.models.table.mixture": "mixture",
    "understudy.periods.calibration": "Calibration calibrate",
    "understudy.periods.pending": "PendingRelease release",
    "understudy.periods.policy": "Policy",
    "understudy.privacy.composition": "compose",
    "understudy.privacy.guarantee": "Adjacency Guarantee",
    "understudy.report.answers": "Answer",
    "understudy.report.comparison": "Comparison compare",
    "understudy.synthesis.answering": "infer",
    "understudy.questions.pooled": "Pooled",
    "understudy.synthesis.pooling": "pool",
    "understudy.synthesis.release": "Release",
    "understudy.synthesis.run": "Synthesizer synthesize",
    "understudy.synthesis.simulation": "sample",
    "understudy.utility": "measure_table",
}
"""Names, by the module that has them."""
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted(_MODULE)  # noqa: PLE0605 - type checkers read the imports above


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    original = "read" if name == "read_table" else name
    return getattr(importlib.import_module(_MODULE[name]), original)


def __dir__() -> list[str]:
    return sorted(__all__)
