"""Fits of the contest with Stan whose means are known."""

import numpy as np

import contest


def fit_with_mean(mean, *, seconds=2.0, seed=0):
    noise = np.random.default_rng(seed).normal(size=(1, 400, 2))
    return contest.TimedFit(seconds, noise - noise.mean(axis=1) + mean, independent=True)
