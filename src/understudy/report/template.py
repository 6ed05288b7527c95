"""How a page is filled in: everything is escaped, and what a template lacks is an error."""

from __future__ import annotations

from typing import Any

_FOLDERS = ("report", "periods/calibration", "study")


def fill(template: str, **view: Any) -> str:
    """Return the text of a template of this package, filled in."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("understudy", folder) for folder in _FOLDERS]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["tied"] = _tied
    return environment.get_template(template).render(view)


def _tied(text: str) -> str:
    """Keep the two sides of an equation on one line."""
    return text.replace(" = ", "\u00a0=\u00a0")
