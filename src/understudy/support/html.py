"""What notebooks show of a value: plain tables, in which every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def html_table(rows: Iterable[Iterable[object]], *, header: tuple[object, ...] = ()) -> str:
    """Return a table of texts; without a header, the first cell of a row says what the row is."""
    lines = ["".join(_cell("th", text) for text in header)] if header else []
    for first, *others in rows:
        cells = [_cell("td" if header else "th", first), *(_cell("td", text) for text in others)]
        lines.append("".join(cells))
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def paragraph(text: str) -> str:
    """Return a text as a paragraph."""
    return f"<p>{escape(text)}</p>"


def bullets(texts: Iterable[str]) -> str:
    """Return texts as a list."""
    return f"<ul>{''.join(_cell('li', text) for text in texts)}</ul>"


def _cell(tag: str, text: object) -> str:
    return f"<{tag}>{escape(str(text))}</{tag}>"
