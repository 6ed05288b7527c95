"""From a model, a table and a mechanism to a release."""

import json

import numpy as np
import pandas as pd
import pytest

import understudy as us
from synthesised import BETA, SIZE, SIZELESS, TABLE
from understudy.cli import run
from understudy.privacy.guarantee import Adjacency


def test_synthetic_tables_have_the_declared_size_and_domain(releases):
    for release in releases.values():
        assert list(release.synthetic.columns) == ["x"]
        assert len(release.synthetic) == SIZE
        assert release.synthetic["x"].between(0, 1).all()


def test_censoring_bounds_the_lipschitz_bound_and_unweighted_does_not(releases):
    bounds = {name: r.internal.diagnostics["lipschitz_bound"] for name, r in releases.items()}
    assert bounds["censor-uw"] == bounds["censor-w"] == 1.5
    assert bounds["unweighted"] > bounds["weighted"] > 1.5
    for name, release in releases.items():
        if name != "ph":
            assert release.internal.diagnostics["local_epsilon"] == 2 * bounds[name]
    assert releases["unweighted"].internal.diagnostics["censored_records"] == 0
    assert releases["censor-uw"].internal.diagnostics["censored_records"] > 10


def test_released_parameters_lie_on_the_public_grid(releases):
    from understudy.models.base import GRID

    theta = releases["censor-uw"].parameters[0]["parameters"]
    z = np.asarray(BETA.unconstrain(theta)) / GRID
    np.testing.assert_allclose(z, np.round(z), atol=1e-5)


def test_without_a_seed_no_two_releases_agree_and_with_one_they_do(releases):
    fresh = us.synthesize(BETA, TABLE, us.CensorUw(epsilon=3.0))
    again = us.synthesize(BETA, TABLE, us.CensorUw(epsilon=3.0), seed=1)
    seeded = releases["censor-uw"]
    assert fresh.parameters[0]["parameters"] != seeded.parameters[0]["parameters"]
    assert again.parameters == seeded.parameters
    pd.testing.assert_frame_equal(again.synthetic, seeded.synthetic)
    assert seeded.guarantee.seeded
    assert not fresh.guarantee.seeded


def test_several_tables_take_a_draw_each_and_cost_it():
    release = us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0), tables=3)
    assert release.guarantee.draws == len(release.tables) == len(release.parameters) == 3
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == pytest.approx(3.0)
    draws = {json.dumps(theta["parameters"]) for theta in release.parameters}
    assert len(draws) == 3


@pytest.mark.slow
def test_epsilon_under_replace_one_halves_the_bound():
    mechanism = us.CensorUw(epsilon=3.0, adjacency="replace-one")
    release = us.synthesize(us.beta(SIZELESS), TABLE, mechanism, seed=2)
    assert release.guarantee.epsilon == {Adjacency.ADD_REMOVE: 1.5, Adjacency.REPLACE_ONE: 3.0}
    assert release.guarantee.rho == {Adjacency.ADD_REMOVE: 0.28125, Adjacency.REPLACE_ONE: 1.125}
    assert release.internal.diagnostics["lipschitz_bound"] == 0.75
    assert any("shows the number of records" in s for s in release.guarantee.assumptions)
    assert not release.guarantee.membership


JOB = ["synthesize", "survey.csv", "--schema", "survey.toml", "--out", "out", "--quiet"]
JOB += ["--mechanism", "ph", "--epsilon", "1", "--ledger", "ledger.db"]


def test_the_ledger_remembers_where_a_release_will_be_written(desk):
    us.Ledger.create("ledger.db", budget=5.0, adjacency="add-remove")
    assert run(JOB) == 0
    schema = us.Schema.load("survey.toml")
    for destination in ("elsewhere", None, "two\nlines"):
        us.synthesize(
            schema,
            "survey.csv",
            us.PerturbedHistogram(epsilon=1.0),
            ledger="ledger.db",
            destination=destination,
        )
    charge, _, *others = us.Ledger.open("ledger.db").entries()
    assert charge.details["destination"] == str(desk / "out")
    assert others[0].details["destination"] == str(desk / "elsewhere")
    # A name that would break a line of the terminal is not kept.
    assert all("destination" not in entry.details for entry in others[1:])
    public = desk / "out/public/parameters.json"
    assert "destination" not in json.loads(public.read_text())


COLUMNS = {
    "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
    "sex": {"role": "confidential", "type": "categorical", "levels": ["F", "M"]},
}


def pay_and_sex(rows):
    generator = np.random.default_rng(1)
    sex = generator.choice(["F", "M"], rows)
    return pd.DataFrame({"pay": 100 * generator.beta(2, 5, rows), "sex": sex})


@pytest.mark.slow
def test_a_schema_alone_is_fitted_with_all_its_columns():
    schema = us.Schema.from_dict({"table": {"size": 60}, "columns": COLUMNS})
    mechanism = us.Anchored(epsilon=1.0, stages=1, candidates=256)
    release = us.Synthesizer(schema, mechanism).fit(pay_and_sex(60))
    assert release.parameters[0]["model"]["name"] == "joint"
    more = release.sample(7)
    assert list(more.columns) == ["pay", "sex"]
    assert len(more) == 7


def test_a_mechanism_without_a_model_takes_the_schema_as_it_is(tmp_path):
    us.Ledger.create(tmp_path / "ledger.db", budget=1.0, adjacency="add-remove")
    (tmp_path / "pay.toml").write_text(
        '[table]\nsize = 60\n[columns.pay]\nrole = "confidential"\ntype = "continuous"\n'
        'bounds = [0, 100]\n[columns.sex]\nrole = "ignore"\n'
    )
    synthesizer = us.Synthesizer(
        tmp_path / "pay.toml", us.PerturbedHistogram(epsilon=0.5), ledger=tmp_path / "ledger.db"
    )
    release = synthesizer.fit(pay_and_sex(60))
    assert release.guarantee.charged.startswith("entry 1")
    assert len(release.sample(9)) == 9


def test_a_synthesizer_of_anything_else_is_refused():
    with pytest.raises(us.BadInput, match="`model` must be"):
        us.Synthesizer(3, us.Anchored(epsilon=1.0)).fit(TABLE)
    with pytest.raises(us.BadInput, match="`mechanism` must be"):
        us.Synthesizer(BETA.schema, "anchored").fit(TABLE)
