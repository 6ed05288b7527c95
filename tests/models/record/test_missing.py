"""Missing values are part of the record, and come back in synthetic rows."""

import json
from dataclasses import replace

import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import pytest
import scipy.stats

import understudy as us
from understudy._jax import jax, jnp
from understudy.domain import tables
from understudy.models.record.declared import as_declared
from understudy.models.record.missing import is_missing
from understudy.score import Row, log_target

PAY = {"role": "confidential", "type": "continuous", "bounds": [0, 10], "missing": "model"}
KIDS = {"role": "confidential", "type": "count", "bounds": [0, 9], "missing": "model"}
JOB = {
    "role": "confidential", "type": "categorical", "levels": ["x", "y", "z"], "missing": "model",
}  # fmt: skip
ROWS, SHARE = 300, 0.2


def schema_of(**columns):
    return us.Schema.from_dict({"table": {"size": ROWS}, "columns": columns})


def pay_table(seed=0, share=SHARE):
    generator = np.random.default_rng(seed)
    pay = 10 * generator.beta(2, 5, ROWS)
    return pd.DataFrame({"pay": np.where(generator.random(ROWS) < share, np.nan, pay)})


PAID = schema_of(pay=PAY)
PLAIN = us.beta(PAID)
MODEL = as_declared(PLAIN)


def job_model():
    def jobs(job, n):
        shares = numpyro.sample("shares", dist.Dirichlet(jnp.ones(3)))
        with numpyro.plate("records", n):
            numpyro.sample("job", dist.Categorical(shares), obs=job)

    return us.from_numpyro(jobs, schema=schema_of(job=JOB))


class TestTables:
    """Codes of missing values, there and back."""

    SCHEMA = schema_of(pay=PAY, kids=KIDS, job=JOB)
    FRAME = pd.DataFrame({"pay": [1.5, np.nan, 3.0], "kids": [2, 0, None], "job": ["x", None, "z"]})

    def test_missing_numbers_are_nan_and_missing_levels_minus_one(self):
        coded = tables.encode(self.FRAME, self.SCHEMA)
        assert np.array_equal(coded["pay"], [1.5, np.nan, 3.0], equal_nan=True)
        assert np.array_equal(coded["kids"], [2, 0, np.nan], equal_nan=True)
        assert coded["job"].tolist() == [0, -1, 2]
        for column in self.SCHEMA.columns:
            expected = self.FRAME[column.name].isna()
            assert np.array_equal(is_missing(coded[column.name], column), expected)

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_a_written_table_reads_back_the_same(self, tmp_path, suffix):
        coded = tables.encode(self.FRAME, self.SCHEMA)
        tables.write(tables.decode(coded, self.SCHEMA), tmp_path / f"t{suffix}")
        again = tables.encode(tables.read(tmp_path / f"t{suffix}"), self.SCHEMA)
        for name, values in coded.items():
            assert np.array_equal(again[name], values, equal_nan=name != "job")
        if suffix == ".csv":
            assert (tmp_path / "t.csv").read_text() == "pay,kids,job\n1.5,2,x\n,0,\n3.0,,z\n"

    @pytest.mark.parametrize(
        ("column", "value", "said"),
        [
            ("pay", "many", "not a finite number"),
            ("pay", np.inf, "not a finite number"),
            ("pay", 11, "outside the declared bounds"),
            ("kids", 1.5, "not a whole number"),
            ("job", "q", "not one of the declared levels"),
        ],
    )
    def test_what_is_wrong_rather_than_missing_is_still_refused(self, column, value, said):
        frame = self.FRAME.astype(object)
        frame.loc[2, column] = value
        with pytest.raises(us.BadInput, match=f"row 3 of column '{column}'.*{said}"):
            tables.encode(frame, self.SCHEMA)

    def test_where_missing_values_are_refused_they_still_are_and_the_sentence_names_the_way(self):
        refusing = schema_of(pay={**PAY, "missing": "refuse"})
        with pytest.raises(us.BadInput, match=r"is missing; .*declare missing = 'model'"):
            tables.encode(self.FRAME[["pay"]], refusing)
        with pytest.raises(us.BadInput, match="not a number"):
            tables.decode({"pay": np.array([np.nan])}, refusing)
        with pytest.raises(us.BadInput, match="not a level"):
            tables.decode({"job": np.array([-1])}, schema_of(job={**JOB, "missing": "refuse"}))


