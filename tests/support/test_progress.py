"""Progress is told in stages, on a terminal only."""

import io

from understudy.support import progress


def test_a_stage_is_begun_and_then_done():
    calls = []
    with progress.stage(lambda *call: calls.append(call), "reading"):
        calls.append("inside")
    assert calls == [("reading", 0.0), "inside", ("reading", 1.0)]


def test_a_stage_that_fails_is_never_done():
    calls = []
    try:
        with progress.stage(lambda *call: calls.append(call), "reading"):
            raise KeyError
    except KeyError:
        pass
    assert calls == [("reading", 0.0)]


def test_nothing_is_shown_where_there_is_no_terminal_or_no_wish(capsys, monkeypatch):
    for quiet in (True, False):
        with progress.shown(quiet=quiet) as report:
            report("drawing", 0.5)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.shown(quiet=True) as report:
        assert report is progress.silent
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_terminal_shows_the_stage(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown(quiet=False) as report:
        report("drawing", 0.0)
        report("drawing", 0.5)
    assert "drawing" in terminal.getvalue()
