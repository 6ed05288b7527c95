"""Checks a built site: every link and anchor leads somewhere, and nothing is loaded from elsewhere.

python scripts/check_site.py site
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//|^(?!data:|mailto:)[a-z][a-z+.-]*:", re.I)
_STYLE = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
_LOADED = {
    "script",
    "img",
    "link",
    "iframe",
    "source",
    "video",
    "audio",
    "object",
    "embed",
    "image",
    "use",
}
_ADDRESSES = ("href", "src", "data", "poster", "xlink:href")


@dataclass
class _Reader(HTMLParser):
    """Collects what a page links to, what it loads, and what can be linked to in it."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take notice of an element."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in _ADDRESSES and value is not None:
                (self.loaded if tag in _LOADED else self.links).append(value)
            elif name == "srcset" and value:
                self.loaded += [each.split()[0] for each in value.split(",")]
            elif name == "style" and value:
                self.loaded += _in_style(value)


@cache
def _read(page: Path) -> _Reader:
    reader = _Reader()
    reader.feed(page.read_text("utf-8"))
    return reader


def _in_style(text: str) -> list[str]:
    return [first or second for first, second in _STYLE.findall(text)]


def problems(site: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong."""
    if not (site / "index.html").is_file():
        yield f"{site} has no start page."
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.svg")]):
        reader, name = _read(page), page.relative_to(site)
        for address in reader.loaded:
            if _ELSEWHERE.match(address):
                yield f"{name} loads {address} from elsewhere."
        for address in reader.links + reader.loaded:
            if not _ELSEWHERE.match(address) and not address.startswith(("data:", "mailto:")):
                yield from (f"{name} links to {address}: {why}" for why in _broken(page, address))
    for sheet in sorted(site.rglob("*.css")):
        for address in _in_style(sheet.read_text("utf-8")):
            if _ELSEWHERE.match(address):
                yield f"{sheet.relative_to(site)} loads {address} from elsewhere."


def _broken(page: Path, address: str) -> Iterator[str]:
    parts = urlsplit(address)
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if not target.is_file():
        yield "there is no such file."
    elif parts.fragment and target.suffix == ".html" and not _has(target, parts.fragment):
        yield "there is no such place on the page."


def _has(page: Path, anchor: str) -> bool:
    return unquote(anchor) in _read(page).anchors


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "Every link leads somewhere, and nothing is loaded from elsewhere.")
    sys.exit(bool(found))
