"""Rows from a released θ: no confidential value is needed, and none is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy import histogram, tables
from understudy.errors import BadInput
from understudy.predictors import Predictors
from understudy.randomness import Source
from understudy.schema import Role, Schema

if TYPE_CHECKING:
    import pandas as pd

    from understudy.models.base import Model
    from understudy.tables import Columns


def simulate(
    published: dict[str, Any], predictors: Predictors, source: Source, *, model: Model | None
) -> pd.DataFrame:
    """Return a synthetic table from the contents of `parameters.json` and public predictors."""
    schema = Schema.from_dict(published["schema"])
    theta = published["parameters"]
    generator = source.generator()
    public = predictors.drawn(generator)
    if published["model"] == histogram.SPEC:
        column = histogram.histogram_column(schema)
        counts = np.asarray(theta["counts"])
        simulated = {column.name: histogram.draw(counts, column, predictors.rows, generator)}
    else:
        simulated = _simulate_model(model, theta, public, predictors.rows, source)
    return tables.decode({**public, **simulated}, schema)


def _simulate_model(
    model: Model | None, theta: dict[str, Any], public: Columns, rows: int, source: Source
) -> Columns:
    from understudy._jax import jnp

    if model is None:
        raise BadInput("these parameters need a model to simulate from.")
    return model.simulate(
        source.key(), {name: jnp.asarray(value) for name, value in theta.items()}, public, rows
    )


def sample(
    public: str | Path,
    *,
    rows: int,
    predictors: str | Path | None = None,
    model: str | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """Return more rows from a release's `public` directory, at no cost to anybody's privacy."""
    from understudy.loading import rebuild_model

    directory = Path(public)
    published = _read_parameters(directory / "parameters.json")
    schema = Schema.from_dict(published["schema"], source=str(directory / "parameters.json"))
    columns: Columns = {}
    if schema.public:
        # Without other predictors, those of the released table serve: they are published already.
        file = Path(predictors) if predictors is not None else directory / "synthetic.csv"
        columns = tables.encode(tables.read(file), schema, roles=(Role.PUBLIC,), name=str(file))
    elif predictors is not None:
        raise BadInput("predictors were given, but the release has no public column.")
    spec = published["model"]
    built = None if spec == histogram.SPEC else rebuild_model(spec, schema=schema, text=model)
    return simulate(published, Predictors(columns, rows), Source(seed), model=built)


def _read_parameters(path: Path) -> dict[str, Any]:
    try:
        published = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f"'{path}' does not exist: name the public directory of a release."
        ) from None
    except (OSError, ValueError):
        raise BadInput(f"'{path}' cannot be read as the parameters of a release.") from None
    if not isinstance(published, dict) or not {"parameters", "model", "schema"} <= set(published):
        raise BadInput(f"'{path}' is not a parameters file of a release.")
    return published
