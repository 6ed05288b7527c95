"""JAX, set up once: double precision always, and compiled kernels kept between runs.

Every module imports JAX from here and from nowhere else (`tests/test_architecture.py`), so no
density can be evaluated in single precision, whose error reaches 0.1 nats at a hundred thousand
records.

Compiled kernels are kept in the user's cache directory. Tables are always passed to a kernel as
arguments and never captured as constants, so the cache holds programs and shapes, not records. A
directory that `JAX_COMPILATION_CACHE_DIR` names is used instead.
"""

import os

import jax
import jax.numpy as jnp
from platformdirs import user_cache_path

__all__ = ["jax", "jnp"]

jax.config.update("jax_enable_x64", True)

_THRESHOLDS = {
    "jax_persistent_cache_min_compile_time_secs": 0.2,
    "jax_persistent_cache_min_entry_size_bytes": 0,
}
"""From where on a kernel is kept, unless the environment says otherwise."""


def _keep_compiled_kernels() -> None:
    for name, threshold in _THRESHOLDS.items():
        if name.upper() not in os.environ:
            jax.config.update(name, threshold)
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    directory = user_cache_path("understudy", appauthor=False) / "kernels"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return  # A read-only home only costs the time of compiling again.
    jax.config.update("jax_compilation_cache_dir", str(directory))


_keep_compiled_kernels()