class TestModel:
    """The likelihood of a record that may be incomplete."""

    def test_a_record_s_log_likelihood_is_that_of_missing_or_of_present_and_value(self):
        columns = tables.encode(pay_table(), PAID)
        theta = {name: jnp.asarray(v) for name, v in THETA.items()}
        ours = MODEL.record_loglik(theta, MODEL.prepare(columns))
        there = ~np.isnan(columns["pay"])
        complete = PLAIN.prepare({"pay": columns["pay"][there]})
        plain = PLAIN.record_loglik({k: theta[k] for k in ("phi", "lambda")}, complete)
        expected = np.full(ROWS, np.log(0.3))
        expected[there] = np.log(0.7) + np.asarray(plain)
        np.testing.assert_allclose(ours, expected, rtol=1e-12)

    def test_the_prior_of_the_new_parameter_is_uniform(self):
        assert [p.name for p in MODEL.parameters] == ["phi", "lambda", "missing[pay]"]
        for p in (0.01, 0.5, 0.99):
            theta = THETA | {"missing[pay]": p}
            assert MODEL.log_prior(theta) == PLAIN.log_prior({"phi": 0.3, "lambda": 4.0})

    def test_levels_are_handled_the_same_way(self):
        model = as_declared(job_model())
        columns = {"job": np.array([0, -1, 2, -1, 1])}
        theta = {
            "shares": jnp.asarray([0.5, 0.3, 0.2]),
            "missing[job]": jnp.asarray(0.25),
        }
        expected = np.log([0.75 * 0.5, 0.25, 0.75 * 0.2, 0.25, 0.75 * 0.3])
        np.testing.assert_allclose(
            jax.jit(model.record_loglik)(theta, model.prepare(columns)), expected, rtol=1e-12
        )
        simulated = model.simulate(jax.random.key(1), theta, {}, 5000)["job"]
        assert np.mean(simulated == -1) == pytest.approx(0.25, abs=0.03)
        assert np.mean(simulated == 0) == pytest.approx(0.375, abs=0.03)

    @pytest.mark.parametrize("far", [-800.0, -40.0, 0.0, 40.0, 800.0])
    def test_no_nan_meets_a_gradient_wherever_the_probability_goes(self, far):
        columns = {"pay": np.array([np.nan, 0.0, 10.0, 4.0])}
        data = MODEL.prepare(columns)
        assert all(np.isfinite(v).all() or name.startswith("log") for name, v in data.items())
        row = Row(jnp.ones(4), jnp.zeros(4), jnp.asarray(1.0))
        z = jnp.asarray([0.2, 1.0, far])
        value, slope = jax.jit(jax.value_and_grad(lambda z: log_target(MODEL, z, data, row)))(z)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()

    def test_simulated_rows_miss_as_many_and_the_rest_follows_the_model(self):
        theta = {name: jnp.asarray(v) for name, v in THETA.items()}
        pay = MODEL.simulate(jax.random.key(2), theta, {}, 20_000)["pay"]
        assert np.isnan(pay).mean() == pytest.approx(0.3, abs=0.01)
        assert np.nanmean(pay) == pytest.approx(3.0, abs=0.05)

    def test_several_columns_need_a_model_that_says_so(self):
        def both(pay, kids, n):
            rate = numpyro.sample("rate", dist.HalfNormal(1))
            with numpyro.plate("records", n):
                numpyro.sample("pay", dist.Exponential(rate), obs=pay)
                numpyro.sample("kids", dist.Poisson(rate), obs=kids)

        schema = schema_of(pay=PAY, kids={**KIDS, "missing": "refuse"})
        model = us.from_numpyro(both, schema=schema)
        with pytest.raises(us.BadInput, match="has no place for missing values"):
            as_declared(model)
        from dataclasses import replace

        able = replace(model, handles_missing=True)
        assert as_declared(able) is able

    def test_a_parameter_of_the_same_name_is_refused(self):
        flag = {"role": "public", "type": "categorical", "levels": ["pay", "b"]}
        schema = schema_of(pay=PAY, missing=flag)
        model = us.formula("pay ~ 0 + missing", family="beta", schema=schema)
        assert "missing[pay]" in [p.name for p in model.parameters]
        with pytest.raises(us.BadInput, match=r"a parameter called 'missing\[pay\]'"):
            as_declared(model)


