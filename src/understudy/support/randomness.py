"""Where random numbers come from.

A draw of θ protects people only as long as nobody can replay it. The default source asks the
operating system anew for every key. A JAX key holds 64 bits; a released θ depends on at least
three of them (starting point, warm-up, sampling) and on the choice among the draws, so replaying it
means guessing well over 128 bits. Rows simulated from a released θ are post-processing: their
randomness hides nothing. The shuffle of public rows that are copied from the table hides their
order, and has a generator of its own.

A fixed seed makes a run reproducible and therefore unfit for release; whoever uses one finds that
written in the guarantee.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import BadInput

if TYPE_CHECKING:
    from understudy._jax import jax


@dataclass(frozen=True)
class Source:
    """A stream of keys and generators: fresh from the operating system unless a seed is given."""

    seed: int | None = None
    _sequence: np.random.SeedSequence | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seed is not None and not (type(self.seed) is int and 0 <= self.seed < 2**63):
            raise BadInput(f"`seed` must be a whole number from 0 to 2^63 − 1, not {self.seed!r}.")
        sequence = None if self.seed is None else np.random.SeedSequence(self.seed)
        object.__setattr__(self, "_sequence", sequence)

    @property
    def seeded(self) -> bool:
        """Whether somebody who knows the seed could replay this stream."""
        return self.seed is not None

    def key(self) -> jax.Array:
        """Return the next JAX key."""
        from understudy._jax import jax, jnp

        if self._sequence is None:
            bits = secrets.randbits(64)
        else:
            bits = int(self._sequence.spawn(1)[0].generate_state(1, np.uint64)[0])
        words = np.array([bits >> 32, bits & 0xFFFFFFFF], dtype=np.uint32)
        return jax.random.wrap_key_data(jnp.asarray(words), impl="threefry2x32")

    def generator(self) -> np.random.Generator:
        """Return the next NumPy generator, with 128 bits or more of entropy when unseeded."""
        if self._sequence is None:
            return np.random.default_rng(secrets.randbits(256))
        return np.random.default_rng(self._sequence.spawn(1)[0])
