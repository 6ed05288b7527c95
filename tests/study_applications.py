"""Applications whose verdict is known: the paper's own numbers, some of them changed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd

from understudy.domain.schema import Schema
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.study.application import MECHANISMS, Application, MeasuredTable
from understudy.study.application_sample import Sample
from understudy.study.paper import TABLE_2 as PRINTED

FILES = {"results.json", "table-2.csv", "densities.svg", "densities.png", "section.html"}
KEYS = list(MECHANISMS)

DATA = np.random.default_rng(1).beta(4, 16, 1500) * 5e5
SHIFTS = {"censor-w": 1e3, "weighted": 4e3, "weighted-e": 8e3, "censor-uw": 16e3, "ph": 60e3}
"""Shifted by these, the data's density moves away in the order that the paper sees in its plot."""


def earnings_table():
    """Return a small, invented table in the place of the Current Population Survey."""
    generator = np.random.default_rng(8)
    n = 150
    return pd.DataFrame(
        {
            "year": ["2004"] * (n - 30) + ["1992"] * 30,
            "earnings": np.round(100 * generator.beta(2, 8, n), 2),
            "degree": generator.choice(["bachelor", "highschool"], n),
            "gender": generator.choice(["male", "female"], n),
            "age": generator.integers(25, 35, n),
        }
    )


def sample(**changes):
    schema = Schema.from_dict(
        {"columns": {"salary": {"role": "confidential", "type": "continuous", "bounds": [0, 5e5]}}}
    )
    usual = Sample(
        source="a table <b>",
        statement="What it is & whether it may be shown.",
        size="It has 1500 records; the paper has 1601.",
        table=pd.DataFrame({"salary": DATA}),
        schema=schema,
        formula="salary ~ 1",
        unit="dollars a year",
        comparable=True,
    )
    return replace(usual, **changes)


def measured(key, values):
    mechanism = MECHANISMS[key]
    strict = mechanism.kind is Kind.STRICT
    guarantee = SimpleNamespace(
        kind=mechanism.kind,
        asked=mechanism.adjacency,
        epsilon=dict.fromkeys(Adjacency, 5.0) if strict else None,
    )
    synthetic = np.clip(DATA + SHIFTS.get(key, 5e3), 0, 5e5)
    return MeasuredTable(guarantee=guarantee, values=values, synthetic=synthetic)


def of_the_paper(**changes):
    """Return the application with the paper's numbers, some of them changed by `key=row`."""

    def values(key):
        return {s: row.get(key, row["censor-w"]) for s, row in PRINTED.items()} | changes.get(
            key, {}
        )

    return Application(
        sample=sample(),
        seed=3,
        data={s: PRINTED[s]["data"] for s in ("mean", "median", "q15", "q90")},
        tables={key: measured(key, values(key)) for key in KEYS},
    )
