"""A record is a person with all their rows, from the likelihood to the guarantee."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import understudy as us
from understudy._jax import jax, jnp
from understudy.domain.records import Held
from understudy.domain.skeleton import skeleton_for, with_public_size
from understudy.domain.tables import encode
from understudy.models.record.declared import as_declared
from understudy.models.record.units import laid_out
from understudy.privacy.guarantee import Adjacency
from understudy.samplers.exact import _chunk_size, summed_scores
from understudy.samplers.proposals import fisher_information
from understudy.score import Row, log_target
from understudy.support.randomness import Source

X = {"role": "confidential", "type": "continuous", "bounds": [0, 1]}
G = {"role": "public", "type": "categorical", "levels": ["a", "b"]}
PERSON = {"person": {"role": "unit"}}
WIDTH, PEOPLE = 7, 40


def schema_of(columns, **table):
    return us.Schema.from_dict({"table": table, "columns": columns})


PANEL = schema_of({**PERSON, "x": X}, size=200, rows_per_unit=WIDTH)
ROWS = schema_of({"x": X}, size=200)
MODEL, ROW_MODEL = as_declared(us.beta(PANEL)), us.beta(ROWS)


def ragged(seed=0, people=PEOPLE, width=WIDTH):
    """Rows of people in no order, each with 1 to `width` of them."""
    generator = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), generator.integers(1, width + 1, people))
    order = generator.permutation(len(person))
    return {"person": person[order], "x": generator.beta(2, 5, len(person))}


TABLE = pd.DataFrame(ragged()).assign(person=lambda t: "person-" + t["person"].astype(str))


def theta_of(model, seed=0):
    return model.constrain(model.starting_points(jax.random.key(seed), 1)[0])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(0, 3))
def test_every_row_has_one_place_in_its_own_unit(units, spare):
    units = np.array(units)
    width = int(np.bincount(units).max()) + spare
    places, present = laid_out(units, width)
    assert places.shape == present.shape == (len(set(units)), width)
    assert sorted(places[present]) == list(range(len(units)))
    for rows, own in zip(places, present, strict=True):
        assert len(set(units[rows])) == 1, "padding comes from the unit itself"
        assert list(rows[own]) == sorted(rows[own]), "rows keep their order"


@pytest.mark.parametrize("seed", range(3))
def test_log_likelihoods_of_one_person_are_added(seed):
    columns = ragged(seed)
    theta = theta_of(MODEL, seed)
    each = np.asarray(
        jax.jit(ROW_MODEL.record_loglik)(theta, ROW_MODEL.prepare({"x": columns["x"]}))
    )
    expected = np.bincount(columns["person"], each)
    ours = jax.jit(MODEL.record_loglik)(theta, MODEL.prepare(columns))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_a_model_with_predictors_is_added_up_the_same_way():
    schema = schema_of({**PERSON, "x": X, "g": G}, rows_per_unit=WIDTH)
    rows = us.formula("x ~ g", family="beta", schema=schema)
    model = as_declared(rows)
    columns = ragged() | {"g": np.arange(len(ragged()["x"])) % 2}
    theta = theta_of(model)
    each = np.asarray(jax.jit(rows.record_loglik)(theta, rows.prepare(columns)))
    ours = jax.jit(model.record_loglik)(theta, model.prepare(columns))
    np.testing.assert_allclose(ours, np.bincount(columns["person"], each), rtol=1e-12)


def test_a_unit_s_score_is_the_same_number_in_whichever_table():
    """Adding a person changes every candidate's sum by that person's own whole-number score."""
    z = np.random.default_rng(1).normal(size=(64, 2))
    people = 2 * _chunk_size(MODEL) + 50
    columns = ragged(3, people=people)
    bound = 0.7

    def sums(chosen):
        data = MODEL.prepare({name: values[chosen] for name, values in columns.items()})
        units = len(np.unique(columns["person"][chosen]))
        row = Row(jnp.full(units, 0.3), jnp.zeros(units), jnp.asarray(bound))
        return summed_scores(MODEL, z, data, row)

    everybody = sums(np.ones(len(columns["x"]), dtype=bool))
    for person in (0, 17, _chunk_size(MODEL), people - 1):
        own = columns["person"] == person
        difference = everybody - sums(~own)
        assert np.array_equal(difference, sums(own))
        assert np.abs(difference).max() <= np.floor(bound * 2**24)


def test_gradients_stay_finite_where_rows_lie_at_the_edges():
    columns = {"person": np.array([0, 0, 0, 1, 1]), "x": np.array([0.0, 0.5, 1.0, 1e-300, 0.0])}
    data = MODEL.prepare(columns)
    row = Row(jnp.ones(2), jnp.zeros(2), jnp.asarray(0.5))
    slope = jax.jit(jax.grad(lambda z: log_target(MODEL, z, data, row)))
    for z in ([0.0, 0.0], [3.0, -2.0], [-8.0, 8.0]):
        assert np.isfinite(slope(jnp.asarray(z))).all()


def test_the_information_of_a_row_is_that_of_the_row_model():
    z = np.array([0.3, 1.0])
    ours = fisher_information(MODEL, z, {}, Source(4))
    plain = fisher_information(ROW_MODEL, z, {}, Source(4))
    np.testing.assert_allclose(ours, plain, rtol=1e-9)


def test_one_record_for_each_person_gives_what_a_table_of_rows_gives():
    """With a row each, units change nothing: bound, weights and draws are the same."""
    values = np.random.default_rng(2).beta(0.5, 3, 120)
    single = schema_of({**PERSON, "x": X}, size=120, rows_per_unit=1)
    alone = schema_of({"x": X}, size=120)
    people = pd.DataFrame({"person": np.arange(120), "x": values})
    for mechanism in (us.Anchored(epsilon=1.0, candidates=256), us.CensorUw(epsilon=1.0)):
        ours = us.synthesize(us.beta(single), people, mechanism, sampler="exact", seed=3)
        plain = us.synthesize(us.beta(alone), people[["x"]], mechanism, sampler="exact", seed=3)
        assert ours.parameters[0]["parameters"] == plain.parameters[0]["parameters"]


ASKED = {
    "anchored": (us.Anchored(epsilon=1.0, candidates=256), "auto"),
    "anchored-nuts": (us.Anchored(epsilon=1.0, stages=1), "nuts"),
    "censor-uw": (us.CensorUw(epsilon=2.0), "exact"),
    "censor-w": (us.CensorW(epsilon=2.0), "nuts"),
}


@cache
def released(name):
    mechanism, sampler = ASKED[name]
    return us.synthesize(us.beta(PANEL), TABLE, mechanism, sampler=sampler, seed=1)


@pytest.mark.parametrize(
    "name",
    [
        "anchored",
        "censor-uw",
        pytest.param("anchored-nuts", marks=pytest.mark.slow),
        pytest.param("censor-w", marks=pytest.mark.slow),
    ],
)
def test_every_mechanism_counts_people_and_releases_rows(name):
    release = released(name)
    assert release.internal.diagnostics["n"] == PEOPLE
    assert release.internal.diagnostics["rows"] == len(TABLE)
    assert list(release.synthetic.columns) == ["x"]
    assert len(release.synthetic) == 200
    assert (release.internal.diagnostics["censored_records"] or 0) <= PEOPLE
    if name.startswith("censor"):
        assert release.internal.diagnostics["lipschitz_bound"] == 1.0


def test_the_guarantee_is_per_person_and_says_so():
    guarantee = released("anchored").guarantee
    assert guarantee.to_dict()["unit"] == "person"
    assert "when all rows of one 'person' are added or removed" in guarantee.headline
    assert "one 'person' can have changed" in guarantee.headline
    assert any("the guarantee is per 'person'" in s for s in guarantee.assumptions)
    assert not any("at most one record" in s for s in guarantee.assumptions)


def test_no_file_of_a_release_names_a_person(tmp_path):
    released("anchored").write(tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) >= 6
    for path in files:
        assert "person-" not in path.read_text("utf-8")
    report = (tmp_path / "out/internal/report.html").read_text("utf-8")
    assert f"of {PEOPLE:,} (" in report
    contents = json.loads((tmp_path / "out/public/parameters.json").read_text("utf-8"))
    assert contents["schema"]["table"] == {"size": 200, "rows_per_unit": WIDTH}


@pytest.mark.slow
def test_a_reference_with_people_of_its_own_gives_weights_and_an_anchor():
    model = us.beta(PANEL)
    other = us.reference(model, pd.DataFrame(ragged(9)), confidential=False, seed=1)
    release = us.synthesize(model, TABLE, us.CensorW(epsilon=1.0, reference=other), seed=1)
    assert release.guarantee.epsilon[Adjacency.ADD_REMOVE] == 1.0
    anchored = us.Anchored(epsilon=1.0, reference=other, candidates=256)
    assert us.synthesize(model, TABLE, anchored, seed=1).guarantee.unit == "person"


@pytest.mark.slow
def test_an_earlier_release_with_units_can_be_the_reference(tmp_path):
    model = us.beta(PANEL)
    earlier = us.synthesize(model, TABLE, us.Anchored(epsilon=1.0, candidates=256))
    earlier.write(tmp_path / "out")
    learned = us.reference(model, tmp_path / "out/public/parameters.json", confidential=False)
    release = us.synthesize(model, TABLE, us.CensorW(epsilon=1.0, reference=learned), seed=1)
    assert release.internal.diagnostics["n"] == PEOPLE


def test_copied_public_columns_leave_the_confidential_values_of_a_person_protected():
    schema = schema_of({**PERSON, "x": X, "g": G}, rows_per_unit=WIDTH)
    model = us.formula("x ~ g", family="beta", schema=schema)
    table = TABLE.assign(g=np.where(np.arange(len(TABLE)) % 3, "a", "b"))
    release = us.synthesize(model, table, us.Anchored(epsilon=1.0, candidates=256), seed=1)
    assert list(release.synthetic.columns) == ["x", "g"]
    assert sorted(release.synthetic["g"]) == sorted(table["g"])
    text = str(release.guarantee)
    assert "the confidential values in all rows of one 'person' are blanked" in text
    assert "are present or blank, replace-one that they change" in text
    assert not release.guarantee.membership


def test_replacing_a_person_changes_the_number_of_rows_so_it_is_not_public():
    sizeless = schema_of({**PERSON, "x": X}, rows_per_unit=WIDTH)
    with pytest.raises(us.BadInput, match="replace-one of whole units: declare size"):
        skeleton_for(sizeless, Held({"x": np.zeros(9)}), Adjacency.REPLACE_ONE)
    plan = skeleton_for(sizeless, Held({"x": np.zeros(9)}), Adjacency.REPLACE_ONE, rows=5)
    with pytest.raises(us.BadInput, match="replace-one of whole units: declare size"):
        with_public_size(plan, sizeless, Held({"x": np.zeros(9)}), Adjacency.REPLACE_ONE)


def test_thresholds_of_a_ladder_grow_with_the_rows_of_a_unit():
    asked = us.Anchored(epsilon=1.0)
    alone = asked.ladder(size=1000, dimension=2)
    together = asked.ladder(size=7000, dimension=2, rows_per_record=7)
    assert together[-1].threshold == 7 * alone[-1].threshold
    assert sum(stage.bound for stage in together) == pytest.approx(0.5)
    fixed = us.Anchored(epsilon=1.0, threshold=3.0)
    assert fixed.ladder(size=7000, dimension=2, rows_per_record=7)[-1].threshold == 3.0


class TestTheColumn:
    """Ids are text or whole numbers, and are only ever compared."""

    @pytest.mark.parametrize(
        "ids",
        [
            ["a", "b", "a", "c"],
            ["007", "7", "007", " 8"],
            [" a", "b", "a ", "c"],
            [3, 1, 3, 2],
            [3.0, 1.0, 3.0, 2.0],
            pd.Categorical(["u", "v", "u", "w"]),
            pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01", "2022-01-01"]),
        ],
    )
    def test_units_are_numbered_in_the_order_of_their_appearance(self, ids):
        frame = pd.DataFrame({"person": ids, "x": [0.1, 0.2, 0.3, 0.4]})
        assert encode(frame, PANEL)["person"].tolist() == [0, 1, 0, 2]

    @pytest.mark.parametrize("missing", ["", None, np.nan, "  "])
    def test_a_row_without_an_id_is_refused_by_its_place(self, missing):
        frame = pd.DataFrame({"person": ["secret", missing], "x": [0.1, 0.2]})
        with pytest.raises(us.BadInput, match=r"row 2 of column 'person'.*give every row") as no:
            encode(frame, PANEL)
        assert "secret" not in str(no.value)

    def test_more_rows_than_declared_are_refused_before_anything_is_drawn(self):
        frame = pd.DataFrame({"person": ["secret"] * 9 + ["b"] * 8, "x": np.full(17, 0.3)})
        with pytest.raises(us.BadInput) as no:
            us.synthesize(us.beta(PANEL), frame, us.Anchored(epsilon=1.0))
        assert "the unit in row 8 (and others) of column 'person'" in str(no.value)
        assert "rows_per_unit = 7" in str(no.value)
        assert "secret" not in str(no.value)
        with pytest.raises(us.BadInput, match="more than 7 rows"):
            MODEL.prepare({"person": np.zeros(8), "x": np.full(8, 0.3)})

    def test_it_cannot_be_a_predictor_or_a_varying_intercept(self):
        with pytest.raises(us.BadInput, match="has the role 'unit'"):
            us.formula("x ~ person", family="beta", schema=PANEL)
        with pytest.raises(us.BadInput, match="'person' is the unit that is protected"):
            us.formula("x ~ (1 | person)", family="beta", schema=PANEL)

    def test_histograms_count_rows_and_are_refused_before_the_ledger_is_charged(self, tmp_path):
        ledger = us.Ledger.create(tmp_path / "ledger.db", budget=1.0, adjacency="add-remove")
        with pytest.raises(us.BadInput, match="a unit with several rows is in several bins"):
            us.synthesize(
                PANEL, TABLE, us.PerturbedHistogram(epsilon=1.0), ledger=tmp_path / "ledger.db"
            )
        assert len(ledger.entries()) == 0

    def test_a_charge_names_the_unit(self, tmp_path):
        ledger = us.Ledger.create(tmp_path / "ledger.db", budget=1.0, adjacency="add-remove")
        quick = us.Anchored(epsilon=0.5, candidates=256, stages=1)
        us.synthesize(us.beta(PANEL), TABLE, quick, ledger=tmp_path / "ledger.db")
        assert ledger.entries()[0].details["unit"] == "person"


class TestTheCommandLine:
    """The audit of a panel, and a release from files."""

    ASKED = ("audit", "--mechanism", "censor-uw", "--epsilon", "1", "--n", "60", "--json")

    def test_the_audit_finds_a_person_where_the_unit_is_not_declared(self, capsys):
        from understudy.cli import run

        assert run([*self.ASKED, "--rows-per-unit", "7", "--no-unit"]) == 1
        assert json.loads(capsys.readouterr().out)["largest_log_ratio"] > 6
        assert run([*self.ASKED, "--no-unit"]) == 2
        assert "--rows-per-unit" in capsys.readouterr().err

    def test_a_panel_is_synthesised_from_its_files(self, tmp_path, monkeypatch, capsys):
        from understudy.cli import run

        monkeypatch.chdir(tmp_path)
        TABLE.to_csv("panel.csv", index=False)
        schema = """
            [table]
            size = 200
            rows_per_unit = 7
            [columns.person]
            role = "unit"
            [columns.x]
            role = "confidential"
            type = "continuous"
            bounds = [0, 1]
        """
        (tmp_path / "panel.toml").write_text(schema)
        asked = "synthesize panel.csv --schema panel.toml --model beta --epsilon 1 --out out"
        assert run([*asked.split(), "--quiet"]) == 0, capsys.readouterr().err
        compared = "compare panel.csv out/public/synthetic.csv --schema panel.toml --json"
        assert run(compared.split()) == 0
        assert "all rows of one 'person'" in (tmp_path / "out/public/guarantee.txt").read_text()
        assert run(["sample", "out/public", "--rows", "10", "-o", "more.csv", "--quiet"]) == 0
        assert (tmp_path / "more.csv").read_text().startswith("x\n")


def test_a_design_without_columns_is_laid_out_as_well():
    level = {"role": "confidential", "type": "categorical", "levels": ["low", "mid", "high"]}
    schema = schema_of({**PERSON, "y": level}, size=4, rows_per_unit=2)
    model = as_declared(us.formula("y ~ 1", family="ordinal", schema=schema))
    data = model.prepare({"person": np.array([0, 0, 1]), "y": np.array([0, 2, 1])})
    shares = np.array([0.2, 0.3, 0.5])
    scores = model.record_loglik({"shares": jnp.asarray(shares)}, data)
    assert np.allclose(scores, np.log([0.2 * 0.5, 0.3]))
