"""Rows from a released θ: no confidential value is needed, and none is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from understudy.domain import tables
from understudy.domain.frames import Tabular
from understudy.domain.satisfying import check_satisfiable, draw_satisfying
from understudy.domain.schema import Schema
from understudy.domain.skeleton import Skeleton
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.mechanisms import Mechanism
from understudy.mechanisms.base import check_balanced
from understudy.mechanisms.registry import without_model
from understudy.models.base import Model
from understudy.support.randomness import Source
from understudy.synthesis.opening import opened
from understudy.synthesis.preparation import public_rows
from understudy.synthesis.release import Release


def simulate(
    published: dict[str, Any],
    skeleton: Skeleton,
    source: Source,
    *,
    model: Model | None,
    balanced: bool = False,
    repaired: Callable[[int], object] = lambda rows: None,
) -> pd.DataFrame:
    """Return a synthetic table from the contents of `parameters.json` and public predictors.

    Rows are independent unless `balanced`. `repaired` is told how many rows had to be changed to
    obey the schema's rules, because the model would not draw any that do.
    """
    schema = Schema.from_dict(published["schema"])
    # This generator may hide the order of the confidential table, so nothing else is drawn from it:
    # its state could be worked out from what is published.
    public = skeleton.drawn(source.generator(), balanced=balanced)
    mechanism = without_model(published["model"]) or Mechanism
    draw = mechanism.simulator(
        published["parameters"], source, schema=schema, model=model, balanced=balanced
    )
    if not schema.rules:
        return tables.decode({**public, **draw(public, skeleton.rows)}, schema)
    satisfying = draw_satisfying(draw, public, skeleton.rows, schema)
    repaired(satisfying.repaired)
    return tables.decode({**public, **satisfying.columns}, schema)


def sample(
    release: Release | str | Path,
    *,
    rows: int,
    predictors: Tabular | None = None,
    model: Model | str | None = None,
    balanced: bool = False,
    seed: int | None = None,
) -> pd.DataFrame:
    """Draw more rows from a release, at no cost to anybody's privacy.

    Args:
        release: A release, the `public` directory of one, or one of several parameter files in it.
        rows: How many rows to draw.
        predictors: Public rows to draw beside; those of the released table by default.
        model: The model, where the release does not say enough to build it again: the model itself,
            or `path/to/file.py:function`. A release that was made in this process knows its own.
        balanced: Draw evenly spread rows (systematic sampling) instead of independent ones: less
            noise in every distribution, but no combining rule and no test that assumes independent
            rows applies to them. Whether the release's own rows are balanced makes no difference.
        seed: Fixes the randomness, for rows that can be had again.

    Returns:
        A table with the columns of the release.
    """
    published = opened(release, model)
    schema, built = published.schema, published.model
    columns: Columns = {}
    if schema.public:
        # Without other predictors, those of the released table serve: they are published already.
        columns = public_rows(published.tables[0] if predictors is None else predictors, schema)
    elif predictors is not None:
        raise BadInput("predictors were given, but the release has no public column.")
    skeleton = Skeleton(columns, rows)
    check_balanced(balanced, schema, built)
    check_satisfiable(schema, columns)
    if built is not None and built.check_public is not None and columns:
        built.check_public(columns)
    return simulate(published.contents, skeleton, Source(seed), model=built, balanced=balanced)
