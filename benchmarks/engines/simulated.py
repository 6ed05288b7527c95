"""A table of thirty columns whose dependences are known, of kinds that no engine is made for alone.

Ten columns of levels are a chain, each equal to the one before it in three rows of five: a tree.
Ten more depend on a class of six that is not in the table, so that every two of them depend on
each other a little: no tree, and no sequence with few parents. Ten are numbers, half of them skewed
and two of them whole, of two normal factors; the first factor is higher in some classes, the second
at some ends of the chain.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from peers.sources import Source
from understudy.domain.schema import Schema

NAME, FILE, ROWS = "simulated 30", "simulated-30.csv", 20_000
_CHAIN, _CLASSES, _SAME = 4, 6, 0.6
_LEVELS = (3, 3, 4, 4, 4, 5, 5, 6, 6, 8)
_CODED = [("chain", [_CHAIN] * 10), ("class", list(_LEVELS))]


def table(seed: int = 0) -> pd.DataFrame:
    """Return the table."""
    random = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    own = random.choice(_CHAIN, ROWS, p=[0.4, 0.3, 0.2, 0.1])
    for k in range(10):
        other = random.choice(_CHAIN, ROWS, p=np.roll([0.4, 0.3, 0.2, 0.1], k))
        own = np.where(random.random(ROWS) < _SAME, own, other) if k else own
        columns[f"chain{k}"] = own.astype(str)
    hidden = random.choice(_CLASSES, ROWS, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    for k, levels in enumerate(_LEVELS):
        shares = random.dirichlet(np.ones(levels), _CLASSES)
        chosen = (random.random(ROWS)[:, None] > np.cumsum(shares, axis=1)[hidden]).sum(axis=1)
        columns[f"class{k}"] = np.minimum(chosen, levels - 1).astype(str)
    factors = random.standard_normal((2, ROWS))
    factors += [0.8 * (hidden % 3 - 1), 0.6 * (own == 0)]
    for k in range(10):
        loading = random.uniform(0.3, 0.9)
        value = loading * factors[k % 2] + np.sqrt(1 - loading**2) * random.standard_normal(ROWS)
        columns[f"number{k}"] = _written(k, value)
    return pd.DataFrame(columns)


def _written(k: int, value: np.ndarray) -> np.ndarray:
    """Return a normal number as its column has it: skewed, whole, or as it is."""
    if k < 5:
        return np.minimum(np.exp(9 + 0.8 * value), 500_000)
    return np.clip(np.rint(40 + 12 * value), 0, 90) if k < 7 else np.clip(value, -6, 6)


def _declared() -> Schema:
    columns: dict[str, dict[str, object]] = {}
    for name, counts in _CODED:
        for k, count in enumerate(counts):
            levels = [str(level) for level in range(count)]
            columns[f"{name}{k}"] = {"type": "categorical", "levels": levels}
    for k in range(10):
        bounds = [0, 500_000] if k < 5 else [0, 90] if k < 7 else [-6, 6]
        columns[f"number{k}"] = {"type": "integer" if k in {5, 6} else "continuous"}
        columns[f"number{k}"] |= {"bounds": bounds}
    every = {name: {"role": "confidential"} | each for name, each in columns.items()}
    return Schema.from_dict({"table": {"size": ROWS}, "columns": every})


def write(place: Path) -> None:
    """Write the table in a directory, unless it is there."""
    if not (place / FILE).is_file():
        table().to_csv(place / FILE, index=False)


SOURCE = Source(name=NAME, schema=_declared(), file=FILE)