THETA = {"phi": 0.3, "lambda": 4.0, "missing[pay]": 0.3}


@pytest.mark.parametrize(
    ("mechanism", "sampler"),
    [
        (us.Anchored(epsilon=4.0), "exact"),
        pytest.param(us.CensorUw(epsilon=12.0), "nuts", marks=pytest.mark.slow),
        pytest.param(us.Unweighted(), "nuts", marks=pytest.mark.slow),
    ],
    ids=["anchored", "censor-uw", "unweighted"],
)
def test_a_release_reproduces_how_much_is_missing(mechanism, sampler, tmp_path):
    release = us.synthesize(PLAIN, pay_table(), mechanism, sampler=sampler, seed=1)
    assert release.parameters[0]["parameters"]["missing[pay]"] == pytest.approx(SHARE, abs=0.1)
    assert release.synthetic["pay"].isna().mean() == pytest.approx(SHARE, abs=0.12)
    utility = release.internal.diagnostics["utility"]["pay"]
    assert utility["missing"]["confidential"] == pytest.approx(pay_table()["pay"].isna().mean())
    assert utility["missing"]["synthetic"] == pytest.approx(release.synthetic["pay"].isna().mean())
    release.write(tmp_path / "out")
    report = (tmp_path / "out/internal/report.html").read_text("utf-8")
    assert "Missing" in report
    more = us.sample(tmp_path / "out/public", rows=4000, seed=3)
    share = release.parameters[0]["parameters"]["missing[pay]"]
    assert more["pay"].isna().mean() == pytest.approx(share, abs=0.03)
    json.loads((tmp_path / "out/internal/diagnostics.json").read_text("utf-8"))


def test_an_anchor_carries_the_probability_along(tmp_path):
    quick = us.Anchored(epsilon=2.0, candidates=512)
    us.synthesize(PLAIN, pay_table(), quick).write(tmp_path / "out")
    anchor = us.read_anchor(tmp_path / "out/public", PLAIN)
    assert anchor.keys() == THETA.keys()
    anchored = us.Anchored(epsilon=1.0, candidates=512, anchor=anchor)
    release = us.synthesize(PLAIN, pay_table(1), anchored, seed=1)
    assert release.guarantee.stages >= 1
    without = {k: v for k, v in anchor.items() if k != "missing[pay]"}
    with pytest.raises(us.BadInput, match="not a value of the model's parameters"):
        us.synthesize(PLAIN, pay_table(), us.Anchored(epsilon=1.0, anchor=without))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_missing_and_everything_missing_are_both_tables(share):
    quick = us.Anchored(epsilon=8.0, candidates=2048)
    release = us.synthesize(PLAIN, pay_table(share=share), quick, seed=1)
    assert release.synthetic["pay"].isna().mean() == pytest.approx(share, abs=0.2)
    assert "<html" in release.internal.report()


@pytest.mark.slow
def test_missing_levels_reach_the_table():
    generator = np.random.default_rng(0)
    jobs = pd.Series(generator.choice(["x", "y", "z", None], ROWS, p=[0.4, 0.2, 0.2, 0.2]))
    release = us.synthesize(job_model(), pd.DataFrame({"job": jobs}), us.Unweighted(), seed=1)
    assert release.synthetic["job"].isna().mean() == pytest.approx(jobs.isna().mean(), abs=0.1)
    assert set(release.synthetic["job"].dropna()) == {"x", "y", "z"}
    assert "<html" in release.internal.report()


