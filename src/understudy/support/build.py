"""What computes here: code, libraries and processor, in one line that differs where they do."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

_LIBRARIES = ("jax", "jaxlib", "numpy", "scipy", "numpyro")
_VECTORS = ("avx", "fma", "sse", "asimd", "sve")
"""How the names of a processor's vector instructions begin, by which kernels are compiled."""


@cache
def build() -> str:
    """Return the line: two machines with the same one compute the same bits."""
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        code.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
    python = platform.python_version()
    return f"{code.hexdigest()}, Python {python}, {', '.join(libraries)}, {_processor()}"


def _processor() -> str:
    """Return the kind of processor, with its vector instructions where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = ("flags", "Features")
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith(named)), [])
    vectors = sorted(flag for flag in flags if flag.startswith(_VECTORS))
    return f"{platform.machine()} {' '.join(vectors)}"
