"""The audit: it tries to break a guarantee, numerically.

On simulated tables it computes the posterior that a mechanism draws from, for a table and for a
neighbour that it searches for, and reports the largest log-ratio between the two: a lower bound on
the ε that the mechanism really has. What it finds can refute a claim and never prove one. Nothing
in it is confidential.
"""

from understudy.audit.empirical import empirical_audit
from understudy.audit.result import Audit
from understudy.audit.run import audit, with_record_weights

__all__ = ["Audit", "audit", "empirical_audit", "with_record_weights"]
