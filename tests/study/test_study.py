"""The study's computation: its kernel against the generic code, its numbers against the paper's,
and the ways of running it against each other.
"""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from understudy import cli
from understudy._jax import jnp
from understudy.errors import BadInput, Refused
from understudy.mechanisms import CensorUw, CensorW, Weighted, WeightedE
from understudy.samplers.lipschitz import censored_records, lipschitz_bound, reach
from understudy.samplers.quadrature import quadrature, target_heights
from understudy.score import Row
from understudy.study import kernel, paper, workers
from understudy.study.replicate import bayesian_fits, explore, replicate, study_model
from understudy.study.run import run_study
from understudy.study.store import ReplicateStore, StudySettings
from understudy.support.randomness import Source

R = 8
SEED = 11
MODEL = study_model()


@pytest.fixture(scope="module")
def findings():
    """The findings of a few replicates, as one table."""
    found = [row for number in range(1, R + 1) for row in replicate(number, seed=SEED)]
    return pd.DataFrame(found)


def of(findings, mechanism, statistic, *, epsilon=None, c1=None):
    """The values of one statistic of one arm, in the order of the replicates."""
    chosen = findings[(findings.mechanism == mechanism) & (findings.statistic == statistic)]
    if epsilon is not None:
        chosen = chosen[chosen.epsilon == epsilon]
    if c1 is not None:
        chosen = chosen[chosen.c1 == c1]
    assert len(chosen) == R
    return chosen.sort_values("replicate")["value"].to_numpy()


class TestKernel:
    """The fast kernel computes what the generic code computes."""

    values = np.random.default_rng(0).beta(0.5, 3, 300)
    data = MODEL.prepare({"x": values})

    @pytest.mark.parametrize("bound", [math.inf, 2.5, 0.3])
    def test_its_heights_are_those_of_the_equation(self, bound):
        generator = np.random.default_rng(1)
        nodes = jnp.asarray(generator.normal(size=(37, 2)) * 2)
        row = Row(
            jnp.asarray(generator.uniform(size=300)),
            jnp.asarray(generator.normal(size=300)),
            jnp.asarray(bound),
        )
        fast = kernel.heights(MODEL, nodes, self.data, row)
        generic = target_heights(MODEL, nodes, self.data, row)
        np.testing.assert_allclose(fast, generic, rtol=1e-12, atol=1e-9)

    def test_its_risks_are_those_of_the_stream_over_draws(self):
        draws = jnp.asarray(np.random.default_rng(2).normal(size=(2, 50, 2)))
        plain = Row(jnp.ones(300), jnp.zeros(300), jnp.asarray(math.inf))
        for one, risk in zip(draws, kernel.risks(MODEL, draws, self.data), strict=True):
            np.testing.assert_allclose(risk, reach(MODEL, one, self.data, plain).risk, rtol=1e-12)

    def test_bounds_and_counts_are_those_of_the_library(self):
        values = np.random.default_rng(3).beta(0.5, 3, paper.N)
        data = MODEL.prepare({"x": values})
        mechanisms = [Weighted(), CensorW(epsilon=4.0), CensorUw(epsilon=3.0)]
        for fit in explore(values, mechanisms, Source(1), "quadrature"):
            seen = reach(MODEL, jnp.asarray(fit.draws), data, fit.row)
            assert fit.reached.max() == pytest.approx(lipschitz_bound(seen), rel=1e-12)
            counted = np.sum(fit.reached >= float(fit.row.bound))
            # A record within rounding of the bound may fall on either side of it.
            assert abs(counted - censored_records(seen, fit.row)) <= 1

    def test_a_search_that_begins_nearby_ends_where_a_search_from_far_away_does(self):
        values = np.random.default_rng(4).beta(0.5, 3, paper.N)
        data = MODEL.prepare({"x": values})
        mechanisms = [WeightedE(epsilon=3.0), CensorUw(epsilon=3.0), CensorW(epsilon=3.0)]
        for fit in explore(values, mechanisms, Source(1), "quadrature")[1:]:
            truth = quadrature(MODEL, data, fit.row)
            sd = truth.sd(truth.nodes)
            # Four standard errors of a mean of 1000 draws.
            off = np.abs(fit.draws.mean(axis=0) - truth.mean(truth.nodes))
            assert np.all(off < 4 * sd / math.sqrt(len(fit.draws)))
            assert np.all(np.abs(fit.draws.std(axis=0) / sd - 1) < 4 / math.sqrt(2 * 1000) + 0.01)


