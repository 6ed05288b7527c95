"""How every picture looks, and becomes inline SVG: one style, one size, text that stays text.

Several of these live in one page, so every id is made unique to its picture and nothing in one
reaches out of it. The same picture gives the same text, byte for byte.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from understudy.report.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

INK = "#1f2933"
FAINT = "#9aa5b1"
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# The picture is small and its text comparatively large, because the page scales it: up in two
# columns on a screen, down in one column on a phone.
WIDTH, HEIGHT = 5.2, 3.4
LONGEST_NAME = 28

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "understudy",
    # Layout is measured with the font that matplotlib brings along; the reader's own, which is
    # asked for afterwards, is narrower in practice.
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    # Column and level names are text, even with dollar signs in them.
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e7eb",
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "hatch.linewidth": 0.9,
}

_NO_METADATA = dict.fromkeys(["Creator", "Date", "Format", "Type"])
_NOT_XML = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def inline_svg(draw: Callable[[Axes], None], description: str, height: float = HEIGHT) -> str:
    """Let `draw` fill a pair of axes, and return the picture with its description for the blind."""
    import matplotlib.style
    from matplotlib.figure import Figure

    text = io.StringIO()
    with matplotlib.style.context(["default", STYLE]), warnings.catch_warnings():
        # A script that the measuring font lacks is no trouble: the browser draws the text.
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    return _inlined(text.getvalue(), description)


def printable(name: str) -> str:
    """Return a name without the characters that no XML may contain."""
    return _NOT_XML.sub("\ufffd", name)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name, cut where it would leave no room for the picture."""
    name = printable(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"


def numbers_along(axis: Axis, *, percent: bool = False) -> None:
    """Label an axis with few numbers or percentages, written for people."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def write(number: float, _: int) -> str:
        return f"{tick(100 * number)}%" if percent else tick(number)

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(write))


def legend_above(axes: Axes) -> None:
    """Put the legend where it cannot hide anything."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderaxespad=0.2,
        columnspacing=1.4,
        handlelength=1.8,
        handletextpad=0.6,
    )


def _inlined(text: str, description: str) -> str:
    """Return the SVG without namespaces, comments, fixed size or style rules of its own."""
    description = printable(description)
    prefix = "fig" + hashlib.sha256((description + text).encode()).hexdigest()[:10] + "-"
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            "href" if name == _XLINK_HREF else name: _adapted(name, value, prefix)
            for name, value in element.attrib.items()
        }
        # In a page, a style element would apply to the whole page.
        for child in [child for child in element if child.tag.endswith("}style")]:
            element.remove(child)
    for name in ("width", "height", "version"):
        del root.attrib[name]
    root.attrib |= {
        "role": "img",
        "aria-label": description,
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _adapted(name: str, value: str, prefix: str) -> str:
    """Return an attribute's value with the picture's own ids and the reader's own fonts."""
    if name == "id":
        return prefix + value
    if name == _XLINK_HREF:
        return value.replace("#", "#" + prefix)
    if name == "style":
        value = value.replace("'DejaVu Sans'", FONTS)
    return value.replace("url(#", "url(#" + prefix)
