"""What belongs to Python and to installed libraries, and therefore holds nobody's table."""

from __future__ import annotations

import functools
import site
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

_PLACES = [
    str(Path(__file__).parents[1]),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages(),
    site.getusersitepackages(),
]


def package_of(kind: type) -> str:
    """Return the package in which a class is defined."""
    return str(kind.__module__).partition(".")[0]


def is_library(name: str | None) -> bool:
    """Whether a module comes with Python, with this library, or from where libraries are put.

    The main module is the user's, even where a tool such as a profiler runs it and stands there.
    """
    top = str(name).partition(".")[0]
    if top in sys.builtin_module_names:
        return True
    module = None if top == "__main__" else sys.modules.get(top)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is not None and is_library_file(file)


@functools.cache
def is_library_file(file: str) -> bool:
    """Whether a file is one of Python's, of this library's, or where libraries are put."""
    return file.startswith("<frozen ") or any(Path(file).is_relative_to(each) for each in _PLACES)


def is_kept_by_library(value: Any) -> bool:
    """Whether an object is one that a library keeps for everybody."""
    name = str(getattr(value, "__name__", None))
    homes = {type(value).__module__, str(getattr(value, "__module__", None))}
    for home, module in list(sys.modules.items()):
        if isinstance(module, ModuleType):
            held = vars(module)
            kept = held.values() if home in homes else [held.get(name)]
            if any(each is value for each in kept) and is_library(home):
                return True
    return False
