"""A cluster of processes: one that dies is replaced, and what goes wrong is told in a sentence."""

import sys
import types
from functools import partial

import pytest

import cluster_work
from understudy.errors import BadInput, Refused
from understudy.support import cluster as module
from understudy.support.cluster import Cluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address():
    """The scheduler of two worker processes, which import what this one can."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


def test_results_come_in_the_order_of_the_items(address):
    assert list(Cluster(address)(lambda item: item + 1, [3, 1, 2])) == [4, 2, 3]


def test_a_worker_that_dies_is_replaced(address, tmp_path):
    work = partial(cluster_work.square_but_one_dies, str(tmp_path / "mark"))
    assert list(Cluster(address)(work, range(5))) == [0, 1, 4, 9, 16]
    assert (tmp_path / "mark").exists()


def test_what_goes_wrong_there_is_told_without_its_details(address):
    def refuse(item):
        raise BadInput("a sentence.")

    with pytest.raises(BadInput, match=r"^a sentence\.$"):
        list(Cluster(address)(refuse, [1]))
    with pytest.raises(RuntimeError, match=r"^an unforeseen ValueError, whose details could be"):
        list(Cluster(address)(cluster_work.fail, [1]))


def test_workers_that_keep_dying_are_given_up(address):
    with pytest.raises(Refused, match="workers of the cluster died again and again"):
        list(Cluster(address)(cluster_work.die, [1]))


def test_a_scheduler_that_does_not_answer_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    with pytest.raises(BadInput, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        list(Cluster("tcp://127.0.0.1:1")(len, ["a"]))


def test_a_worker_that_computes_in_another_way_refuses_the_work(address, monkeypatch):
    monkeypatch.setattr(module, "own_build", lambda: "another build")
    with pytest.raises(Refused, match="another version of understudy"):
        list(Cluster(address)(len, ["a"]))


def test_work_that_workers_cannot_import_is_refused(address, monkeypatch):
    """A model in a Python file is a module of this process alone."""
    lonely = types.ModuleType("lonely")
    exec("def work(item):\n    return item\n", lonely.__dict__)
    monkeypatch.setitem(sys.modules, "lonely", lonely)
    with pytest.raises(BadInput, match="cannot import what the model is made of"):
        list(Cluster(address)(lonely.work, [1]))


def test_a_scheduler_without_workers_is_refused(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(module, "_PATIENCE", 2.0)
    with (
        distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as empty,
        pytest.raises(BadInput, match="no worker has joined the Dask scheduler"),
    ):
        list(Cluster(empty.scheduler_address)(len, ["a"]))
