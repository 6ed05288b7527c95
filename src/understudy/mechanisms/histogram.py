"""The perturbed histogram: counts with noise, and records drawn from them.

The noise is OpenDP's discrete Laplace on whole counts; its privacy map, not our arithmetic, is what
confirms ε. OpenDP takes no seed, so a seeded run, which is never for release, draws the same
distribution with NumPy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain.schema import Type
from understudy.errors import BadInput

if TYPE_CHECKING:
    from understudy.domain.schema import Column, Schema
    from understudy.mechanisms.ph import PerturbedHistogram
    from understudy.support.randomness import Source


def histogram_column(schema: Schema) -> Column:
    """Return the one confidential column that a histogram can synthesise, or refuse."""
    columns = schema.confidential
    if len(columns) != 1 or columns[0].type is not Type.CONTINUOUS:
        declared_columns = ", ".join(f"{c.name} ({c.type})" for c in columns) or "none"
        raise BadInput(
            f"ph synthesises exactly one confidential column, a continuous one, but the schema "
            f"declares {declared_columns}: give the others the role 'ignore', or use a model."
        )
    for declared, what in (
        (schema.unit, "a unit with several rows is in several bins"),
        (schema.survey_weight, "survey weights are no part of it"),
        (columns[0] if columns[0].missing == "model" else None, "a missing value is in no bin"),
    ):
        if declared is not None:
            raise BadInput(
                f"ph counts rows, and {what}, so column {declared.name!r} cannot be declared as it "
                "is: use a model."
            )
    return columns[0]


def counts(values: np.ndarray, column: Column, bins: int) -> np.ndarray:
    """Count the records in equal bins over the declared bounds; the last bin is closed above."""
    position = np.floor((values - column.lower) / column.width * bins).astype(np.int64)
    return np.bincount(np.clip(position, 0, bins - 1), minlength=bins)


def perturbed(exact: np.ndarray, mechanism: PerturbedHistogram, source: Source) -> np.ndarray:
    """Return the counts with discrete Laplace noise, negative ones raised to zero."""
    if source.seeded:
        noisy = exact + _seeded_noise(len(exact), mechanism, source.generator())
    else:
        noisy = np.asarray(_measurement(mechanism)(exact.tolist()))
    return np.maximum(noisy, 0)


def _measurement(mechanism: PerturbedHistogram) -> Any:
    """Return OpenDP's discrete Laplace at the smallest scale whose privacy map stays within ε."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    scale = mechanism.sensitivity / mechanism.epsilon
    while True:
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
        if measurement.map(mechanism.sensitivity) <= mechanism.epsilon:
            return measurement
        scale = math.nextafter(scale, math.inf)


def _seeded_noise(
    count: int, mechanism: PerturbedHistogram, generator: np.random.Generator
) -> np.ndarray:
    """Return discrete Laplace noise as the difference of two geometric variables."""
    success = -math.expm1(-mechanism.epsilon / mechanism.sensitivity)
    return generator.geometric(success, count) - generator.geometric(success, count)


def draw(
    noisy: np.ndarray, column: Column, rows: int, generator: np.random.Generator
) -> np.ndarray:
    """Draw records: a bin in proportion to its count, then evenly within it."""
    total = noisy.sum()
    # Noise can leave nothing; then the counts say nothing and every bin is as good.
    shares = noisy / total if total > 0 else np.full(len(noisy), 1 / len(noisy))
    chosen = generator.choice(len(noisy), size=rows, p=shares)
    return column.lower + column.width * (chosen + generator.uniform(size=rows)) / len(noisy)
