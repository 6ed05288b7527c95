"""What computes here, in one line."""

from understudy.support import build as module
from understudy.support.build import build


def test_it_tells_code_libraries_and_processor():
    told = build()
    assert build() is told
    for part in ("Python 3.", "jax ", "jaxlib ", "numpy "):
        assert part in told
    assert len(told.partition(",")[0]) == 64


def test_another_library_is_another_build(monkeypatch):
    monkeypatch.setattr(module, "version", lambda name: "0.0")
    assert build.__wrapped__() != build()


def test_a_system_that_tells_nothing_of_its_processor_tells_its_kind(monkeypatch):
    def unreadable(*given, **named):
        raise OSError

    monkeypatch.setattr(module.Path, "read_text", unreadable)
    assert module._processor().strip() == module.platform.machine()
