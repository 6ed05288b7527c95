"""The tables of the contest with Stan: means that disagree are named, studies extrapolated."""

from __future__ import annotations

import numpy as np

import contest
import stan_tables
from timed_fits import fit_with_mean


def test_means_that_disagree_are_named():
    fits = {
        ("t", "right"): [fit_with_mean(0.0)],
        ("t", "wrong"): [fit_with_mean(0.3)],
    }
    assert stan_tables.disagreements(fits, {"t": np.zeros(2)}) == ["wrong on t"]


def test_the_study_is_extrapolated_from_fits_in_its_own_proportions():
    fits = {
        (target, "stan"): [fit_with_mean(0.0, seconds=s) for s in seconds]
        for target, seconds in {"plain": (30.0, 40.0), "censored": (48.0, 136.0)}.items()
    }
    study = [contest.StudyRound(5.0, 500), contest.StudyRound(6.0, 500)]
    like = {"plain": 2, "censored": 1}
    *_, ours, theirs = stan_tables.full_study(fits, study, stan=["stan"], like=like)
    assert "| 11.0 s | 1 | all 1000 run |" in ours
    # 36 and 72 seconds a fit make 10 and 20 hours of a thousand; ours took 0.01 and 0.012 seconds.
    assert "| 15.0 (10.0–20.0) h | 4,800 (3,600–6,000) |" in theirs
    assert "extrapolated from 4 measured fits" in theirs
