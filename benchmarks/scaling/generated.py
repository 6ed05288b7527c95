"""Tables of any size, drawn a million rows at a time and written as Parquet.

No data is needed: earnings, degrees and ages are drawn from a distribution with the shape of the
Current Population Survey's, and columns of shares from the Beta distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from understudy.domain.schema import Schema

CHUNK = 1_000_000
PREDICTORS, LEVELS = 10, ("a", "b", "c", "d")
DEGREES, GENDERS = ("highschool", "bachelor"), ("female", "male")
_SHARE = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}

Draw = Callable[[np.random.Generator, int], dict[str, pa.Array]]


def write(path: Path, rows: int, draw: Draw, *, seed: int = 0) -> Path:
    """Write a table, and return where it is."""
    generator = np.random.default_rng(seed)
    writer = None
    for start in range(0, rows, CHUNK):
        table = pa.table(draw(generator, min(CHUNK, rows - start)))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return path


def write_parts(folder: Path, rows: int, parts: int, draw: Draw) -> Path:
    """Write a table in a folder of equal files, and return the folder."""
    folder.mkdir()
    for number in range(parts):
        write(folder / f"part-{number:03}.parquet", rows // parts, draw, seed=number)
    return folder


def shares(generator: np.random.Generator, rows: int) -> dict[str, pa.Array]:
    """Draw one column of shares."""
    return {"x": pa.array(generator.beta(0.5, 3, rows))}


def shares_schema(size: int) -> Schema:
    """Return what declares one column of shares."""
    return Schema.from_dict({"table": {"size": size}, "columns": {"x": _SHARE}})


def people(generator: np.random.Generator, rows: int) -> dict[str, pa.Array]:
    """Draw the CPS's four columns: who has a degree, is a man or is older earns more."""
    degree, gender = generator.random(rows) < 0.45, generator.random(rows) < 0.56
    age = generator.integers(25, 35, rows)
    middle = 2.3 + 0.45 * degree + 0.13 * gender + 0.02 * (age - 25)
    earnings = np.minimum(np.exp(generator.normal(middle, 0.47)), 80.0)
    return {
        "earnings": pa.array(earnings),
        "degree": _levels(degree, DEGREES),
        "gender": _levels(gender, GENDERS),
        "age": pa.array(age),
    }


def people_schema(size: int) -> Schema:
    """Return what declares the CPS's columns, all of them confidential."""
    columns: dict[str, dict[str, object]] = {
        "earnings": {"type": "continuous", "bounds": [0, 80]},
        "degree": {"type": "categorical", "levels": list(DEGREES)},
        "gender": {"type": "categorical", "levels": list(GENDERS)},
        "age": {"type": "integer", "bounds": [25, 34]},
    }
    confidential = {name: own | {"role": "confidential"} for name, own in columns.items()}
    return Schema.from_dict({"table": {"size": size}, "columns": confidential})


def predicted(generator: np.random.Generator, rows: int) -> dict[str, pa.Array]:
    """Draw a share whose mean depends on ten columns of four levels."""
    codes = generator.integers(len(LEVELS), size=(PREDICTORS, rows))
    slopes = np.linspace(-0.6, 0.6, PREDICTORS * len(LEVELS)).reshape(PREDICTORS, len(LEVELS))
    linear = sum(own[code] for own, code in zip(slopes, codes, strict=True)) - 1.0
    mean = 1 / (1 + np.exp(-linear))
    columns = {"y": pa.array(generator.beta(8 * mean, 8 * (1 - mean)))}
    return columns | {f"g{k}": _levels(code, LEVELS) for k, code in enumerate(codes)}


def predicted_schema(size: int) -> Schema:
    """Return what declares the share confidential, and its predictors public."""
    public = {"role": "public", "type": "categorical", "levels": list(LEVELS)}
    predictors = {f"g{k}": public for k in range(PREDICTORS)}
    return Schema.from_dict({"table": {"size": size}, "columns": {"y": _SHARE} | predictors})


def _levels(codes: np.ndarray, levels: tuple[str, ...]) -> pa.Array:
    """Return levels by their codes, as text that is stored once."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(levels))
