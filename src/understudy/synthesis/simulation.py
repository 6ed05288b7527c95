"""Rows from a released θ: no confidential value is needed, and none is used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.domain import tables
from understudy.domain.satisfying import check_satisfiable, draw_satisfying
from understudy.domain.schema import Role, Schema
from understudy.domain.skeleton import Skeleton
from understudy.errors import BadInput
from understudy.mechanisms import histogram
from understudy.support.randomness import Source

if TYPE_CHECKING:
    import pandas as pd

    from understudy.domain.tables import Columns
    from understudy.models.base import Model


def simulate(
    published: dict[str, Any],
    predictors: Skeleton,
    source: Source,
    *,
    model: Model | None,
    repaired: Callable[[int], object] = lambda rows: None,
) -> pd.DataFrame:
    """Return a synthetic table from the contents of `parameters.json` and public predictors.

    `repaired` is told how many rows had to be changed to obey the schema's rules, because the model
    would not draw any that do.
    """
    schema = Schema.from_dict(published["schema"])
    # This generator may hide the order of the confidential table, so nothing else is drawn from it:
    # its state could be worked out from what is published.
    public = predictors.drawn(source.generator())
    draw = _drawing(published, source, schema, model)
    if not schema.rules:
        return tables.decode({**public, **draw(public, predictors.rows)}, schema)
    obeying = draw_satisfying(draw, public, predictors.rows, schema)
    repaired(obeying.repaired)
    return tables.decode({**public, **obeying.columns}, schema)


def _drawing(
    published: dict[str, Any],
    source: Source,
    schema: Schema,
    model: Model | None,
) -> Callable[[Columns, int], Columns]:
    """Return what draws confidential columns for public ones and a number of rows."""
    if published["model"] == histogram.SPEC:
        column = histogram.histogram_column(schema)
        counts = np.asarray(published["parameters"]["counts"])
        generator = source.generator()
        return lambda public, rows: {column.name: histogram.draw(counts, column, rows, generator)}
    if model is None:
        raise BadInput("these parameters need a model to simulate from.")
    from understudy._jax import jnp
    from understudy.models.record.declared import as_declared

    simulated = as_declared(model).simulate
    theta = {name: jnp.asarray(value) for name, value in published["parameters"].items()}
    return lambda public, rows: simulated(source.key(), theta, public, rows)


def sample(
    release: str | Path,
    *,
    rows: int,
    predictors: str | Path | None = None,
    model: str | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """Return more rows from a release, at no cost to anybody's privacy.

    `release` is its `public` directory, or one of several parameter files in it.
    """
    from understudy.adapters.loading import rebuild_model
    from understudy.models.record.declared import as_declared

    path = Path(release)
    file = path if path.is_file() else path / "parameters.json"
    published = read_parameters(file)
    schema = Schema.from_dict(published["schema"], source=str(file))
    columns: Columns = {}
    if schema.public:
        # Without other predictors, those of the released table serve: they are published already.
        beside = file.with_name(file.name.replace("parameters", "synthetic")).with_suffix(".csv")
        rows_from = Path(predictors) if predictors is not None else beside
        columns = tables.encode(
            tables.read(rows_from), schema, roles=(Role.PUBLIC,), name=str(rows_from)
        )
    elif predictors is not None:
        raise BadInput("predictors were given, but the release has no public column.")
    plan = Skeleton(columns, rows)
    spec = published["model"]
    built = None if spec == histogram.SPEC else rebuild_model(spec, schema=schema, text=model)
    built = None if built is None else as_declared(built)
    _check_parameters(published["parameters"], built, file)
    check_satisfiable(schema, columns)
    return simulate(published, plan, Source(seed), model=built)


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
        case {"parameters": dict(), "model": dict(), "schema": dict()}:
            return dict(published)
    raise BadInput(f"'{path}' is not a parameters file of a release.")


def read_anchor(path: str | Path, model: Model) -> dict[str, Any]:
    """Return θ of an earlier release, which must have been made with the same model and schema."""
    place = Path(path)
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
    theta: dict[str, Any] = published["parameters"]
    check_theta(theta, model)
    return theta


def check_theta(theta: dict[str, Any], model: Model) -> None:
    """Refuse an anchor that is not a value of the model's parameters."""
    from understudy.models.record.declared import as_declared

    model = as_declared(model)
    try:
        _check_parameters(theta, model, Path("the anchor"))
        place = np.asarray(model.unconstrain(theta))
    except (BadInput, TypeError, ValueError, AttributeError):
        place = np.array([np.nan])
    if not np.isfinite(place).all():
        raise BadInput("the anchor is not a value of the model's parameters.")


def _check_parameters(theta: dict[str, Any], model: Model | None, file: Path) -> None:
    """Refuse parameters that do not fit the model they are said to belong to."""
    damaged = BadInput(f"the parameters in '{file}' do not fit its model: the file is damaged.")
    shapes: dict[str, tuple[int, ...] | None] = {"counts": None}
    if model is not None:
        shapes = {parameter.name: parameter.shape for parameter in model.parameters}
    if theta.keys() != shapes.keys():
        raise damaged
    for name, shape in shapes.items():
        try:
            values = np.asarray(theta[name], dtype=np.float64)
        except (TypeError, ValueError):
            raise damaged from None
        if not np.isfinite(values).all() or (shape is not None and values.shape != shape):
            raise damaged
        if shape is None and (values.ndim != 1 or not values.size or (values < 0).any()):
            raise damaged
