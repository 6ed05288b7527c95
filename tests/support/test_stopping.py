"""A request to stop waits for a step that must not be left half done."""

import os
import signal
import threading
import time

import pytest

from understudy.support import stopping
from understudy.support.stopping import leave, left_behind, on_request_to_stop, uninterrupted


@pytest.fixture
def requests(monkeypatch):
    """Collect the requests to stop that are answered, instead of stopping."""
    monkeypatch.setattr(stopping, "_clause", stopping.NOTHING)
    before = {number: signal.getsignal(number) for number in stopping._SIGNALS}
    answered = []
    on_request_to_stop(lambda number, frame: answered.append(number))
    yield answered
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def another_thread():
    """Let a thread live that takes signals which the main thread blocks, as those of JAX do."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("another_thread")
def test_a_request_is_answered_after_the_step(requests, number):
    with uninterrupted():
        os.kill(os.getpid(), number)
        time.sleep(0.05)
        assert requests == []
    assert requests == [number]


def test_an_error_in_the_step_lets_requests_in_again(requests):
    with pytest.raises(KeyError), uninterrupted():
        raise KeyError
    signal.raise_signal(signal.SIGTERM)
    assert requests == [signal.SIGTERM]


def test_steps_may_contain_steps(requests):
    with uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
        assert requests == []
    assert requests == [signal.SIGINT]


def test_beside_the_main_thread_nothing_is_held_back_and_nothing_fails():
    done = []

    def step():
        with uninterrupted():
            done.append(True)

    thread = threading.Thread(target=step)
    thread.start()
    thread.join()
    assert done


def test_what_is_left_behind_is_what_was_last_said(monkeypatch):
    monkeypatch.setattr(stopping, "_clause", stopping.NOTHING)
    assert left_behind() == "nothing was released"
    leave(stopping.COMPLETE)
    assert left_behind() == "the release is complete"
