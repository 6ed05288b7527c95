"""Applications whose verdict is known: the paper's own numbers, some of them changed."""

from dataclasses import replace

import numpy as np
import pandas as pd

from understudy.domain.schema import Schema
from understudy.privacy.guarantee import Adjacency, Kind
from understudy.study.application import BEYOND, PAPER, Application, MeasuredTable
from understudy.study.application_claims import paper_values
from understudy.study.application_sample import Sample
from understudy.study.paper import TABLE_2

FILES = {"results.json", "table-2.csv", "densities.svg", "densities.png", "section.html"}
KEYS = [each.key for each in (*PAPER, *BEYOND)]
PRINTED = {statistic: paper_values(statistic) for statistic in TABLE_2}

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


def measured(synthesiser, values):
    mechanism = synthesiser.mechanism
    strict = mechanism.kind is Kind.STRICT
    return MeasuredTable(
        key=synthesiser.key,
        label=synthesiser.label,
        kind=mechanism.kind,
        asked=mechanism.adjacency,
        guaranteed=dict.fromkeys(Adjacency, 5.0) if strict else None,
        values=values,
        synthetic=np.clip(DATA + SHIFTS.get(synthesiser.key, 5e3), 0, 5e5),
    )


def of_the_paper(**changes):
    """Return the application with the paper's numbers, some of them changed by `key=row`."""
    beyond = {statistic: row["censor-w"] for statistic, row in PRINTED.items()}
    return Application(
        sample=sample(),
        seed=3,
        data={s: PRINTED[s]["data"] for s in ("mean", "median", "q15", "q90")},
        paper=tuple(
            measured(
                each, {s: row[each.key] for s, row in PRINTED.items()} | changes.get(each.key, {})
            )
            for each in PAPER
        ),
        beyond=tuple(measured(each, beyond | changes.get(each.key, {})) for each in BEYOND),
    )
