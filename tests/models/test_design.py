"""The design of a formula knows the declared domain, and nothing of a table."""

import numpy as np
import pytest

from salaries import COLUMNS, PAY, SCHEMA, N, table, theta_of
from understudy._jax import jax
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.formula import formula


@pytest.mark.parametrize(
    "text",
    [
        "pay ~ sex * age",
        "pay ~ weeks + scale(rate)",
        "pay ~ poly(weeks, 2)",
        "pay ~ C(weeks)",
        "pay ~ 0 + age",
        "pay ~ 1",
        "pay ~ np.log(weeks)",
    ],
)
def test_nothing_in_the_design_is_learned_from_the_table(text):
    model = formula(text, family="beta", schema=SCHEMA)
    _, theta = theta_of(model)
    columns = table()
    together = jax.jit(model.record_loglik)(theta, model.prepare(columns))
    for k in (0, 17, N - 1):
        alone = {name: values[k : k + 1] for name, values in columns.items()}
        record = jax.jit(model.record_loglik)(theta, model.prepare(alone))
        np.testing.assert_allclose(record[0], together[k], rtol=1e-9)


def test_every_column_of_the_design_runs_from_zero_to_one_over_the_domain():
    model = formula("pay ~ sex + weeks + rate", family="beta", schema=SCHEMA)
    ends = {
        "pay": np.array([2000.0, 2000.0]),
        "sex": np.array([0, 1]),
        "weeks": np.array([2.0, 52.0]),
        "rate": np.array([-1.0, 3.0]),
    }
    design = np.asarray(model.prepare(ends)["design"])
    np.testing.assert_allclose(design, [[1, 0, 0, 0], [1, 1, 1, 1]], atol=1e-12)


def test_products_and_differences_are_scaled_over_the_corners_of_the_domain():
    columns = {name: dict(COLUMNS["rate"]) for name in ("a", "b")}
    schema = Schema.from_dict({"columns": {"pay": PAY} | columns})
    model = formula("pay ~ a:b + I(a - b)", family="beta", schema=schema)
    ends = np.array([-1.0, -1.0, 3.0, 3.0]), np.array([-1.0, 3.0, -1.0, 3.0])
    table = {"pay": np.full(4, 2000.0), "a": ends[0], "b": ends[1]}
    design = np.asarray(model.prepare(table)["design"])
    np.testing.assert_allclose(design.min(axis=0), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(design.max(axis=0), [1, 1, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pay", "'outcome ~ predictors'"),
        ("~ sex", "'outcome ~ predictors'"),
        ("pay ~ sex +", "cannot be used"),
        ("pay ~ sex | age", "'outcome ~ predictors'"),
        ("pay ~ wages", "'wages', which is not a column"),
        ("wages ~ sex", "'wages', which is not a column"),
        ("log(pay) ~ sex", "not a column"),
        ("sex ~ weeks", "only a confidential column"),
        ("pay ~ pay", "must be public"),
        ("pay ~ name", "must be public"),
        ("pay ~ lag(weeks)", "only arithmetic and these functions"),
        ("pay ~ I(weeks*0+__import__('os').system('true'))", "only arithmetic"),
        ("pay ~ I(exit())", "only arithmetic"),
        ("pay ~ np.random.rand(3)", "only arithmetic"),
        ("pay ~ weeks.__class__", "only arithmetic|not a column"),
        ("pay ~ I(10**9*0 + weeks)", "only arithmetic"),
        ("pay ~ I(2**weeks)", "only arithmetic"),
        ("pay ~ I(weeks*0 + 10**100000000)", "power above 9"),
        ("pay ~ (sex + weeks)^ 40", "power above 9"),
        ("pay ~ I(weeks << 9)", "only arithmetic"),
        ("pay ~ C(sex, 'treatment')", "only arithmetic"),
        ("pay ~ I(`` + weeks)", "cannot be used|not a column"),
        ("pay ~ 0", "nothing on its right-hand side"),
        ("pay ~ I(weeks - weeks)", "the same over the whole"),
        ("pay ~ I(log(rate - weeks))", "cannot be used|not finite"),
        ("pay ~ np.log(rate)", "cannot be used|not finite"),
        ("pay ~ C(rate)", "up to 1,072 columns, more than 1,000"),
    ],
)
def test_a_formula_beyond_the_schema_is_refused(text, reason):
    with pytest.raises(BadInput, match=reason):
        formula(text, family="beta", schema=SCHEMA)


def test_a_column_whose_name_is_code_is_not_run(tmp_path, monkeypatch):
    """Backticks between quotes quote nothing for formulaic, which evaluates what is there."""
    monkeypatch.chdir(tmp_path)
    name = "' + str(open('pwned', 'w')) + '"
    schema = Schema.from_dict({"columns": {"pay": PAY, name: COLUMNS["rate"]}})
    with pytest.raises(BadInput, match="only arithmetic"):
        formula(f"pay ~ C('`{name}`')", family="beta", schema=schema)
    assert not (tmp_path / "pwned").exists()
    assert formula(f"pay ~ I(2 * `{name}`)", family="beta", schema=schema).dimension == 3
