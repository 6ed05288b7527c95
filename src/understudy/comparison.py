"""Comparing a synthetic table with the confidential one: for inside eyes only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy import tables
from understudy.files import written_whole
from understudy.schema import Role, Schema
from understudy.utility import CategoricalUtility, Utility, compare

if TYPE_CHECKING:
    import pandas as pd

CONFIDENTIAL = "CONFIDENTIAL: computed from the confidential table; do not publish."


@dataclass(frozen=True)
class Comparison:
    """Utility of a synthetic table, column by column."""

    title: str
    schema: Schema
    confidential: pd.DataFrame
    synthetic: pd.DataFrame
    utility: dict[str, Utility | CategoricalUtility]

    def to_json(self) -> str:
        """Return the measures as JSON that says that it is confidential."""
        measures = {name: measured.to_dict() for name, measured in self.utility.items()}
        return json.dumps({"confidential": True, "utility": measures}, indent=2)

    def to_text(self) -> str:
        """Return the measures as a plain table."""
        lines = [CONFIDENTIAL]
        for name, measured in self.utility.items():
            lines += ["", name]
            if isinstance(measured, Utility):
                lines += [
                    f"  max-ECDF         {measured.max_ecdf:.4f}",
                    f"  avg-ECDF         {measured.avg_ecdf:.6f}",
                    f"  {'':<14} {'confidential':>14} {'synthetic':>14}",
                ]
                real, made = measured.confidential, measured.synthetic
                for label, field in _STATISTICS.items():
                    pair = f"{getattr(real, field):>14,.6g} {getattr(made, field):>14,.6g}"
                    lines.append(f"  {label:<14} {pair}")
            else:
                lines.append(f"  total variation  {measured.total_variation:.4f}")
        return "\n".join(lines)

    def write_page(self, path: Path) -> None:
        """Write the comparison as an HTML page that only its owner can read."""
        from understudy.report.page import render_comparison

        page = render_comparison(
            self.title, self.schema, self.confidential, self.synthetic, self.utility
        )
        with written_whole(path, private=True) as file:
            file.write_text(page, encoding="utf-8")


_STATISTICS = {
    "mean": "mean",
    "median": "median",
    "15th percentile": "q15",
    "90th percentile": "q90",
}


def compare_files(confidential: Path, synthetic: Path, schema: Path) -> Comparison:
    """Read both tables against the schema and measure how close they are."""
    declared = Schema.load(schema)
    roles = (Role.CONFIDENTIAL,)
    real = tables.encode(tables.read(confidential), declared, roles=roles, name=str(confidential))
    made = tables.encode(tables.read(synthetic), declared, roles=roles, name=str(synthetic))
    frames = tables.decode(real, declared), tables.decode(made, declared)
    title = f"{confidential.name} and {synthetic.name}"
    return Comparison(title, declared, *frames, compare(*frames, declared))
