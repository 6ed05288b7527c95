"""Arguments of Python as flags: the library names what is wrong, the command line how to say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_ARGUMENT = re.compile(r"`([a-z][a-z0-9_]*)`")
_CREATE, _ABANDON = re.compile(r"`Ledger\.create`"), re.compile(r"`Ledger\.abandon\((\d+)\)`")
_REPEATED = {"priors": "prior"}
"""What Python takes as a list and the command line as one option, given several times."""


def in_flags(sentence: str, command: Any) -> str:
    """Return a sentence with the flags of a command's options in place of Python's arguments."""
    known = dict(_options(command))

    def flag(match: re.Match[str]) -> str:
        name = _REPEATED.get(match[1], match[1])
        return known.get(name, match[0])

    sentence = _CREATE.sub("'understudy ledger create'", _ARGUMENT.sub(flag, sentence))
    return _ABANDON.sub(r"'understudy ledger abandon LEDGER \1'", sentence)


def _options(command: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of every option of a command and of those below it, with its long flag."""
    for each in command.params:
        flags = [flag for flag in each.opts if flag.startswith("--")]
        if flags:
            yield each.name, flags[0]
    for below in getattr(command, "commands", {}).values():
        yield from _options(below)
