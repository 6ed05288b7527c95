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

    θ of a whole table is about groups of its own, so it comes together with its model.

    Args:
        path: The `public` directory of the release, or its `parameters.json`.
        model: The model that it must have been made with.
    """
    published = _earlier(path, model)
    anchor = anchor_of(published["parameters"], published["model"], model)
    place_of(anchor, model)
    return anchor


def anchor_of(theta: Mapping[str, Any], spec: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return what a release is anchored at: θ, with the model that it belongs to if that differs.

    Args:
        theta: Of an earlier release, by name.
        spec: What that release says of its model.
        model: The model that is to be anchored.
    """
    own = dict(theta)
    return own if spec == model.spec else {"model": dict(spec), "parameters": own}


def place_of(anchor: Mapping[str, Any], model: Model) -> tuple[Model, dict[str, Any]]:
    """Return the model that an anchor's θ belongs to, and that θ; or refuse what is none.

    Args:
        anchor: θ by name, or of a whole table as `anchor_of` returns it.
        model: The model that is to be anchored.
    """
    own, theta = model, dict(anchor)
    if model.in_turn is not None and anchor.keys() == {"model", "parameters"}:
        own, theta = _refined(anchor["model"], model), anchor["parameters"]
    check_theta(theta, own)
    return own, theta


def _refined(spec: object, model: Model) -> Model:
    """Return the model of a whole table with the groups and parents of an earlier release."""
    from understudy.adapters.loading import rebuild_model

    if not isinstance(spec, dict) or not same_columns(spec, model):
        raise BadInput("the anchor is of another model than this one.")
    return rebuild_model(spec, schema=model.schema)


def same_columns(spec: Mapping[str, Any], model: Model) -> bool:
    """Whether a spec is that of the model, or of the same columns in turn in other groups.

    Args:
        spec: What a release says of its model.
        model: The model that it is compared with.
    """
    if spec == model.spec:
        return True
    both = [(each.get("name"), each.get("order")) for each in (spec, model.spec)]
    return model.in_turn is not None and both[0] == both[1]


def read_draws(path: str | Path, model: Model) -> list[dict[str, Any]]:
    """Return the draws of θ of an earlier release by `summary`, with the same model and schema.

    Args:
        path: The `public` directory of the release, or its `parameters.json`.
        model: The model that it must have been made with.
    """
    if model.by_tables:
        raise BadInput(
            "what an earlier release knew is not carried over to a whole table: it has too many "
            "parameters for a normal prior. Use the anchor alone."
        )
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
    if not same_columns(published["model"], model):
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
