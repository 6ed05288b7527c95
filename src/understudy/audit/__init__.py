"""The audit: it tries to break a guarantee, numerically.

On simulated tables it computes what a mechanism draws from or publishes, for a table and for a
neighbour that it searches for, and reports the largest log-ratio between the two: a lower bound on
the ε that the mechanism really has. What it finds can refute a claim and never prove one. Nothing
in it is confidential.

run          one audit, from what a mechanism draws to the verdict
search       the neighbours between whose posteriors a mechanism tells best
sums         the same of noisy sums, with any model
records      the domain of a record, and the search in it for the one that counts most
moved        how far records move what a round published
recomputed   sums and scores, computed again bit for bit
replayed     rounds, measured again of other tables
result       what was found, beside what was asked for and what is claimed
"""

import sys
from types import ModuleType
from typing import Any

from understudy.audit.result import Audit
from understudy.audit.run import audit, with_record_weights

__all__ = ["Audit", "audit", "with_record_weights"]


class _Verb(ModuleType):
    """Lets `understudy.audit(...)` be called, although the package has the verb's name."""

    def __call__(self, *args: Any, **options: Any) -> Audit:
        return audit(*args, **options)


sys.modules[__name__].__class__ = _Verb
