"""Made-up results of the study: the paper's arms with values near its numbers.

Most of what the paper says is true of them; a test changes what it is about, and what is said of
it must change with it.
"""

import numpy as np
import pandas as pd

from understudy.study import paper
from understudy.study.arms import ANALYSES, COLUMNS, Results, arms, has, true_value
from understudy.study.verdicts import verdicts

R = 100
SETTINGS = {"replicates": R, "seed": 1, "sampler": "quadrature", "records": 2000, "version": "9.9"}

BOUNDS = {"unweighted": 10.0, "weighted": 2.6, "weighted-e": 2.5}
LOSSES = {"unweighted": 0.02, "weighted": 0.06, "ph": 0.3, "ph-sqrt": 0.07, "data": 0.0}
TARGETED_LOSSES = {"weighted-e": 0.35, "censor-w": 0.33, "censor-uw": 0.6}


def loss_of(arm):
    """Utility falls with ε for the paper's targeted arms, and is constant for the others."""
    if arm.mechanism in TARGETED_LOSSES:
        worse = TARGETED_LOSSES[arm.mechanism] / arm.epsilon
        return worse if arm.c1 != 0.8 else 0.9 * worse
    return LOSSES.get(arm.mechanism, 0.025)


def made_up(replicates=R, seed=0):
    """Return results in which most of what the paper says is true."""
    generator = np.random.default_rng(seed)
    rows = []
    for arm in arms():
        scale = arm.c1 or 1.0

        def add(statistic, values, arm=arm):
            for replicate, value in enumerate(values):
                rows.append(
                    (
                        replicate,
                        arm.mechanism,
                        np.nan if arm.epsilon is None else arm.epsilon,
                        np.nan if arm.c1 is None else arm.c1,
                        statistic,
                        float(value),
                    )
                )

        noise = generator.normal(0, 0.003, replicates)
        loss = loss_of(arm)
        if arm.mechanism != "data":
            add("max_ecdf", loss + np.abs(noise))
            add("avg_ecdf", (loss + np.abs(noise)) ** 2)
        for statistic in ANALYSES:
            add(statistic, true_value(statistic) + loss + noise)
        if has(arm.mechanism, "lipschitz_bound"):
            spread = 0.1 if arm.mechanism == "weighted-e" else 0.25
            centre = arm.epsilon / 2 + 0.05 if arm.mechanism == "weighted-e" else None
            centre = centre or BOUNDS.get(arm.mechanism, 2.6)
            bounds = scale * np.clip(
                generator.normal(centre, spread, replicates), centre - 0.8, centre + 0.8
            )
            if arm.mechanism.startswith("censor"):
                shift = 0.2 if arm.mechanism == "censor-w" else 9.0
                bounds = np.minimum(bounds + shift, arm.epsilon / 2)
            add("lipschitz_bound", bounds)
        printed = paper.TABLE_1.get((arm.mechanism, arm.epsilon))
        if printed:
            mean = (
                printed.mean if arm.c1 != 0.8 else paper.SUPPLEMENT_TABLE[arm.mechanism, 0.8].mean
            )
            counts = np.maximum(generator.normal(mean, printed.sd / 3, replicates), 0).round()
            add("records", counts - counts.mean() + mean)
            if arm.mechanism == "censor-w":
                add("records_unweighted", counts + 1)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def changed(frame, change, **where):
    """Return the results with `change` applied to the values that match."""
    copy = frame.copy()
    chosen = np.ones(len(copy), dtype=bool)
    for column, wanted in where.items():
        chosen &= (copy[column] == wanted).to_numpy()
    assert chosen.any()
    copy.loc[chosen, "value"] = change(copy.loc[chosen, "value"])
    return Results(copy)


def outcomes(results, name):
    return {finding.text: finding.agreement for finding in verdicts(results)[name].findings}


def outcome_of(results, name, about):
    found = [outcome for text, outcome in outcomes(results, name).items() if about in text]
    assert len(found) == 1, outcomes(results, name)
    return found[0]