def test_histograms_have_no_bin_for_what_is_missing():
    with pytest.raises(us.BadInput, match="a missing value is in no bin"):
        us.synthesize(PAID, pay_table(), us.PerturbedHistogram(epsilon=1.0, bins=5))


class TestBalancedRows:
    def test_as_many_are_missing_as_is_due_and_the_others_are_even(self):
        theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(6.0)}
        theta["missing[pay]"] = jnp.asarray(0.214)
        pay = MODEL.balanced(np.random.default_rng(0), theta, {}, 1000)["pay"]
        there = pay[~np.isnan(pay)]
        assert 1000 - len(there) in (213, 214, 215)
        even = scipy.stats.kstest(there / 10, scipy.stats.beta(1.8, 4.2).cdf).statistic
        assert even < 1.1 / len(there)

    @pytest.mark.parametrize(("share", "lost"), [(0.0, 0), (1.0, 9)])
    def test_all_or_none_may_be_missing(self, share, lost):
        theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(6.0)}
        theta["missing[pay]"] = jnp.asarray(share)
        pay = MODEL.balanced(np.random.default_rng(0), theta, {}, 9)["pay"]
        assert np.isnan(pay).sum() == lost

    def test_missing_levels_are_minus_one_and_groups_miss_alike(self):
        group = {"role": "public", "type": "binary"}
        model = as_declared(
            us.formula("job ~ g", family="categorical", schema=schema_of(job=JOB, g=group))
        )
        theta = {p.name: jnp.zeros(p.shape) for p in model.parameters}
        theta["missing[job]"] = jnp.asarray(0.25)
        groups = np.arange(480) % 2
        job = model.balanced(np.random.default_rng(0), theta, {"g": groups}, 480)["job"]
        assert set(job) == {-1, 0, 1, 2}
        for code in range(2):
            own = np.bincount(job[groups == code] + 1, minlength=4)
            np.testing.assert_allclose(own, 60, atol=8)

    def test_a_model_that_cannot_be_balanced_stays_so(self):
        assert as_declared(job_model()).balanced is None


TWO = {"codes": {"N": "does not apply", "B": "refused"}}


@pytest.mark.parametrize(
    "build",
    [
        lambda: us.beta(schema_of(pay=PAY | TWO)),
        lambda: us.formula("job ~ 1", family="categorical", schema=schema_of(job=JOB | TWO)),
        lambda: replace(us.beta(schema_of(pay=PAY | TWO)), handles_missing=True),
    ],
    ids=["beta", "formula", "handles missing values"],
)
def test_a_model_that_cannot_tell_kinds_apart_is_refused_before_anything_is_charged(build):
    model = build()
    with pytest.raises(us.BadInput, match="declares several codes of missing values"):
        as_declared(model)
    table = pd.DataFrame({model.schema.names[0]: ["N", "B"]})
    with pytest.raises(us.BadInput, match="declares several codes of missing values"):
        us.synthesize(model, table, us.Anchored(epsilon=1.0))


def test_a_model_that_can_is_left_as_it_is():
    model = us.beta(schema_of(pay=PAY | TWO))
    able = replace(model, handles_missing=True, handles_codes=True)
    assert as_declared(able) is able


def test_one_code_is_a_missing_value_like_a_blank_cell():
    coded = schema_of(pay=PAY | {"codes": {"N": "does not apply"}})
    model = as_declared(us.beta(coded))
    frame = pay_table()
    written = frame["pay"].map(lambda value: "N" if np.isnan(value) else repr(value))
    columns = tables.encode(pd.DataFrame({"pay": written}), coded)
    theta = {"phi": jnp.asarray(0.3), "lambda": jnp.asarray(4.0), "missing[pay]": jnp.asarray(0.2)}
    np.testing.assert_array_equal(
        model.record_loglik(theta, model.prepare(columns)),
        MODEL.record_loglik(theta, MODEL.prepare(tables.encode(frame, PAID))),
    )
