"""Everything that the simulation leaves in its directory.

index.html              the page
figures/*.svg, *.png    every figure
table-1.csv             counts of truncated and censored records, ours and the paper's
table-supplement.csv    the same without and with downscaling
utility.csv             every statistic of every arm, summarised
illustration.csv        the densities of Figure 1, summarised
results.parquet         every value of every replicate
study.json              what was run
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from understudy.study.arms import COLUMNS, Results
from understudy.study.figures import write_figures
from understudy.study.illustration import write_illustration
from understudy.study.page import RESULTS, SETTINGS, write_index
from understudy.study.tables import write_tables
from understudy.support.files import written_atomically


def write_outputs(results: pd.DataFrame, settings: Mapping[str, object], directory: Path) -> None:
    """Write the results, tables, figures and the page, each file whole or not at all."""
    read = Results(results)
    (directory / "figures").mkdir(parents=True, exist_ok=True)
    with written_atomically(directory / RESULTS) as path:
        results[list(COLUMNS)].to_parquet(path, index=False)
    with written_atomically(directory / SETTINGS) as path:
        path.write_text(json.dumps(dict(settings), indent=2) + "\n", encoding="utf-8")
    write_tables(read, directory)
    write_figures(read, directory / "figures")
    write_illustration(directory)
    write_index(directory)
