"""Moments of contributions from simulated records, against quadrature and enumeration."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from summaries import BETA, LOGISTIC, OUTCOMES, answers
from understudy._jax import jnp
from understudy.inference.cells import Cells
from understudy.inference.contribution import UNIT, ScoreContribution, TableContribution
from understudy.inference.moments import Population, Simulated, moments
from understudy.support.randomness import Source

Z = np.array([-1.2, 1.0])
EDGES = (0.05, 0.2, 0.5)
TABLE = TableContribution(BETA, (Cells(BETA.schema.confidential[0], EDGES),))
POPULATION = Population(BETA, {}, 2000, False)


def shapes(z):
    theta = BETA.constrain(jnp.asarray(z))
    mean, precision = float(theta["phi"]), float(theta["lambda"])
    return precision * mean, precision * (1 - mean)


def cell_shares(z):
    return np.diff(scipy.stats.beta(*shapes(z)).cdf([0, *EDGES, 1]))


def test_mean_covariance_and_slope_of_a_table_are_those_of_its_cells():
    simulated = POPULATION.simulate(Z, Source(1), 200_000)
    found, shares = moments(simulated, [TABLE], Z), cell_shares(Z)
    errors = np.sqrt(np.diag(found.doubt))
    assert (np.abs(found.mean - shares) < 5 * errors).all()
    covariance = np.diag(shares) - np.outer(shares, shares)
    np.testing.assert_allclose(found.covariance, covariance, atol=0.004)
    step = 1e-5
    slopes = [(cell_shares(Z + s) - cell_shares(Z - s)) / (2 * step) for s in step * np.eye(2)]
    np.testing.assert_allclose(found.slope, np.transpose(slopes), atol=0.004)


def test_the_mean_of_clipped_scores_is_that_of_quadrature():
    scores = ScoreContribution(BETA, Z, np.eye(2), np.zeros(2), UNIT // 2)
    there = Z + np.array([0.3, -0.2])
    density = scipy.stats.beta(*shapes(there))

    def expected(entry):
        def inside(p):
            return scores.each({"x": np.array([density.ppf(p)])})[0, entry] / UNIT

        return scipy.integrate.fixed_quad(np.vectorize(inside), 0, 1, n=400)[0]

    found = moments(POPULATION.simulate(there, Source(2), 100_000), [scores], there)
    errors = np.sqrt(np.diag(found.doubt))
    for entry in range(2):
        assert abs(found.mean[entry] - expected(entry)) < 5 * errors[entry] + 1e-4


def test_the_control_variate_makes_the_mean_more_exact():
    scores = ScoreContribution(BETA, Z, np.eye(2), np.zeros(2), 4 * UNIT)
    found = moments(POPULATION.simulate(Z, Source(3), 8192), [scores], Z)
    plain = np.diag(found.covariance) / 8192
    assert (np.diag(found.doubt) < 0.2 * plain).all()


def test_predictors_that_are_known_do_not_vary():
    """Var(Σ w | predictors) is Σ pᵢ(1 − pᵢ): less than N p̄(1 − p̄) where predictors matter."""
    import understudy as us
    from summaries import ANSWER, PUBLIC, schema_of

    model = us.formula("y ~ g", family="bernoulli", schema=schema_of(y=ANSWER, g=PUBLIC))
    z = np.array([-2.0, 4.0])
    public = {"g": np.arange(400) % 2}
    yes = 1 / (1 + np.exp(-np.array([-2.0, 2.0])))
    table = TableContribution(model, (Cells(model.schema.confidential[0]),))
    fixed = moments(Population(model, public, 400, True).simulate(z, Source(4), 40_000), [table], z)
    loose = moments(
        Population(model, public, 400, False).simulate(z, Source(4), 40_000), [table], z
    )
    assert fixed.covariance[1, 1] == pytest.approx(np.mean(yes * (1 - yes)), rel=0.05)
    assert loose.covariance[1, 1] == pytest.approx(yes.mean() * (1 - yes.mean()), rel=0.05)
    slope = np.array([np.mean(yes * (1 - yes)), yes[1] * (1 - yes[1]) / 2])
    np.testing.assert_allclose(fixed.slope[1], slope, rtol=0.06)


def test_every_known_row_is_simulated_equally_often():
    population, _ = answers(300, noisy=[1, 2], scale=1.0)
    simulated = population.simulate(np.zeros(1), Source(5), 1000)
    assert simulated.repeats == 4
    np.testing.assert_array_equal(simulated.columns["g"], np.tile(np.arange(300) % 2, 4))


def test_of_very_many_known_rows_some_are_simulated_each_kind_as_often_as_it_should_be():
    kinds = np.repeat(np.arange(4), [70_000, 20_000, 9_975, 25])
    population = Population(LOGISTIC, {"g": kinds}, 100_000, True)
    simulated = population.simulate(np.zeros(1), Source(6), 8192)
    assert (simulated.records, simulated.repeats, simulated.share) == (8192, 2, 0.04096)
    rows = np.bincount(simulated.columns["g"][:4096], minlength=4)
    np.testing.assert_allclose(rows, np.bincount(kinds) * 0.04096, atol=1.5)
    np.testing.assert_array_equal(*simulated.columns["g"].reshape(2, -1))


@pytest.mark.parametrize("records", [4096, 40_000])
def test_doubt_holds_what_the_choice_of_rows_leaves_open(records, monkeypatch):
    """Half of what a mean may be off is due to rows, and nothing once all of them are there."""
    import understudy as us
    from summaries import ANSWER, PUBLIC, schema_of

    monkeypatch.setattr("understudy.inference.moments._MOST_FIXED", 1024)
    schema = schema_of(y=ANSWER, first=PUBLIC, second=PUBLIC)
    model = us.formula("y ~ second", family="bernoulli", schema=schema)
    generator, z = np.random.default_rng(11), np.array([-2.0, 4.0])
    public = {"first": np.sort(generator.integers(2, size=20_000))}
    public["second"] = generator.integers(2, size=20_000)
    yes = np.mean(1 / (1 + np.exp(2 - 4.0 * public["second"])))
    table = TableContribution(model, (Cells(model.schema.confidential[0]),))
    scores = []
    for seed in range(60):
        population = Population(model, public, 20_000, True)
        found = population.moments([table], z, Source(seed), records)
        scores.append((found.mean[1] - yes) / np.sqrt(found.doubt[1, 1]))
    # 60 squares of standard normals: from half to twice their number, but for one time in 10⁵.
    assert 30 < np.sum(np.square(scores)) < 120


def test_records_in_blocks_are_as_good_as_together(monkeypatch):
    together = POPULATION.moments([TABLE], Z, Source(3), 2**18)
    monkeypatch.setattr("understudy.inference.moments.MOST", 2**17)
    blocks = POPULATION.moments([TABLE], Z, Source(4), 2**18)
    errors = np.sqrt(np.diag(together.doubt + blocks.doubt))
    assert (np.abs(together.mean - blocks.mean) < 5 * errors).all()
    np.testing.assert_allclose(np.diag(blocks.doubt), np.diag(together.doubt), rtol=0.1)
    np.testing.assert_allclose(blocks.covariance, together.covariance, atol=0.004)
    np.testing.assert_allclose(blocks.slope, together.slope, atol=0.004)


def test_blocks_share_out_all_known_rows(monkeypatch):
    monkeypatch.setattr("understudy.inference.moments.MOST", 1024)
    monkeypatch.setattr("understudy.inference.moments._BLOCK", 512)
    population, _ = answers(5000, noisy=[1, 2], scale=1.0)
    seen, own = [], Simulated.slopes
    monkeypatch.setattr(
        Simulated, "slopes", lambda self, z: seen.append(self.columns["g"]) or own(self, z)
    )
    table = TableContribution(LOGISTIC, (Cells(LOGISTIC.schema.confidential[0]),))
    population.moments([table], np.zeros(1), Source(5), 10_000)
    assert len(seen) == 19
    assert np.bincount(np.concatenate(seen)).tolist() == [5000, 5000]


@pytest.mark.parametrize("name", OUTCOMES)
def test_scores_have_mean_zero(name):
    model, columns = OUTCOMES[name]
    public = {key: columns[key] for key in columns if key == "g"}
    z = 0.3 * np.random.default_rng(7).normal(size=model.dimension)
    slopes = Population(model, public, 2000, False).simulate(z, Source(8), 20_000).slopes(z)
    errors = slopes.std(axis=0) / np.sqrt(len(slopes))
    assert (np.abs(slopes.mean(axis=0)) < 5 * errors + 1e-12).all()
