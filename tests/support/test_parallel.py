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


def test_the_next_item_is_made_while_one_is_worked_on():
    made = [threading.Event() for _ in range(3)]

    def items():
        for number, event in enumerate(made):
            event.set()
            yield number

    for number in parallel.one_ahead(items()):
        assert made[min(number + 1, 2)].wait(10), "the next one waits for this one"
    assert all(event.is_set() for event in made)


def test_what_goes_wrong_ahead_is_told_in_its_turn():
    def items():
        yield 1
        raise ValueError("two")

    ahead = parallel.one_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match=r"^two$"):
        next(ahead)