class TestAgainstThePaper:
    """Tolerances are four standard errors of a mean over R replicates, from the paper's sds."""

    def test_lipschitz_bounds_lie_in_the_paper_s_ranges(self, findings):
        unweighted = of(findings, "unweighted", "lipschitz_bound")
        weighted = of(findings, "weighted", "lipschitz_bound", c1=1.0)
        assert 6 < unweighted.min() <= unweighted.max() < 17
        assert 1.7 < weighted.min() <= weighted.max() < 3.8

    @pytest.mark.parametrize(
        ("mechanism", "epsilon"),
        [key for key in paper.TABLE_1 if key[0] != "censor-w"],
        ids=str,
    )
    def test_counts_have_the_means_of_table_1(self, findings, mechanism, epsilon):
        printed = paper.TABLE_1[mechanism, epsilon]
        c1 = 1.0 if mechanism == "weighted-e" else None
        ours = of(findings, mechanism, "records", epsilon=epsilon, c1=c1)
        assert abs(ours.mean() - printed.mean) < 4 * printed.sd / math.sqrt(R)

    @pytest.mark.parametrize("epsilon", paper.EPSILONS)
    def test_censoring_bounds_are_never_passed(self, findings, epsilon):
        for mechanism, c1 in (("censor-w", 1.0), ("censor-uw", None)):
            bounds = of(findings, mechanism, "lipschitz_bound", epsilon=epsilon, c1=c1)
            assert np.all(bounds <= epsilon / 2)

    @pytest.mark.parametrize("epsilon", paper.EPSILONS)
    def test_utility_falls_from_weighted_to_censor_w_to_censor_uw(self, findings, epsilon):
        """On average; Weighted and Censor_w at ε = 5 are nearly the same, so their difference is
        allowed four standard errors."""
        weighted = of(findings, "weighted", "max_ecdf", c1=1.0)
        censor_w = of(findings, "censor-w", "max_ecdf", epsilon=epsilon, c1=1.0)
        censor_uw = of(findings, "censor-uw", "max_ecdf", epsilon=epsilon)
        error = (censor_w - weighted).std(ddof=1) / math.sqrt(R)
        assert weighted.mean() <= censor_w.mean() + 4 * error
        assert np.median(censor_w) < np.median(censor_uw)

    def test_downscaling_lowers_lipschitz_bounds_in_every_replicate(self, findings):
        for mechanism, epsilon in (("weighted", None), ("weighted-e", 4.0), ("censor-w", 4.0)):
            full = of(findings, mechanism, "lipschitz_bound", epsilon=epsilon, c1=1.0)
            less = of(findings, mechanism, "lipschitz_bound", epsilon=epsilon, c1=0.8)
            assert np.all(less <= full)
            assert less.mean() < full.mean()

    def test_anchored_is_as_good_as_no_privacy_and_ph_with_few_bins_the_worst_but_one(
        self, findings
    ):
        without = of(findings, "unweighted", "max_ecdf")
        error = without.std(ddof=1) / math.sqrt(R)
        for epsilon in paper.EPSILONS:
            for mechanism in ("anchored-history", "anchored-ladder"):
                ours = of(findings, mechanism, "max_ecdf", epsilon=epsilon).mean()
                assert ours < without.mean() + 4 * math.sqrt(2) * error
            assert of(findings, "ph", "max_ecdf", epsilon=epsilon).mean() > 0.1


def test_quadrature_and_nuts_agree_on_the_same_replicate():
    """The same table and the same rows; means within 0.2 sd, sds within 15 %."""
    values = np.random.default_rng(5).beta(0.5, 3, paper.N)
    mechanisms = [Weighted(), CensorUw(epsilon=3.0), CensorW(epsilon=4.0)]
    grids = explore(values, mechanisms, Source(1), "quadrature")
    chains = explore(values, mechanisms, Source(2), "nuts")
    for grid, chain in zip(grids, chains, strict=True):
        assert chain.converged
        sd = grid.draws.std(axis=0)
        assert np.all(np.abs(grid.draws.mean(axis=0) - chain.draws.mean(axis=0)) < 0.2 * sd)
        assert np.all(np.abs(chain.draws.std(axis=0) / sd - 1) < 0.15)
        assert chain.reached.max() == pytest.approx(grid.reached.max(), rel=0.05)


def test_the_study_by_chains_sees_the_same_table_and_says_which_fits_converged():
    chains = replicate(3, seed=SEED, sampler="nuts")
    grids = replicate(3, seed=SEED)

    def data(found):
        return [(row.statistic, row.value) for row in found if row.mechanism == "data"]

    assert data(chains) == data(grids)
    assert len(grids) == len(chains) - 14
    assert {row.value for row in chains if row.statistic == "converged"} <= {0.0, 1.0}


