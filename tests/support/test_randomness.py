"""Streams are fresh unless they are seeded, and then they repeat."""

import numpy as np
import pytest

from understudy.errors import BadInput
from understudy.support.randomness import Source


def words(key):
    import jax

    return tuple(int(word) for word in jax.random.key_data(key))


def test_a_seeded_stream_repeats_and_never_gives_the_same_twice():
    one, other = Source(7), Source(7)
    first = [words(one.key()) for _ in range(20)]
    assert [words(other.key()) for _ in range(20)] == first
    assert len(set(first)) == 20
    assert one.generator().random() == other.generator().random()
    assert one.generator().random() != one.generator().random()


def test_a_seed_gives_the_keys_that_numpy_promises_for_it():
    expected = [
        int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(3).spawn(4)
    ]
    source = Source(3)
    for bits in expected:
        high, low = words(source.key())
        assert (high << 32) + low == bits


def test_without_a_seed_the_operating_system_is_asked_for_every_key(monkeypatch):
    asked = []

    def randbits(count):
        asked.append(count)
        return (1 << count) - len(asked)

    monkeypatch.setattr("secrets.randbits", randbits)
    source = Source()
    assert words(source.key()) == (2**32 - 1, 2**32 - 1)
    assert words(source.key()) == (2**32 - 1, 2**32 - 2)
    source.generator()
    assert asked == [64, 64, 256]
    assert not source.seeded
    assert Source(0).seeded


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, True, "7"])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(BadInput, match="`seed` must be a whole number"):
        Source(seed)


def test_a_source_does_not_show_its_state():
    assert repr(Source(7)) == "Source(seed=7)"
