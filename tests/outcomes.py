"""What a calibration might have found, written by hand."""

import understudy as us
from understudy.periods.calibration.sweep import WITHOUT_PRIVACY, Closeness, Outcome, Setting

PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 100]}
SCHEMA = us.Schema.from_dict({"table": {"size": 400}, "columns": {"pay": PAY}})
MODEL = us.beta(SCHEMA)


def outcome(epsilon, distance, mechanism="anchored", **rest):
    measures = {"max_ecdf": distance, "total_variation": None, "mean": 0.01, "median": 0.02} | rest
    return Outcome(Setting(mechanism=mechanism, epsilon=epsilon), (Closeness(**measures),))


GRID = [
    outcome(0.1, 0.20),
    outcome(0.1, 0.15, "ph"),
    outcome(1.0, 0.05),
    outcome(1.0, 0.06, "ph"),
    outcome(5.0, 0.04),
    Outcome(Setting(mechanism="censor-uw", epsilon=5.0), ()),
]
BASELINE = Outcome(WITHOUT_PRIVACY, outcome(1.0, 0.045).draws)
