"""A release as it was published: read from its directory, checked, and its model built again.

Nothing here needs the confidential table, and nothing that a published file says is run as code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.domain.frames import Tabular
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.mechanisms import Mechanism
from understudy.mechanisms.published import read_parameters
from understudy.mechanisms.registry import BY_NAME, without_model
from understudy.models.base import Model
from understudy.synthesis.large import whole
from understudy.synthesis.release import Release

_NUMBERED = re.compile(r"synthetic-(\d+)\.csv")


@dataclass(frozen=True, eq=False)
class Published:
    """What a release published, and what it takes to simulate from it."""

    contents: dict[str, Any]
    """Of `parameters.json`."""
    schema: Schema
    tables: tuple[Tabular, ...]
    """The released tables, or the files that they are in."""
    name: str
    """What to call it."""
    model: Model | None
    """Of a record, as the schema declares it; None where the mechanism needs none."""
    mechanism: type[Mechanism]
    """Which simulates."""


def opened(release: Release | str | Path, model: Model | str | None = None) -> Published:
    """Return a release that can be simulated from, or refuse what is damaged or not enough.

    Args:
        release: A release, the `public` directory of one, or one of several parameter files in it.
        model: The model, where the release does not say enough to build it again.
    """
    from understudy.adapters.loading import rebuild_model
    from understudy.models.record.declared import as_declared

    contents, tables, name = _read(release)
    alone = without_model(contents["model"])
    if alone is not None and model is not None:
        raise BadInput("the release needs no model: leave out `model`.")
    if isinstance(model, str) and "file" not in contents["model"]:
        raise BadInput("the release says itself what its model is: leave out `model`.")
    if model is None and not isinstance(release, str | Path):
        model = getattr(release, "model", None)
    schema = Schema.from_dict(contents["schema"], source=name)
    if alone is not None:
        built = None
    elif model is None or isinstance(model, str):
        built = as_declared(rebuild_model(contents["model"], schema=schema, text=model))
    else:
        built = as_declared(model)
    if schema.public and not isinstance(release, str | Path):
        tables = tuple(map(whole, release.tables))
    mechanism = alone or Mechanism
    if not mechanism.reads(contents["parameters"], built):
        raise BadInput(f"the parameters in '{name}' do not fit its model: the file is damaged.")
    return Published(contents, schema, tables, name, built, mechanism)


def _read(release: Release | str | Path) -> tuple[dict[str, Any], tuple[Tabular, ...], str]:
    """Return what was published, the released tables beside it, and what to call it."""
    if not isinstance(release, str | Path):
        # Of a table that is too large to be held, only public rows would ever be looked at.
        return release.parameters[0], release.tables, "the release"  # type: ignore[return-value]
    path = Path(release)
    file = path if path.is_file() else path / "parameters.json"
    contents = read_parameters(file)
    if str(contents.get("mechanism")) not in BY_NAME:
        raise BadInput(f"'{file}' names no mechanism that is known: the file is damaged.")
    beside = file.with_name(file.name.replace("parameters", "synthetic")).with_suffix(".csv")
    if path.is_file():
        return contents, (beside,), str(file)
    numbered = {int(m[1]): each for each in path.iterdir() if (m := _NUMBERED.fullmatch(each.name))}
    return contents, (beside, *(numbered[k] for k in sorted(numbered))), str(file)
