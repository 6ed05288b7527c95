"""The utility of a whole table: which columns count, what is refused, and how it is told."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from command_line import cells
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.utility import as_population, compare, measure_pairs, measure_table
from understudy.utility.propensity import measure_propensity
from understudy.utility.table import notebook

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
            "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"]},
            "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
            "id": {"role": "ignore"},
        }
    }
)


def sample(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "pay": rng.uniform(0, 9, n),
            "job": rng.choice(["x", "y"], n),
            "age": rng.integers(0, 100, n),
        }
    )


def test_a_table_has_the_measures_of_its_parts():
    ours, theirs = sample(0, 120).assign(id=range(120)), sample(1, 80)
    found = measure_table(ours, theirs, SCHEMA, regression="pay ~ job + age")
    columns = [SCHEMA.column(name) for name in ("pay", "job", "age")]
    assert found.columns == compare(ours, theirs, SCHEMA)
    assert found.pairs == measure_pairs(ours, theirs, columns)
    assert found.propensity == measure_propensity(ours, theirs, columns)
    assert found.regression is not None
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(written) == ["utility", "pairs", "propensity", "regression"]


def test_the_headlines_are_the_measures_themselves():
    found = measure_table(sample(2, 50), sample(3, 50), SCHEMA, regression="pay ~ age")
    distances = [pair.total_variation for pair in found.pairs]
    assert found.headlines() == {
        "pay: max-ECDF": found.columns["pay"].max_ecdf,
        "job: total variation": found.columns["job"].total_variation,
        "pairs: mean total variation": pytest.approx(np.mean(distances)),
        "pairs: largest total variation": max(distances),
        "propensity: pMSE ratio": found.propensity.ratio,
        "regression: mean overlap": found.regression.mean_overlap,
    }


def test_a_public_column_that_one_table_lacks_is_left_out():
    found = measure_table(sample(4, 50), sample(5, 50)[["pay", "job"]], SCHEMA)
    assert [pair.columns for pair in found.pairs] == [("pay", "job")]
    assert found.regression is None
    with pytest.raises(BadInput, match="names 'age'"):
        measure_table(sample(4, 50), sample(5, 50)[["pay"]].assign(job="x"), SCHEMA,
                      regression="pay ~ age")  # fmt: skip


def test_a_single_column_has_no_pairs():
    schema = Schema.from_dict({"columns": {"pay": SCHEMA.column("pay").to_dict()}})
    found = measure_table(sample(6, 50)[["pay"]], sample(7, 50)[["pay"]], schema)
    assert found.pairs == ()
    assert list(found.headlines()) == ["pay: max-ECDF", "propensity: pMSE ratio"]


def test_text_is_read_as_the_schema_declares_it():
    ours, theirs = sample(8, 50), sample(9, 50)
    text = ours.astype({"pay": str, "age": str})
    assert measure_table(text, theirs, SCHEMA) == measure_table(ours, theirs, SCHEMA)


def test_a_table_that_does_not_fit_the_schema_is_refused_by_its_name():
    beyond = sample(10, 5).assign(pay=[1, 2, 3, 4, 99.5])
    with pytest.raises(BadInput, match="row 5 of column 'pay' of the synthetic table") as refusal:
        measure_table(sample(11, 5), beyond, SCHEMA)
    assert "99.5" not in str(refusal.value)
    with pytest.raises(BadInput, match="the confidential table has no column 'job'"):
        measure_table(sample(12, 5)[["pay"]], sample(13, 5), SCHEMA)


def test_a_weighted_table_is_compared_as_the_population_that_it_stands_for():
    columns = {
        "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 9]},
        "w": {"role": "survey-weight", "bounds": [0, 100], "average": 1},
    }
    schema = Schema.from_dict({"columns": columns})
    survey = pd.DataFrame({"pay": [1.0, 2.0, 3.0], "w": [1.0, 2.0, 7.0]})
    everybody = pd.DataFrame({"pay": np.repeat([1.0, 2.0, 3.0], [1, 2, 7])})
    found = measure_table(survey, everybody, schema)
    assert found.columns["pay"].max_ecdf == 0
    coded = {"pay": survey["pay"].to_numpy(), "w": survey["w"].to_numpy()}
    values, counts = np.unique(as_population(coded, schema)["pay"], return_counts=True)
    assert dict(zip(values, counts, strict=True)) == {1.0: 3, 2.0: 6, 3.0: 21}


TOLD_COLUMNS = {
    "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 9], "missing": "model"},
    "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"]},
    "age": {"role": "public", "type": "integer", "bounds": [0, 99]},
}
TOLD = Schema.from_dict({"columns": TOLD_COLUMNS})


@pytest.fixture(scope="module")
def utility():
    rng = np.random.default_rng(0)
    made = [
        pd.DataFrame(
            {
                "pay": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 9, n)),
                "job": rng.choice(["x", "y"], n),
                "age": rng.integers(0, 100, n),
            }
        )
        for n in (90, 60)
    ]
    return measure_table(*made, TOLD, regression="pay ~ job")


def test_the_text_holds_the_measures_under_a_line_that_says_who_may_read_them(utility):
    text = utility.to_text()
    assert text.startswith("CONFIDENTIAL: computed from the confidential table; do not publish.\n")
    pay, job = utility.columns["pay"], utility.columns["job"]
    for told in (
        f"max-ECDF         {pay.max_ecdf:.4f}",
        f"avg-ECDF         {pay.avg_ecdf:.6f}",
        f"total variation  {job.total_variation:.4f}",
        f"pMSE             {utility.propensity.pmse:.6f}, {utility.propensity.ratio:.2f} times",
    ):
        assert told in text
    (statistics,) = re.findall(r"90th percentile +(\S+) +(\S+)", text)
    both = pay.confidential.q90, pay.synthetic.q90
    assert [float(cell) for cell in statistics] == pytest.approx(both, rel=1e-5)
    (missing,) = re.findall(r"missing +(\S+)% +(\S+)%", text)
    shares = 100 * pay.missing.confidential, 100 * pay.missing.synthetic
    assert [float(cell) for cell in missing] == pytest.approx(shares, abs=0.005)
    (slope,) = re.findall(r"job\[T.y\] +(\S+) +(\S+)", text)
    coefficient = utility.regression.coefficients[1]
    both = coefficient.confidential.value, coefficient.synthetic.value
    assert [float(cell) for cell in slope] == pytest.approx(both, rel=1e-5)


def test_pairs_come_furthest_apart_first(utility):
    told = re.findall(r"(\w+ × \w+) +(\d\.\d{4}) +\d\.\d{4}", utility.to_text())
    distances = {" × ".join(pair.columns): pair.total_variation for pair in utility.pairs}
    assert [name for name, _ in told] == sorted(distances, key=lambda name: -distances[name])


def test_numbers_stand_below_each_other_whatever_the_columns_are_called():
    long, wide = "pay_before_taxes_and_after_transfers", "職業"
    schema = Schema.from_dict({"columns": {long: TOLD_COLUMNS["pay"], wide: TOLD_COLUMNS["job"]}})
    rng = np.random.default_rng(1)
    one, other = (
        pd.DataFrame({long: rng.uniform(0, 9, 80), wide: rng.choice(["x", "y"], 80)})
        for _ in range(2)
    )
    text = measure_table(one, other, schema, regression=f"{long} ~ {wide}").to_text()
    blocks = [block.splitlines()[1:] for block in text.split("\n\n")]
    (pairs,) = (lines for lines in blocks if any(f"{long} × {wide}" in line for line in lines))
    (regression,) = (lines for lines in blocks if any(f"{wide}[T.y]" in line for line in lines))
    for lines in (pairs, regression):
        assert len(set(map(cells, lines))) == 1


def test_a_notebook_shows_what_was_measured_and_no_number(utility):
    html = utility._repr_html_()
    for told in ("pay, job", "pay ~ job", "max-ECDF", "pMSE", "to_text()", "confidential"):
        assert told in html
    assert not any(character.isdigit() for character in html)
    assert repr(utility) == "<TableUtility: confidential, stays inside>"


def test_names_in_a_notebook_are_shown_and_never_obeyed():
    html = notebook("<script>", {"<b>": "a & b"})
    assert "<script>" not in html
    assert "<b>" not in html
    assert "a &amp; b" in html


def test_dates_and_numbers_among_codes_are_compared_as_numbers():
    codes = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
    schema = Schema.from_dict(
        {
            "columns": {
                "born": {
                    "role": "confidential", "type": "date", "bounds": ["1970-01-01", "1979-12-31"],
                },
                "pay": {"role": "confidential", "type": "integer", "bounds": [0, 99], **codes},
                "job": {
                    "role": "confidential", "type": "categorical", "levels": ["x", "y"], **codes,
                },
            }
        }
    )  # fmt: skip
    frame = pd.DataFrame(
        {
            "born": ["1970-01-01", "1970-01-03", "1971-01-03", "1970-01-09"],
            "pay": ["5", "N", "7", "B"],
            "job": ["N", "x", "y", "B"],
        }
    )
    utility = measure_table(frame, frame, schema)
    assert utility.columns["born"].max_ecdf == 0
    assert utility.columns["pay"].confidential.mean == 6
    assert utility.columns["pay"].missing.confidential == 0.5
    assert utility.columns["job"].confidential == {"x": 0.5, "y": 0.5}
    other = measure_table(frame, frame.assign(pay=["9", "N", "9", "B"]), schema)
    assert other.columns["pay"].max_ecdf == 1
