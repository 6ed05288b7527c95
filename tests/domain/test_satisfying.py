"""Synthetic rows obey the rules, and are otherwise drawn from the model."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import understudy as us
from understudy.domain.rules import holds
from understudy.domain.satisfying import _TRIES, check_satisfiable, draw_satisfying
from understudy.domain.schema import Schema

NUMBERS = {
    "age": {"role": "public", "type": "integer", "bounds": [20, 80]},
    "first": {"role": "confidential", "type": "continuous", "bounds": [10, 80]},
    "total": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
    "part": {"role": "confidential", "type": "continuous", "bounds": [0, 80]},
}
ORDER, SUM = {"then": "first <= age"}, {"then": "total == part + first"}
ROWS = 4000
QUICK = us.Anchored(epsilon=1.0, stages=1, candidates=256)
AGES = {"age": np.repeat([30.0, 50.0, 70.0, 80.0], ROWS // 4)}


def schema_with(*rules):
    return Schema.from_dict({"columns": NUMBERS, "rules": list(rules)})


def drawing(seed, low=10.0):
    generator = np.random.default_rng(seed)

    def draw(public, rows):
        return {
            "first": generator.uniform(low, 80, rows),
            "total": generator.uniform(0, 100, rows),
            "part": generator.uniform(0, 80, rows),
        }

    return draw


def test_every_row_obeys_and_keeps_its_own_public_values():
    found = draw_satisfying(drawing(1), AGES, ROWS, schema_with(ORDER, SUM))
    assert np.all(found.columns["first"] <= AGES["age"])
    assert np.array_equal(found.columns["total"], found.columns["part"] + found.columns["first"])
    assert np.all(found.columns["total"] <= 100), "a sum beyond its bounds is drawn again"
    assert found.repaired == 0


def test_rows_follow_the_model_given_that_the_rules_hold():
    """For each age, the first job is uniform up to it: plain rejection, row by row."""
    found = draw_satisfying(drawing(2), AGES, ROWS, schema_with(ORDER)).columns
    for age in (30, 50, 70, 80):
        ranks = (found["first"][AGES["age"] == age] - 10) / (age - 10)
        assert scipy.stats.kstest(ranks, "uniform").pvalue > 0.001
    assert scipy.stats.kstest(found["total"] / 100, "uniform").pvalue > 0.001


def test_a_model_that_never_obeys_is_moved_onto_the_limit_and_the_rows_are_counted():
    tries = []

    def draw(public, rows):
        tries.append(rows)
        return drawing(3, low=75.0)(public, rows)

    found = draw_satisfying(draw, AGES, ROWS, schema_with(ORDER))
    young = AGES["age"] < 75
    assert found.repaired == young.sum()
    assert np.array_equal(found.columns["first"][young], AGES["age"][young])
    assert sum(tries) >= _TRIES * ROWS


def test_where_moving_does_not_help_a_point_of_the_domain_does():
    schema = schema_with({"then": "first < 20 or first > 79.5"})
    found = draw_satisfying(
        lambda public, rows: {"first": np.full(rows, 50.0)}, {"age": np.full(5, 30.0)}, 5, schema
    )
    assert found.repaired == 5
    first = found.columns["first"]
    assert np.all((first < 20) | (first > 79.5))


def test_missing_values_are_left_missing_and_do_not_count_as_offences():
    layout = {"columns": NUMBERS | {"first": NUMBERS["first"] | {"missing": "model"}}}
    schema = Schema.from_dict(layout | {"rules": [ORDER]})

    def draw(public, rows):
        return {"first": np.where(np.arange(rows) % 2, np.nan, 40.0)}

    found = draw_satisfying(draw, {"age": np.full(6, 50.0)}, 6, schema)
    assert np.array_equal(np.isnan(found.columns["first"]), np.arange(6) % 2 == 1)


def test_rules_that_contradict_each_other_are_refused_before_anything_is_drawn():
    torn = schema_with({"if": "age > 40", "then": "first < 20"}, {"then": "first > 30"})
    check_satisfiable(torn, {"age": np.array([25.0, 40.0])})
    with pytest.raises(us.BadInput, match="beside the public values in row 3"):
        check_satisfiable(torn, {"age": np.array([25.0, 40.0, 41.0, 80.0])})
    alone = {"columns": {"first": NUMBERS["first"]}}
    wrong = [{"then": "first == 20"}, {"then": "first == 30"}]
    with pytest.raises(us.BadInput, match="do they contradict each other"):
        check_satisfiable(Schema.from_dict(alone | {"rules": wrong}), {})


class TestSynthesis:
    """From a schema with rules to files that obey them."""

    SCHEMA = Schema.from_dict(
        {
            "table": {"size": 400},
            "columns": {
                "employed": {"role": "public", "type": "categorical", "levels": ["yes", "no"]},
                "floor": {"role": "public", "type": "continuous", "bounds": [0, 10]},
                "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
            },
            "rules": [
                {"if": "employed == 'no'", "then": "pay == 0"},
                {"if": "employed == 'yes'", "then": "pay >= floor and pay > 0"},
            ],
        }
    )
    MODEL = us.formula("pay ~ floor", family="beta", schema=SCHEMA)

    @staticmethod
    def table(rows=400):
        generator = np.random.default_rng(8)
        idle, floor = generator.random(rows) < 0.3, generator.uniform(0, 10, rows)
        pay = np.where(idle, 0.0, floor + (100 - floor) * generator.beta(2, 5, rows))
        return pd.DataFrame({"employed": np.where(idle, "no", "yes"), "floor": floor, "pay": pay})

    @staticmethod
    def broken(frame):
        idle = frame["employed"] == "no"
        return (idle & (frame["pay"] != 0)) | (~idle & (frame["pay"] < frame["floor"]))

    def test_rules_hold_in_every_row_of_a_release_and_in_more_rows_from_it(self, tmp_path):
        release = us.synthesize(self.MODEL, self.table(), QUICK, seed=1)
        release.write(tmp_path / "out")
        more = us.sample(tmp_path / "out/public", rows=3000, seed=4)
        for frame in (release.synthetic, more):
            assert not self.broken(frame).any()
            assert (frame["employed"] == "no").mean() == pytest.approx(0.3, abs=0.06)
        assert release.internal.diagnostics["repaired_rows"] == [0]
        published = json.loads((tmp_path / "out/public/parameters.json").read_text())
        assert published["schema"]["rules"][0]["then"] == "pay == 0"

    def test_fixed_values_do_not_count_in_the_likelihood(self):
        """Three in ten salaries are exactly 0, where a Beta density is infinite."""
        from understudy._jax import jax
        from understudy.domain.tables import encode
        from understudy.models.record.declared import as_declared

        columns = encode(self.table(), self.SCHEMA)
        z = self.MODEL.starting_points(jax.random.key(0), 1)[0]
        theta = self.MODEL.constrain(z)
        plain = np.asarray(jax.jit(self.MODEL.record_loglik)(theta, self.MODEL.prepare(columns)))
        model = as_declared(self.MODEL)
        ours = np.asarray(jax.jit(model.record_loglik)(theta, model.prepare(columns)))
        idle = columns["employed"] == 1
        assert np.all(ours[idle] == 0)
        assert not np.isfinite(plain[idle]).any()
        assert np.array_equal(ours[~idle], plain[~idle])

    def test_a_table_that_breaks_a_rule_is_refused_without_its_values(self):
        table = self.table()
        row = int(np.flatnonzero(table["employed"] == "no")[0])
        table.loc[row, "pay"] = 77.125
        with pytest.raises(us.BadInput, match=f"row {row + 1} of the table breaks rule 1") as no:
            us.synthesize(self.MODEL, table, us.Anchored(epsilon=1.0), seed=1)
        assert "77.125" not in str(no.value)

    def test_predictors_beside_which_no_row_obeys_are_refused_before_the_budget_is_charged(
        self, tmp_path
    ):
        layout = self.SCHEMA.to_dict()
        layout["rules"].append({"if": "floor > 9", "then": "employed == 'no'"})
        layout["columns"]["floor"]["bounds"] = [0, 10]
        schema = Schema.from_dict(layout)
        table = self.table()
        table = table[(table["floor"] <= 9) | (table["employed"] == "no")]
        model = us.formula("pay ~ floor", family="beta", schema=schema)
        ledger = us.Ledger.create(tmp_path / "ledger.db", budget=1.0, adjacency="add-remove")
        others = pd.DataFrame({"employed": ["yes", "yes"], "floor": [3.0, 9.5]})
        with pytest.raises(us.BadInput, match="beside the public values in row 2"):
            us.synthesize(
                model, table, us.Anchored(epsilon=1.0), predictors=others,
                ledger=tmp_path / "ledger.db",
            )  # fmt: skip
        assert len(ledger.entries()) == 0

    def test_histograms_obey_too(self):
        release = us.synthesize(
            self.SCHEMA, self.table(), us.PerturbedHistogram(epsilon=1.0), seed=1
        )
        assert not self.broken(release.synthetic).any()

    @pytest.mark.parametrize(
        "rule",
        [
            "__import__('os').system('touch owned') == pay",
            "pay == pay.__class__",
            "(" * 3000 + "pay" + ")" * 3000 + " == 1",
        ],
    )
    def test_a_published_rule_is_data_and_never_code(self, tmp_path, rule):
        release = us.synthesize(self.MODEL, self.table(), QUICK, seed=1)
        contents = dict(release.parameters[0])
        contents["schema"] = contents["schema"] | {"rules": [{"then": rule}]}
        (tmp_path / "parameters.json").write_text(json.dumps(contents))
        with pytest.raises(us.BadInput, match="the rule then"):
            us.sample(tmp_path, rows=5, predictors=tmp_path / "none.csv")


CODES = {"missing": "model", "codes": {"N": "does not apply", "B": "refused"}}
CODED = {
    "age": {"role": "public", "type": "integer", "bounds": [0, 80]},
    "pay": {"role": "confidential", "type": "integer", "bounds": [0, 99], **CODES},
    "job": {"role": "confidential", "type": "categorical", "levels": ["x", "y"], **CODES},
}
CHILD = {"if": "age < 15", "then": "pay == 'N' and job == 'N'"}
ADULT = {"if": "age >= 15", "then": "pay != 'N' and job != 'N'"}
PEOPLE = {"age": np.repeat([5.0, 14.0, 15.0, 60.0], ROWS // 4)}


def coded_with(*rules):
    return Schema.from_dict({"columns": CODED, "rules": list(rules)})


@pytest.mark.parametrize("companion", [False, True])
def test_codes_hold_exactly_in_every_row(companion):
    generator = np.random.default_rng(4)

    def draw(public, rows):
        pay = generator.uniform(0, 99, rows)
        pay[generator.random(rows) < 0.5] = np.nan
        why = {"pay (why missing)": generator.integers(2, size=rows)} if companion else {}
        return {"pay": pay, **why, "job": generator.integers(-2, 2, size=rows)}

    found = draw_satisfying(draw, PEOPLE, ROWS, coded_with(CHILD, ADULT))
    child, columns = PEOPLE["age"] < 15, found.columns
    assert found.repaired == 0
    assert np.isnan(columns["pay"][child]).all()
    assert (columns["pay (why missing)"][child] == 0).all()
    assert (columns["job"][child] == -1).all()
    assert not (columns["pay (why missing)"][~child] == 0).any()
    assert not (columns["job"][~child] == -1).any()
    # Values and the other reason are drawn by the model as before.
    refused = columns["pay (why missing)"][~child] == 1
    assert refused.any() == companion
    assert np.array_equal(refused, np.isnan(columns["pay"][~child]))


def test_rows_that_no_draw_makes_right_are_repaired_with_their_codes():
    """The model never draws a value, so points of the domain take their place."""
    found = draw_satisfying(
        lambda public, rows: {"pay": np.full(rows, np.nan), "job": np.full(rows, -1)},
        {"age": np.array([5.0, 60.0])},
        2,
        coded_with(CHILD, ADULT),
    )
    assert found.repaired == 1
    assert found.columns["pay (why missing)"].tolist() == [0, -1]
    assert np.isfinite(found.columns["pay"]).tolist() == [False, True]
    assert found.columns["job"][0] == -1
    assert found.columns["job"][1] >= 0


def test_codes_that_contradict_each_other_are_refused_before_anything_is_drawn():
    schema = coded_with(CHILD, {"then": "pay == 'B'"})
    check_satisfiable(schema, {"age": np.array([60.0])})
    with pytest.raises(us.BadInput, match="row 2"):
        check_satisfiable(schema, {"age": np.array([60.0, 5.0])})


@pytest.mark.parametrize(
    "rule",
    [
        {"if": "age < 15", "then": "pay in ('N', 'B')"},
        {"if": "age < 15", "then": "pay == 'B' or age > 90"},
        {"if": "age < 15", "then": "not (pay != 'N' or job != 'B')"},
        {"if": "pay != 'B' and age < 15", "then": "age > 70"},
    ],
)
def test_a_rule_that_only_a_missing_value_obeys_can_be_satisfied(rule):
    """Nothing is set by it, and the model never draws what it asks for."""
    schema = coded_with(rule)
    ages = np.array([5.0, 60.0, 14.0])
    check_satisfiable(schema, {"age": ages})
    found = draw_satisfying(
        lambda public, rows: {"pay": np.full(rows, 3.0), "job": np.zeros(rows, dtype=int)},
        {"age": ages},
        3,
        schema,
    )
    assert found.repaired == 2
    assert np.isnan(found.columns["pay"]).tolist() == [True, False, True]
    assert holds(schema.rules, {"age": ages, **found.columns}).all()
