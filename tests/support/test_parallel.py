"""Several things at once."""

import threading

import pytest

from understudy.support import parallel


def test_results_come_in_the_order_of_the_items(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    second = threading.Event()

    def work(item):
        if item == 0:
            assert second.wait(10), "the second waits for the first"
        second.set()
        return item * item

    assert list(parallel.in_threads(work, range(5))) == [0, 1, 4, 9, 16]


def test_the_first_failure_is_told_and_ends_the_work(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    done = []

    def work(item):
        done.append(item)
        raise ValueError(str(item))

    with pytest.raises(ValueError, match=r"^0$"):
        list(parallel.in_threads(work, range(1000)))
    assert len(done) < 1000
