"""Rows from a released θ: no confidential value is needed, and none is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from understudy.domain import tables
from understudy.domain.frames import Tabular
from understudy.domain.reading import MEMORY
from understudy.domain.satisfying import check_satisfiable, draw_satisfying
from understudy.domain.schema import Role, Schema
from understudy.domain.skeleton import Skeleton
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.mechanisms import Mechanism
from understudy.mechanisms.base import check_balanced
from understudy.mechanisms.registry import without_model
from understudy.models.base import Model
from understudy.support.randomness import Source
from understudy.support.sizes import bytes_of
from understudy.synthesis.large import LargeTable, Synthetic
from understudy.synthesis.opening import Published, opened
from understudy.synthesis.preparation import public_rows
from understudy.synthesis.release import Release

_CELL = 64
"""Bytes that a cell of a synthetic table takes while it is simulated and decoded."""
_CELLS = 1_000_000
"""Cells of a batch: the same for any memory, so that rows for a seed are. Two batches are there at
once, one being written and one being simulated."""


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
    # This generator may hide the order of the confidential table, so nothing else is drawn from it:
    # its state could be worked out from what is published.
    rows = _Rows(published, skeleton, model, balanced=balanced)
    return next(rows.frames(source.generator(), source, skeleton.rows, repaired))


def simulated(
    published: dict[str, Any],
    skeleton: Skeleton,
    source: Source,
    *,
    model: Model | None,
    balanced: bool = False,
    memory: int,
    repaired: Callable[[int], object] = lambda rows: None,
) -> Synthetic:
    """Return the same, as a table that is simulated in batches if it is too large to be held.

    `memory` is what it may take. Batches are balanced each by itself.
    """
    rows = _Rows(published, skeleton, model, balanced=balanced)
    if skeleton.rows * rows.width * _CELL <= memory:
        return simulate(
            published, skeleton, source, model=model, balanced=balanced, repaired=repaired
        )
    # What hides an order keeps its own strength; the rest hides nothing.
    generator, seed = source.generator(), int(source.generator().integers(2**62))
    batch = max(_CELLS // rows.width, 1)

    def frames() -> Iterator[pd.DataFrame]:
        return rows.frames(deepcopy(generator), Source(seed), batch)

    return LargeTable(skeleton.rows, frames)


class _Rows:
    """What rows are simulated from."""

    def __init__(
        self,
        published: dict[str, Any],
        skeleton: Skeleton,
        model: Model | None,
        *,
        balanced: bool,
    ) -> None:
        self.published, self.skeleton = published, skeleton
        self.model, self.balanced = model, balanced
        self.schema = Schema.from_dict(published["schema"])
        self.width = len(self.schema.having(Role.CONFIDENTIAL, Role.PUBLIC))

    def frames(
        self,
        generator: np.random.Generator,
        source: Source,
        batch: int,
        repaired: Callable[[int], object] = lambda rows: None,
    ) -> Iterator[pd.DataFrame]:
        """Yield so many rows at a time, beside public ones that the generator chooses."""
        mechanism = without_model(self.published["model"]) or Mechanism
        draw = mechanism.simulator(
            self.published["parameters"],
            source,
            schema=self.schema,
            model=self.model,
            balanced=self.balanced,
        )
        chosen = self.skeleton.in_batches(generator, batch, balanced=self.balanced)
        left = self.skeleton.rows
        for public in chosen:
            rows, left = min(batch, left), left - batch
            if not self.schema.rules:
                yield tables.decode({**public, **draw(public, rows)}, self.schema)
                continue
            satisfying = draw_satisfying(draw, public, rows, self.schema)
            repaired(satisfying.repaired)
            yield tables.decode({**public, **satisfying.columns}, self.schema)


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
    published, skeleton = _asked(release, rows, predictors, model, balanced=balanced)
    return simulate(
        published.contents, skeleton, Source(seed), model=published.model, balanced=balanced
    )


def sample_large(
    release: Release | str | Path,
    *,
    rows: int,
    predictors: Tabular | None = None,
    model: Model | str | None = None,
    balanced: bool = False,
    seed: int | None = None,
    memory: int | str = MEMORY,
) -> Synthetic:
    """Draw the same rows as `sample`, in batches if there are more than `memory` can hold.

    Args:
        release: As in `sample`.
        rows: How many rows to draw.
        predictors: Public rows to draw beside.
        model: Where the release does not say enough to build it again.
        balanced: Draw evenly spread rows, where there are batches in each by itself.
        seed: Fixes the randomness.
        memory: What rows may take that are held, such as `1GiB`.
    """
    published, skeleton = _asked(release, rows, predictors, model, balanced=balanced)
    return simulated(
        published.contents,
        skeleton,
        Source(seed),
        model=published.model,
        balanced=balanced,
        memory=bytes_of(memory),
    )


def _asked(
    release: Release | str | Path,
    rows: int,
    predictors: Tabular | None,
    model: Model | str | None,
    *,
    balanced: bool,
) -> tuple[Published, Skeleton]:
    """Return a release with the public rows that were asked for, or refuse what cannot be."""
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
    return published, skeleton
