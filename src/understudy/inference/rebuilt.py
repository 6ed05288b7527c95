"""What was measured, read back from the file in which it was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.errors import BadInput
from understudy.inference.cells import Cells, Pair
from understudy.inference.contribution import (
    UNIT,
    Contribution,
    ScoreContribution,
    TableContribution,
)
from understudy.inference.measurement import GAUSSIAN, LAPLACE, Measurement, Noise
from understudy.models.base import Model

_LARGEST = 1e15
"""Beyond it no noise was ever added, and squares of it would not be finite."""


def measurements(rounds: Sequence[Mapping[str, Any]], model: Model) -> tuple[Measurement, ...]:
    """Return the rounds of a release, or refuse what no release would hold.

    Args:
        rounds: As `parameters.json` has them.
        model: The model of a row.
    """
    try:
        return tuple(_measurement(each, model) for each in rounds if each["kind"] != "choice")
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise BadInput(
            "the rounds of the release do not fit its model: the file is damaged."
        ) from None


def _measurement(entry: Mapping[str, Any], model: Model) -> Measurement:
    contribution = _contribution(entry["kind"], entry["definition"], model)
    noisy = np.asarray(entry["noisy"], dtype=np.int64)
    noise = Noise(float(entry["noise"]["scale"]), str(entry["noise"]["distribution"]))
    known = noise.distribution in (LAPLACE, GAUSSIAN) and 0 < noise.scale < _LARGEST
    if noisy.shape != (contribution.width,) or not known:
        raise ValueError("sums that are no measurement of these contributions")
    return Measurement(contribution, noisy, noise, entry["epsilon"], entry.get("rho"))


def _contribution(kind: str, entry: Mapping[str, Any], model: Model) -> Contribution:
    norm = {1: 1, 2: 2}[entry["norm"]]
    if kind == TableContribution.kind:
        tables = tuple(_table(each, model) for each in entry["tables"])
        weights = tuple(int(each["weight"]) for each in entry["tables"])
        if min(weights, default=0) < 1:
            raise ValueError("tables that no record counts in")
        return TableContribution(model, tables, weights, norm=norm)
    if kind != ScoreContribution.kind or entry["unit"] != UNIT:
        raise ValueError("contributions of another kind")
    z, directions, centre = (
        np.asarray(entry[name], dtype=np.float64) for name in ("z", "directions", "centre")
    )
    if z.shape != (model.dimension,) or directions.shape != (len(centre), model.dimension):
        raise ValueError("directions of another model")
    return ScoreContribution(
        model, z, directions, centre, int(entry["length"]), int(entry["count"]), norm=norm
    )


def _table(entry: Mapping[str, Any], model: Model) -> Cells | Pair:
    if "pair" in entry:
        one, other = (_cells(each, model) for each in entry["pair"])
        return Pair(one, other)
    return _cells(entry, model)


def _cells(entry: Mapping[str, Any], model: Model) -> Cells:
    edges, spikes = (tuple(map(float, entry.get(key, ()))) for key in ("edges", "spikes"))
    if any(list(each) != sorted(set(each)) for each in (edges, spikes)):
        raise ValueError("edges or spikes that are not in order")
    return Cells(model.schema.column(entry["column"]), edges, spikes)
