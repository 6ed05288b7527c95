"""Small pictures of one column that need no plotting library: a few bars and their description."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from understudy.report.svg import printable

WIDTH, HEIGHT = 240, 56


def bars(heights: Sequence[float], description: str) -> str:
    """Draw bars side by side, the tallest over the full height, as one inline SVG."""
    tallest = max(heights, default=0.0) or 1.0
    step = WIDTH / max(len(heights), 1)
    outline = "".join(
        f"M{step * k:.2f} {HEIGHT}v{-(HEIGHT - 1) * height / tallest:.2f}"
        f"h{step * 0.92:.2f}V{HEIGHT}z"
        for k, height in enumerate(heights)
        if height > 0
    )
    return (
        f'<svg class="spark" role="img" aria-label="{escape(printable(description))}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT + 1}" preserveAspectRatio="none">'
        f'<path class="bars" d="{outline}"/>'
        f'<path class="axis" d="M0 {HEIGHT + 0.5}h{WIDTH}"/></svg>'
    )
