"""Directions in which a distribution over codes can differ from an even one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def contrasts(count: int) -> Floats:
    """Return orthogonal contrasts among levels, under which every level has variance one.

    Shape (levels, levels − 1). No level is singled out as the one to compare with.
    """
    rows = np.tril(np.ones((count, count)))
    rows[np.arange(count - 1), np.arange(1, count)] = -np.arange(1.0, count)
    orthonormal = (rows / np.linalg.norm(rows, axis=1, keepdims=True))[: count - 1].T
    return orthonormal * math.sqrt(count / (count - 1))


def polynomials(points: Floats, degree: int) -> Floats:
    """Return orthogonal polynomials of degree 1, 2, ... over the points, with mean square one."""
    centred = points - points.mean()
    basis = np.ones((len(points), 1))
    for _ in range(degree):
        column = centred * basis[:, -1]
        # Freed of all before it, twice: once leaves rounding errors that add up.
        for _ in range(2):
            column = column - basis @ (basis.T @ column) / len(points)
        column *= math.sqrt(len(points)) / np.linalg.norm(column)
        basis = np.column_stack([basis, column])
    return basis[:, 1:]


def waves(points: Floats, length: float, count: int) -> tuple[Floats, Floats]:
    """Return smooth functions beyond line and parabola, and the width of each.

    They are the leading components of a Gaussian process with the given length, and of variance
    one, freed of constant, line and parabola. Shapes (points, count) and (count,).
    """
    nearness = np.exp(-((points[:, None] - points) ** 2) / (2 * length**2))
    plain = np.column_stack([np.ones(len(points)), polynomials(points, 2)]) / math.sqrt(len(points))
    rest = np.eye(len(points)) - plain @ plain.T
    variances, functions = np.linalg.eigh(rest @ nearness @ rest)
    leading = np.argsort(variances)[::-1][:count]
    functions = functions[:, leading]
    # The sign of an eigenvector is the library's whim; a release must mean the same everywhere.
    # Like a Legendre polynomial, each of them is far from zero at the ends.
    functions *= np.sign(functions[-1])
    root = math.sqrt(len(points))
    return functions * root, np.sqrt(variances[leading]) / root
