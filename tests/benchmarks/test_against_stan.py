"""What the benchmark against Stan does besides running Stan, which is no part of the tests."""

from __future__ import annotations

import math
import sys

import numpy as np

import against_stan
import contest
import stan_programs
from stan_latex import LATEX


def test_our_own_program_stands_in_where_the_source_is_absent(tmp_path, monkeypatch):
    absent = tmp_path / "paper.tex"
    script, sampling, _ = stan_programs.programs(absent)
    assert script.code == stan_programs.PER_RECORD
    assert "stand-in" in script.name
    assert "stand-in" in sampling.name
    monkeypatch.setattr(against_stan, "version", lambda library: "1.0")
    monkeypatch.setattr(sys, "argv", ["against_stan.py", "--rounds", "2"])
    said = list(against_stan.headline(absent))
    assert "against_stan.py --rounds 2`" in said[0]
    assert "stands in" in said[-1]
    absent.write_text(LATEX)
    assert "stands in" not in " ".join(against_stan.headline(absent))


def test_targets_stand_for_all_eleven_fits_of_a_replicate():
    assert sum(target.fits for target in against_stan.targets(10)) == 11


def test_a_fit_that_would_take_too_long_is_not_run():
    asked = []

    def linear(target, seed):
        asked.append(len(target.x))
        return contest.TimedFit(len(target.x) / 100, np.zeros((1, 1, 2)), independent=True)

    cells = list(against_stan.growing(linear, (200, 2000, 20000, 200000), warm=False))
    assert cells == ["2.00", "20.0", "not run: about 200 expected"]
    assert asked == [200, 2000]
    cells = list(against_stan.growing(linear, (200, 20000), warm=True, patience=math.inf))
    assert cells == ["2.00", "200"]
    assert asked[2:] == [200, 200, 20000, 20000]
