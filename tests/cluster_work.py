"""Work for the processes of a cluster, which can import it."""

import os
from pathlib import Path


def square_but_one_dies(mark, item):
    """Return the square, except that the first process to get here dies."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return item * item
    os._exit(9)


def die(item):
    """Die at once."""
    os._exit(9)


def fail(item):
    """Fail with a message that must not be told."""
    raise ValueError("a confidential value")


def total_but_one_dies(mark, vector, columns):
    """Return a vector, except that the first process to get here dies."""
    square_but_one_dies(mark, 0)
    return vector(columns)
