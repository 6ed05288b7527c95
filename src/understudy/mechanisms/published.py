"""θ as it was published: the contents of a release's `parameters.json`, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.base import Model
from understudy.models.record.declared import as_declared


def read_parameters(path: Path) -> dict[str, Any]:
    """Return the contents of a release's `parameters.json`, or refuse what is none."""
    try:
        published = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f"'{path}' does not exist: name the public directory of a release."
        ) from None
    except (OSError, ValueError, RecursionError):
        raise BadInput(f"'{path}' cannot be read as the parameters of a release.") from None
    match published:
        case {"parameters": dict(), "model": dict(), "schema": dict(declared)}:
            schema = Schema.from_dict(declared, source=str(path))
            if published.get("schema_digest") == schema.digest:
                return dict(published)
            raise BadInput(f"the schema in '{path}' does not fit its digest: the file is damaged.")
    raise BadInput(f"'{path}' is not a parameters file of a release.")


def read_anchor(path: str | Path, model: Model) -> dict[str, Any]:
    """Return θ of an earlier release, which must have been made with the same model and schema.

    Args:
        path: The `public` directory of the release, or its `parameters.json`.
        model: The model that it must have been made with.
    """
    theta: dict[str, Any] = _earlier(path, model)["parameters"]
    check_theta(theta, model)
    return theta


def read_draws(path: str | Path, model: Model) -> list[dict[str, Any]]:
    """Return the draws of θ of an earlier release by `summary`, with the same model and schema.

    Args:
        path: The `public` directory of the release, or its `parameters.json`.
        model: The model that it must have been made with.
    """
    draws = _earlier(path, model).get("draws")
    if not isinstance(draws, list) or not draws or not all(isinstance(d, dict) for d in draws):
        raise BadInput(f"'{path}' holds no draws of θ, so what it knew cannot be carried over.")
    for theta in draws:
        check_theta(theta, model)
    return draws


def _earlier(path: str | Path, model: Model) -> dict[str, Any]:
    """Return what an earlier release published, or refuse one that nothing may follow from."""
    place = Path(path)
    if not place.exists():
        raise BadInput(
            f"there is no '{path}' to take an `anchor` from: name the parameters.json of an "
            f"earlier release, or the public directory that it is in."
        )
    published = read_parameters(place / "parameters.json" if place.is_dir() else place)
    stated = published.get("kind") in ("strict", "conditional")
    if not stated or published.get("convergence_waived", True) or published.get("seeded", True):
        raise BadInput(
            f"'{path}' cannot be an anchor: it was not released under a strict or conditional "
            f"guarantee, so it may tell more about its table than any ε allows."
        )
    if published["model"] != model.spec:
        raise BadInput(f"'{path}' was released with another model, so it cannot be an anchor.")
    if published.get("schema_digest") != model.schema.digest:
        raise BadInput(f"'{path}' was released with another schema, so it cannot be an anchor.")
    return published


def check_theta(theta: dict[str, Any], model: Model) -> None:
    """Refuse an anchor that is not a value of the model's parameters."""
    model = as_declared(model)
    try:
        fits = fits_model(theta, model) and np.isfinite(model.unconstrain(theta)).all()
    except (TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise BadInput("the anchor is not a value of the model's parameters.")


def fits_model(theta: Mapping[str, Any], model: Model) -> bool:
    """Whether there is a finite number for each element of the model's parameters, and no more."""
    shapes = {parameter.name: parameter.shape for parameter in model.parameters}
    return theta.keys() == shapes.keys() and all(
        (values := numbers(theta[name])) is not None and values.shape == shape
        for name, shape in shapes.items()
    )


def numbers(value: object) -> np.ndarray | None:
    """Return finite numbers as an array; None for anything else."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biuf":
            return None
        values = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return values if np.isfinite(values).all() else None
