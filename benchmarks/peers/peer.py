"""A synthesiser that cannot live beside `understudy`, run by an interpreter of its own.

    PYTHON peer.py PACKAGE ALGORITHM EPSILON DELTA ROWS DIRECTORY

The directory has `table.csv`, whole-number codes of every column, and `domain.json`, how many codes
each column can have. `synthetic.csv` is written beside them, or `error.txt` with the class of what
went wrong. Nothing of `understudy` is imported. An environment for each, with Python 3.11:

    python3.11 -m venv ENV && ENV/bin/pip install dpmm==0.1.9
    python3.11 -m venv ENV && ENV/bin/pip install smartnoise-synth==1.0.8

The declared domain is handed over, so that neither reads it off the table, and the whole of ε goes
into the synthesis. All other options are at their defaults.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# As a script, it has its own directory on the path and not the one above.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def dpmm(
    table: pd.DataFrame, sizes: dict[str, int], rows: int, algorithm: str, **privacy: float
) -> pd.DataFrame:
    """Run AIM, MST or PrivBayes of dpmm on codes, without its own binning."""
    from dpmm import pipelines

    pipeline = getattr(pipelines, f"{algorithm}Pipeline")(disable_processing=True, **privacy)
    pipeline.fit(table, domain=sizes)
    return pipeline.generate(n_records=rows)


def snsynth(
    table: pd.DataFrame, sizes: dict[str, int], rows: int, algorithm: str, **privacy: float
) -> pd.DataFrame:
    """Run AIM or MST of SmartNoise; rows are drawn from its model as from OpenDP's."""
    import mbi
    import pandas as pd
    from snsynth import Synthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    labels = []
    for name in table:
        label = LabelTransformer(nullable=False)
        label.fit(list(range(sizes[str(name)])))
        labels.append(label)
    mbi.MarkovRandomField.synthetic_data = _drawn
    synthesizer = Synthesizer.create(algorithm, **privacy)
    synthesizer.fit(table, transformer=TableTransformer(labels))
    return pd.DataFrame(synthesizer.sample(rows), columns=table.columns)


def _drawn(model: Any, rows: int | None = None, method: str = "sample") -> Any:
    """Stand in for mbi 1.1.0's own drawing of rows, for the reason that `tools.py` gives."""
    from mbi import Dataset

    from peers.trees import rows_of

    return Dataset(rows_of(model, int(rows or model.total), np.random.default_rng()), model.domain)


def main() -> None:
    """Run what is asked for."""
    package, algorithm, epsilon, delta, rows, directory = sys.argv[1:]
    place = Path(directory)
    try:
        import pandas as pd

        table = pd.read_csv(place / "table.csv")
        sizes = json.loads((place / "domain.json").read_text())
        run = {"dpmm": dpmm, "snsynth": snsynth}[package]
        privacy = {"epsilon": float(epsilon), "delta": float(delta)}
        made = run(table, sizes, int(rows), algorithm, **privacy)
        made[list(table.columns)].to_csv(place / "synthetic.csv", index=False)
    except Exception as error:  # noqa: BLE001 - a tool's failure, of any kind, is a result
        traceback.print_exc()
        (place / "error.txt").write_text(type(error).__name__)


if __name__ == "__main__":
    main()
