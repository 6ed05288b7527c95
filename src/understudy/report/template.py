"""How a page is filled in: everything is escaped, and what a template lacks is an error."""

from __future__ import annotations

from typing import Any


def fill(template: str, **view: Any) -> str:
    """Return the text of a template of this package, filled in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("understudy", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(view)