def test_the_paper_has_eleven_bayesian_fits_a_replicate():
    assert len(bayesian_fits(1, SEED)) == 11


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Three replicates, run in this process."""
    return run_study(tmp_path_factory.mktemp("alone"), replicates=3, seed=SEED, workers=1)


class TestRunning:
    """However a study is run and interrupted, its replicates are the same."""

    def test_the_number_of_workers_changes_nothing(self, alone, tmp_path):
        together = run_study(tmp_path, replicates=3, seed=SEED, workers=2)
        pd.testing.assert_frame_equal(together, alone, check_exact=True)

    def test_a_dask_cluster_changes_nothing_even_if_a_worker_is_killed(self, alone, tmp_path):
        """A real cluster of separate processes, one of which is killed while they work."""
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            address = cluster.scheduler_address
            with distributed.Client(address) as client:
                victim = next(iter(client.run(os.getpid).values()))
            killer = threading.Timer(4, os.kill, (victim, signal.SIGKILL))
            killer.start()
            spread = run_study(tmp_path, replicates=3, seed=SEED, scheduler=address)
            killer.join()
        pd.testing.assert_frame_equal(spread, alone, check_exact=True)

    def test_finished_replicates_are_kept_checked_and_not_run_again(
        self, alone, tmp_path, monkeypatch
    ):
        run_study(tmp_path, replicates=2, seed=SEED, workers=1)
        damaged = tmp_path / "replicates" / "0002.parquet"
        frame = pd.read_parquet(damaged)
        frame.loc[5, "value"] += 1e-9
        frame.to_parquet(damaged)
        ran = []
        run_one = workers.run_one
        monkeypatch.setattr(
            workers, "run_one", lambda number, *rest: ran.append(number) or run_one(number, *rest)
        )
        resumed = run_study(tmp_path, replicates=3, seed=SEED, workers=1)
        assert ran == [2, 3]
        pd.testing.assert_frame_equal(resumed, alone, check_exact=True)

    def test_a_truncated_file_is_run_again(self, tmp_path):
        store = ReplicateStore.open(tmp_path, StudySettings(seed=SEED, sampler="quadrature"))
        store.write(1, replicate(1, seed=SEED))
        place = tmp_path / "replicates" / "0001.parquet"
        place.write_bytes(place.read_bytes()[:100])
        assert store.read(1) is None

    @pytest.mark.parametrize("change", [{"seed": SEED + 1}, {"sampler": "nuts"}])
    def test_replicates_of_two_studies_are_not_mixed(self, tmp_path, change):
        settings = {"seed": SEED, "sampler": "quadrature"}
        ReplicateStore.open(tmp_path, StudySettings(**settings))
        with pytest.raises(BadInput, match="must not be mixed"):
            ReplicateStore.open(tmp_path, StudySettings(**{**settings, **change}))

    def test_a_directory_with_something_else_in_it_is_left_alone(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("years of work")
        with pytest.raises(BadInput, match="something else"):
            run_study(tmp_path, replicates=1, seed=SEED)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]

    def test_a_killed_worker_does_not_lose_the_study(self, alone, tmp_path):
        """One of the two processes is killed while they work."""
        killed = threading.Thread(target=_kill_one_child, daemon=True)
        killed.start()
        survived = run_study(tmp_path, replicates=3, seed=SEED, workers=2)
        killed.join()
        pd.testing.assert_frame_equal(survived, alone, check_exact=True)

    def test_workers_that_keep_dying_end_the_study_with_a_sentence(self, tmp_path, monkeypatch):
        monkeypatch.setattr(workers, "run_one", _die)
        with pytest.raises(Refused, match="fewer workers"):
            run_study(tmp_path, replicates=2, seed=SEED, workers=2)

    def test_workers_end_with_the_process_that_started_them(self, tmp_path):
        command = [sys.executable, "-m", "understudy", "study", "--replicates", "40"]
        started = subprocess.Popen([*command, "--workers", "2", "--out", str(tmp_path / "out")])
        children = _children(started.pid, wanted=2)
        started.kill()
        started.wait()
        deadline = time.monotonic() + 20
        while any(Path(f"/proc/{child}").exists() for child in children):
            assert time.monotonic() < deadline, "workers outlived the study"
            time.sleep(0.1)


def _kill_one_child():
    os.kill(_children(os.getpid(), wanted=2)[0], signal.SIGKILL)


def _children(parent, *, wanted):
    """Wait until a process has so many workers, and return their numbers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rsplit(")", 1)[1].split()
                command = (status.parent / "cmdline").read_text()
            except OSError:
                continue
            if int(fields[1]) == parent and "spawn_main" in command:
                found.append(int(status.parent.name))
        if len(found) >= wanted:
            return found
        time.sleep(0.05)
    raise AssertionError("no workers appeared")


def _die(number, seed, sampler):
    os._exit(9)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--replicates", "0"], "--replicates must be from 1"),
        (["--seed", "-1"], "--seed must be"),
        (["--sampler", "gibbs"], "--sampler must be quadrature or nuts"),
        (["--workers", "0"], "--workers must be 1 or more"),
        (["--workers", "2", "--scheduler", "tcp://x:1"], "leave out one of them"),
        (["--scheduler", "nonsense://nowhere"], "no Dask scheduler answers"),
    ],
)
def test_wrong_arguments_are_told_in_one_sentence(
    arguments, sentence, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["study", *arguments]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
