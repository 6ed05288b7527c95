"""Rows come from what is published, and hide the order of the table."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import understudy as us
from synthesised import ALONE, BETA, CODED, GROUPED, SIZE, TABLE, VALUES
from understudy.domain.skeleton import Skeleton
from understudy.support.randomness import Source
from understudy.synthesis.simulation import simulate


def test_rows_come_from_the_published_parameters_alone(monkeypatch):
    """The rows of a release are what the published file gives, read back from its text."""
    from understudy.synthesis import run as synthesis
    from understudy.synthesis import simulation

    monkeypatch.setattr(
        synthesis,
        "simulated",
        lambda published, plan, source, **settings: simulation.simulated(
            published, plan, Source(9), **settings
        ),
    )
    release = us.synthesize(BETA, TABLE, us.Anchored(epsilon=3.0), seed=1)
    published = json.loads(json.dumps(release.parameters[0]))
    rows = simulation.simulate(published, Skeleton({}, SIZE), Source(9), model=BETA)
    pd.testing.assert_frame_equal(rows, release.synthetic)


def test_the_order_of_a_sorted_table_does_not_survive():
    """Copied public rows are shuffled, or a table sorted by salary would publish the ranks."""
    order = np.argsort(VALUES)
    table = pd.DataFrame({"x": VALUES[order], "g": np.where(np.arange(SIZE) < 75, "a", "b")})
    release = us.synthesize(GROUPED, table, us.PerturbedHistogram(epsilon=1.0, bins=5))
    copied = release.synthetic["g"]
    assert sorted(copied) == sorted(table["g"])
    assert copied.tolist() != table["g"].tolist()
    assert 20 < (copied[:75] == "a").sum() < 55


class Recording:
    """A source whose generators remember what was asked of them."""

    def __init__(self):
        self.asked = []

    def generator(self):
        number, real = len(self.asked), np.random.default_rng(len(self.asked))
        self.asked.append(set())
        asked = self.asked[number]

        class Generator:
            def __getattr__(self, name):
                asked.add(name)
                return getattr(real, name)

        return Generator()


@pytest.mark.parametrize("rules", [[], [{"if": "g == 'a'", "then": "x < 0.5"}]])
def test_what_hides_the_order_of_the_table_draws_nothing_that_is_published(rules):
    """From enough published uniforms the state of their generator, and the shuffle, follow."""
    schema = GROUPED.to_dict() | {"rules": rules}
    published = {"model": {"name": "ph"}, "parameters": {"counts": [3, 4]}, "schema": schema}
    source = Recording()
    plan = Skeleton({"g": CODED["g"]}, SIZE, copied=True)
    simulate(published, plan, source, model=None)
    assert {"permutation"} in source.asked
    assert sum("permutation" in names for names in source.asked) == 1
    assert {"choice", "uniform"} in source.asked


def test_a_file_whose_parameters_do_not_fit_is_called_damaged(tmp_path):
    ph = us.PerturbedHistogram(epsilon=1.0, bins=5)
    public = us.synthesize(ALONE, TABLE, ph).write(tmp_path / "out") / "public"
    drawn = us.sample(public, rows=7, seed=2)
    assert drawn["x"].between(0, 1).all()
    pd.testing.assert_frame_equal(drawn, us.sample(public / "parameters.json", rows=7, seed=2))
    with pytest.raises(us.BadInput, match="has no public column"):
        us.sample(public, rows=7, predictors=TABLE)
    published = json.loads((public / "parameters.json").read_text())
    text = json.dumps(published | {"parameters": {"counts": [-1]}})
    (public / "parameters.json").write_text(text)
    with pytest.raises(us.BadInput, match="the file is damaged"):
        us.sample(public, rows=7)


@pytest.mark.parametrize("mechanism", ["magic", ["ph"], None])
def test_a_mechanism_that_is_unknown_is_called_damage(tmp_path, mechanism):
    ph = us.PerturbedHistogram(epsilon=1.0, bins=5)
    file = us.synthesize(ALONE, TABLE, ph).write(tmp_path / "out") / "public/parameters.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"mechanism": mechanism}))
    with pytest.raises(us.BadInput, match="names no mechanism that is known"):
        us.sample(file, rows=7)


def test_a_model_is_refused_where_the_release_needs_none(tmp_path):
    release = us.synthesize(ALONE, TABLE, us.PerturbedHistogram(epsilon=1.0, bins=5))
    public = release.write(tmp_path / "out") / "public"
    for source, model in ((public, "beta"), (public, BETA), (release, "beta")):
        with pytest.raises(us.BadInput, match="the release needs no model"):
            us.sample(source, rows=7, model=model)
    assert len(us.sample(release, rows=7)) == 7


class TestBalancedRows:
    def test_a_release_says_that_its_rows_are_balanced(self, tmp_path):
        mechanism = us.PerturbedHistogram(epsilon=1.0, bins=5)
        release = us.synthesize(ALONE, TABLE, mechanism, balanced=True)
        assert release.parameters[0]["balanced"] is True
        public = release.write(tmp_path / "out") / "public"
        assert json.loads((public / "parameters.json").read_text())["balanced"] is True
        for file in ("guarantee.txt", "card.html", "guarantee.json"):
            text = (public / file).read_text(encoding="utf-8")
            assert "The rows are balanced (systematic sampling)" in text
        plain = us.synthesize(ALONE, TABLE, mechanism)
        assert plain.parameters[0]["balanced"] is False
        assert "balanced" not in str(plain.guarantee)

    def test_rows_of_a_release_have_the_shares_of_its_parameters(self):
        release = us.synthesize(BETA, TABLE, us.Anchored(epsilon=3.0), seed=1, balanced=True)
        theta = release.parameters[0]["parameters"]
        a, b = theta["lambda"] * theta["phi"], theta["lambda"] * (1 - theta["phi"])
        expected = scipy.stats.beta(a, b)
        for rows in (release.synthetic, release.sample(500, balanced=True)):
            u = expected.cdf(rows["x"])
            assert scipy.stats.kstest(u, "uniform").statistic < 1.1 / len(u)
        independent = expected.cdf(release.sample(500, seed=3)["x"])
        assert scipy.stats.kstest(independent, "uniform").statistic > 0.01

    def test_public_rows_stay_in_their_order_and_groups_are_even(self):
        schema = us.Schema.from_dict(
            GROUPED.to_dict() | {"table": {"size": 480}, "columns": GROUPED.to_dict()["columns"]}
        )
        model = us.formula("x ~ g", family="beta", schema=schema)
        theta = {"Intercept": -1.0, "g[T.b]": 2.0, "lambda": 4.0}
        published = {"model": model.spec, "parameters": theta, "schema": schema.to_dict()}
        groups = {"g": np.random.default_rng(1).permutation(np.arange(480) % 2)}
        rows = simulate(published, Skeleton(groups, 480), Source(1), model=model, balanced=True)
        assert (rows["g"] == np.where(groups["g"] == 0, "a", "b")).all()
        for group, eta in (("a", -1.0), ("b", 1.0)):
            mean = 1 / (1 + np.exp(-eta))
            own = scipy.stats.beta(4 * mean, 4 - 4 * mean).cdf(rows["x"][rows["g"] == group])
            assert scipy.stats.kstest(own, "uniform").statistic < 0.03
            assert abs(np.corrcoef(own, np.arange(240))[0, 1]) < 0.2, "in no order"

    def test_what_hides_the_order_of_the_table_draws_nothing_else(self):
        published = {
            "model": {"name": "ph"},
            "parameters": {"counts": [3, 4]},
            "schema": GROUPED.to_dict(),
        }
        for rows in (SIZE, SIZE + 5):
            source = Recording()
            plan = Skeleton({"g": CODED["g"]}, rows, copied=True)
            simulate(published, plan, source, model=None, balanced=True)
            assert {"permutation"} in source.asked
            assert sum("permutation" in names for names in source.asked) == 1
            assert {"random", "permuted"} in source.asked

    def test_what_cannot_be_balanced_is_refused_before_anything_is_charged(self, tmp_path):
        book = us.Ledger.create(tmp_path / "l.db", budget=9.0, adjacency="add-remove")
        ruled = us.Schema.from_dict(ALONE.to_dict() | {"rules": [{"then": "x < 0.999"}]})
        ph = us.PerturbedHistogram(epsilon=1.0, bins=5)
        with pytest.raises(us.BadInput, match="structural rules"):
            us.synthesize(ruled, TABLE, ph, balanced=True, ledger=tmp_path / "l.db")
        assert book.entries() == ()
        release = us.synthesize(ruled, TABLE, ph)
        with pytest.raises(us.BadInput, match="structural rules"):
            release.sample(5, balanced=True)
        with pytest.raises(us.BadInput, match="`balanced` must be True or False"):
            us.synthesize(ALONE, TABLE, ph, balanced=1)
