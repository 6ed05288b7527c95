"""Amounts of memory."""

import pytest

from understudy.errors import BadInput
from understudy.support.sizes import bytes_of


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("1GiB", 2**30),
        ("1.5 GiB", 3 * 2**29),
        ("500MB", 500_000_000),
        ("2tb", 2 * 10**12),
        (2**30, 2**30),
        ("100000000", 10**8),
    ],
)
def test_sizes_are_read_as_people_write_them(written, count):
    assert bytes_of(written) == count


@pytest.mark.parametrize("written", ["", "much", "1 PiB", "-1GiB", True, None, "1GiB 2"])
def test_what_is_no_size_is_refused(written):
    with pytest.raises(BadInput, match="`memory` must be an amount such as 1GiB"):
        bytes_of(written)


def test_too_little_is_refused():
    with pytest.raises(BadInput, match="`memory` must be at least 64MiB, not '1MB'"):
        bytes_of("1MB")
