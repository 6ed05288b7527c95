"""What the benchmark against Stan does besides running Stan, which is no part of the tests."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from understudy.errors import BadInput

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

LATEX = r"""
\section*{Supp 1: Something else}
\begin{verbatim}
not this one
\end{verbatim}
\section*{Supp 2: Stan script}
Some words.
\begin{verbatim}

parameters { real y; } // 100 % ours
model { y ~ normal(0, 1); }
generated quantities {
  real z = y;
}
%\end{lstlisting}
\end{verbatim}
\section*{Supp 3: More}
\begin{verbatim}
nor this one
\end{verbatim}
"""
SAMPLED = "parameters { real y; } // 100 % ours\nmodel { y ~ normal(0, 1); }\n"
SCRIPT = SAMPLED + "generated quantities {\n  real z = y;\n}\n"


@pytest.fixture(scope="module", autouse=True)
def beside_the_benchmarks():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield


@pytest.fixture(scope="module")
def stan_programs() -> ModuleType:
    return import_module("stan_programs")


@pytest.fixture(scope="module")
def contest() -> ModuleType:
    return import_module("contest")


@pytest.fixture(scope="module")
def against_stan() -> ModuleType:
    return import_module("against_stan")


def test_the_script_is_read_from_its_own_section_without_the_comments_of_latex(stan_programs):
    assert stan_programs.paper_script(LATEX) == SCRIPT


@pytest.mark.parametrize(
    "latex",
    [
        "",
        r"\begin{verbatim} data {} \end{verbatim}",
        LATEX.replace("Supp 2", "Supp 4"),
        r"\section*{Supp 2: words} none \section*{Supp 3} \begin{verbatim} data {} \end{verbatim}",
    ],
    ids=["empty", "no section", "another section", "script in the next section"],
)
def test_a_source_without_the_script_is_refused(stan_programs, latex):
    with pytest.raises(BadInput, match="no verbatim script"):
        stan_programs.paper_script(latex)


def test_generated_quantities_can_be_left_out(stan_programs):
    assert stan_programs.without_generated_quantities(SCRIPT) == SAMPLED
    assert stan_programs.without_generated_quantities(SAMPLED) == SAMPLED


def test_the_paper_s_script_is_used_where_its_source_is_present(stan_programs, tmp_path):
    source = tmp_path / "paper.tex"
    source.write_text(LATEX)
    script, sampling, vectorised = stan_programs.programs(source)
    assert (script.code, sampling.code) == (SCRIPT, SAMPLED)
    assert script.name == "the paper's script"
    assert vectorised.code == stan_programs.VECTORISED


def test_our_own_program_stands_in_where_the_source_is_absent(
    stan_programs, against_stan, tmp_path, monkeypatch
):
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


def test_programs_declare_the_data_that_they_are_given(stan_programs, tmp_path):
    for program in stan_programs.programs(tmp_path / "absent"):
        block = program.code[: program.code.index("}")]
        declared = [line.split()[-1].rstrip(";") for line in block.splitlines() if ";" in line]
        assert declared == list(program.data)


def test_ratios_are_taken_within_rounds_and_keep_their_spread(contest):
    ratios = contest.ratios([10.0, 40.0, 90.0], [1.0, 2.0, 3.0])
    assert ratios == (20.0, 10.0, 30.0)
    assert str(ratios) == "20.0 (10.0–30.0)"
    with pytest.raises(ValueError, match="shorter"):
        contest.ratios([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.02994, "0.0299"), (9.996, "10.00"), (33.85, "33.9"), (1234.5, "1,230"), (99950, "100,000")],
)
def test_figures_have_three_significant_digits(contest, value, text):
    assert contest.figure(value) == text


def fit_with_mean(contest, mean, *, seconds=2.0, seed=0):
    noise = np.random.default_rng(seed).normal(size=(1, 400, 2))
    return contest.Fit(seconds, noise - noise.mean(axis=1) + mean, independent=True)


def test_independent_draws_count_in_full(contest):
    fit = fit_with_mean(contest, 0.0)
    assert fit.effective.tolist() == [400.0, 400.0]
    assert fit.effective_per_second == 200.0


def test_correlated_draws_count_for_less(contest):
    steps = np.random.default_rng(0).normal(size=(4, 500, 2))
    walk = np.empty_like(steps)
    walk[:, 0] = steps[:, 0]
    for k in range(1, 500):
        walk[:, k] = 0.9 * walk[:, k - 1] + steps[:, k]
    assert contest.Fit(1.0, walk).effective.max() < 500


def test_means_are_compared_in_standard_errors_of_all_rounds_together(contest):
    rounds = [fit_with_mean(contest, mean, seed=k) for k, mean in enumerate((0.2, 0.4))]
    # Each mean has a standard error of 1/√400 = 0.05, and the mean of both one of 0.05/√2.
    apart = contest.standard_errors_apart(rounds, np.array([0.3, 0.0]))
    assert apart == pytest.approx(0.3 / (0.05 / math.sqrt(2)), rel=0.1)


def test_means_that_disagree_are_named(contest):
    tables = import_module("stan_tables")
    fits = {
        ("t", "right"): [fit_with_mean(contest, 0.0)],
        ("t", "wrong"): [fit_with_mean(contest, 0.3)],
    }
    assert tables.disagreements(fits, {"t": np.zeros(2)}) == ["wrong on t"]


def test_the_study_is_extrapolated_from_fits_in_its_own_proportions(contest):
    tables = import_module("stan_tables")
    fits = {
        (target, "stan"): [fit_with_mean(contest, 0.0, seconds=s) for s in seconds]
        for target, seconds in {"plain": (30.0, 40.0), "censored": (48.0, 136.0)}.items()
    }
    study = [contest.StudyRound(5.0, 500), contest.StudyRound(6.0, 500)]
    like = {"plain": 2, "censored": 1}
    *_, ours, theirs = tables.full_study(fits, study, stan=["stan"], like=like)
    assert "| 11.0 s | 1 | all 1000 run |" in ours
    # 36 and 72 seconds a fit make 10 and 20 hours of a thousand; ours took 0.01 and 0.012 seconds.
    assert "| 15.0 (10.0–20.0) h | 4,800 (3,600–6,000) |" in theirs
    assert "extrapolated from 4 measured fits" in theirs


def test_targets_stand_for_all_eleven_fits_of_a_replicate(against_stan):
    assert sum(target.fits for target in against_stan.targets(10)) == 11


def test_a_fit_that_would_take_too_long_is_not_run(against_stan, contest):
    asked = []

    def linear(target, seed):
        asked.append(len(target.x))
        return contest.Fit(len(target.x) / 100, np.zeros((1, 1, 2)), independent=True)

    cells = list(against_stan.growing(linear, (200, 2000, 20000, 200000), warm=False))
    assert cells == ["2.00", "20.0", "not run: about 200 expected"]
    assert asked == [200, 2000]
    cells = list(against_stan.growing(linear, (200, 20000), warm=True, patience=math.inf))
    assert cells == ["2.00", "200"]
    assert asked[2:] == [200, 200, 20000, 20000]
