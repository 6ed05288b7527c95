"""Pages that the tests of reports and cards render, and a reader that insists on sound HTML."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from understudy.domain.schema import Schema
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind, Weights
from understudy.report import Page
from understudy.report.sections import outcome
from understudy.utility import compare

BANNER = "Confidential: internal use only, do not publish"


HOSTILE = "<script>alert('$x_$')</script> --> ]]> \"&amp;"


VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Collects what the tests ask about, and insists that every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids.update(value for name, value in attrs if name == "id")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def values(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


STRICT = Guarantee(
    mechanism="censor-uw",
    kind=Kind.STRICT,
    asked=Adjacency.REPLACE_ONE,
    epsilon={Adjacency.ADD_REMOVE: 2.5, Adjacency.REPLACE_ONE: 5.0},
    draws=1,
    weights=Weights.NONE,
    sampler="exact",
    assumptions=("The chain has converged.", "The prior is public."),
    seeded=False,
    rows=1601,
)


CONDITIONAL = replace(STRICT, kind=Kind.CONDITIONAL, sampler="nuts")


UNSTATED = replace(STRICT, kind=Kind.ASYMPTOTIC, epsilon=None, mechanism="weighted")


DIAGNOSTICS = {
    "limits": {"rhat": 1.01, "ess_bulk": 400},
    "parameters": {
        "phi": {"mean": 18.9, "sd": 0.61, "rhat": 1.0012, "ess_bulk": 2310.4},
        "lambda": {"mean": 0.181, "sd": 0.002, "rhat": 1.0004, "ess_bulk": 1804.0},
    },
    "lipschitz_bound": 2.5,
    "local_epsilon": 5.0,
    "censored_records": 249,
    "n": 1601,
    "divergences": 0,
    "seconds": 12.34,
}


def page_of(**fields: object) -> Page:
    """Return a page whose records are the rows of its confidential table, unless it says more."""
    table = fields["confidential"]
    own = {"outcome": outcome(fields["schema"], table), "rows": len(table)}  # type: ignore[arg-type]
    return Page(**{**own, **fields})  # type: ignore[arg-type]


def small_page(name: str = "pay", level: str = "x", **changes: object) -> Page:
    schema = Schema.from_dict(
        {
            "table": {"size": 6},
            "columns": {
                name: {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
                "job": {"role": "confidential", "type": "categorical", "levels": [level, "y"]},
            },
        }
    )
    confidential = pd.DataFrame({name: [1.0, 2, 3, 4, 5, 6], "job": [level, level, *"yyyy"]})
    synthetic = pd.DataFrame({name: [2.0, 4, 8], "job": [level, "y", "y"]})
    fields = {
        "title": f"{name} and job",
        "guarantee": STRICT,
        "schema": schema,
        "confidential": confidential,
        "synthetic": synthetic,
        "utility": compare(confidential, synthetic, schema),
        "diagnostics": DIAGNOSTICS,
        "alpha": np.linspace(0, 1, 6),
        "largest_score": np.linspace(0, 3, 6),
        "bound": 2.0,
    }
    return page_of(**{**fields, **changes})


def tiny_page(**changes: object) -> Page:
    """A page with no picture but that of one small column, as it is its words that matter."""
    schema = Schema.from_dict({"columns": {"job": {"role": "confidential", "type": "binary"}}})
    table = pd.DataFrame({"job": ["0", "1", "1"]})
    fields = {
        "title": "job",
        "guarantee": STRICT,
        "schema": schema,
        "confidential": table,
        "synthetic": table,
        "utility": compare(table, table, schema),
        "diagnostics": {},
        "alpha": None,
        "largest_score": None,
        "bound": None,
    }
    return page_of(**{**fields, **changes})


PEOPLE = Schema.from_dict(
    {
        "columns": {
            "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
            "works": {"role": "confidential", "type": "binary", "levels": ["no", "yes"]},
            "sex": {"role": "public", "type": "categorical", "levels": ["F", "M", "X"]},
            "weeks": {"role": "public", "type": "integer", "bounds": [1, 52]},
        }
    }
)


def people(count=200, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], count)
    return pd.DataFrame(
        {
            "pay": np.clip(np.where(sex == "F", 60, 30) + rng.normal(0, 3, count), 0, 100),
            "works": rng.choice(["no", "yes"], count),
            "sex": sex,
            "weeks": rng.integers(1, 53, count),
        }
    )


def sound(html: str) -> Reader:
    """Read a page, and insist that it is well formed and runs and loads nothing."""
    reader = Reader(html)
    assert html.startswith("<!doctype html>")
    assert reader.ids
    assert max(reader.ids.values()) == 1
    assert not reader.tags.keys() & {"script", "link", "img", "iframe", "object", "embed"}
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert not reader.values("src")
    assert all(value.startswith("#") for value in reader.values("href"))
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    return reader
