"""An estimate of θ, draws that vary as it does, and a check: by simulation."""

import numpy as np
import pytest

import understudy as us
from summaries import ANSWER, CONFIDENTIAL, PUBLIC, schema_of
from understudy._jax import jnp
from understudy.inference.cells import Cells, Pair
from understudy.inference.columns import Fitted
from understudy.inference.contribution import TableContribution
from understudy.inference.measurement import GAUSSIAN, LAPLACE, Measurement, Noise
from understudy.inference.moments import Population
from understudy.inference.whole import Whole, infer_whole, whole_without_noise
from understudy.models.base import GRID
from understudy.support.randomness import Source

KIND = CONFIDENTIAL | {"type": "categorical", "levels": ["p", "q", "r"]}
SCHEMA = schema_of(answer=ANSWER, kind=KIND)
MODEL = us.joint(SCHEMA)
SHARES = np.array([[0.3, 0.1, 0.05], [0.1, 0.15, 0.3]])
BESIDE = schema_of(kind=KIND, g=PUBLIC)
SIZE, UNITS = 2000, 1000


def whole(counts, scale, *, generator=None, distribution=LAPLACE, public=None):
    """Return what is measured of counts of two columns, with noise if there is a generator.

    The first column is the answer, or the public one where there are public rows.
    """
    model = MODEL if public is None else us.joint(BESIDE)
    one = Cells(model.schema.column("answer" if public is None else "g"))
    other = Cells(model.schema.column("kind"))
    first, second = counts.sum(axis=1), counts.sum(axis=0)
    rounds = [((one, other), [first, second]), ((Pair(one, other),), [counts.ravel()])]
    if public is not None:
        rounds[0] = ((other,), [second])
    measured = []
    for tables, parts in rounds:
        norm = 1 if distribution == LAPLACE else 2
        made = TableContribution(model, tables, (UNITS,) * len(tables), norm=norm)
        total = UNITS * np.concatenate(parts)
        if generator is not None:
            draw = generator.laplace if distribution == LAPLACE else generator.normal
            total = total + draw(scale=UNITS * scale, size=len(total))
        noise = Noise(UNITS * scale, distribution)
        measured.append(Measurement(made, np.rint(total).astype(np.int64), noise, 1.0))
    return Whole(Population(model, public or {}, SIZE, public is not None), measured)


def predicted(theta):
    """Return shares of all pairs of values at a θ, by summing over the model's own density."""
    values = {"answer": np.repeat([0, 1], 3), "kind": np.tile([0, 1, 2], 2)}
    known = {name: jnp.asarray(each) for name, each in theta.items()}
    heights = MODEL.record_loglik(known, MODEL.prepare(values))
    return np.exp(heights).reshape(2, 3)


@pytest.mark.parametrize("distribution", [LAPLACE, GAUSSIAN])
def test_a_known_distribution_comes_back_from_exact_counts(distribution):
    made = whole(1e5 * SHARES, 0.1, distribution=distribution)
    fitted = made.estimated(np.random.default_rng(1))
    np.testing.assert_allclose(predicted(fitted.theta), SHARES, atol=2e-3)
    assert fitted.size == pytest.approx(1e5, rel=1e-3)
    for mean, table in zip(fitted.means, made.tables.every, strict=True):
        np.testing.assert_allclose(mean, table.values, atol=3e-3 * 1e5)


def test_means_are_what_the_model_predicts_of_its_pool():
    fitted = whole(SIZE * SHARES, 5.0).estimated(np.random.default_rng(2))
    expected = fitted.size * predicted(fitted.theta)
    np.testing.assert_allclose(fitted.means[0], expected.sum(axis=1), rtol=1e-3)
    np.testing.assert_allclose(fitted.means[2], expected, rtol=1e-3)


def test_errors_are_those_of_as_many_records():
    made = whole(SIZE * SHARES, 5.0)
    fitted = made.estimated(np.random.default_rng(3))
    errors = made.errors(fitted, Source(4), 60)
    assert len(errors) == 60
    for place, mean in enumerate(fitted.means):
        own = np.array([each[place] for each in errors])
        np.testing.assert_allclose(own.mean(axis=0), 0.0, atol=1e-9)
        shares = mean / fitted.size
        np.testing.assert_allclose(own.var(axis=0), fitted.size * shares * (1 - shares), rtol=0.8)
    # Tables are of the same records: a pair adds up to the columns that it is of.
    for single, other, pair in errors:
        np.testing.assert_allclose(pair.sum(axis=1), single, atol=1e-6)
        np.testing.assert_allclose(pair.sum(axis=0), other, atol=1e-6)


@pytest.mark.parametrize("distribution", [LAPLACE, GAUSSIAN])
def test_draws_vary_as_the_estimate_does(distribution):
    """Over fresh records and fresh noise, estimates have about the spread of the draws of one."""
    generator, scale = np.random.default_rng(5), 12.0
    fresh = []
    for _ in range(24):
        counts = generator.multinomial(SIZE, SHARES.ravel()).reshape(2, 3)
        made = whole(counts, scale, generator=generator, distribution=distribution)
        fresh.append(predicted(made.estimated(generator).theta))
    posterior = infer_whole(
        whole(SIZE * SHARES, scale, distribution=distribution), Source(6), draws=24
    )
    draws = np.array([predicted(each) for each in posterior.draws])
    np.testing.assert_allclose(draws.mean(axis=0), np.mean(fresh, axis=0), atol=0.012)
    ratio = draws.std(axis=0) / np.std(fresh, axis=0)
    assert 0.75 < np.exp(np.log(ratio).mean()) < 1.33


def test_a_model_that_explains_its_tables_passes_the_check_and_another_does_not():
    generator = np.random.default_rng(7)
    counts = generator.multinomial(SIZE, SHARES.ravel()).reshape(2, 3)
    fine = infer_whole(whole(counts, 5.0, generator=generator), Source(8), draws=12).check
    assert fine.p_value > 0.02
    assert fine.entries == 2 + 3 + 6
    made = whole(counts, 5.0, generator=generator)
    # Pairs of other people than the single columns are of: nothing explains both.
    other = whole(counts[::-1], 5.0, generator=generator)
    torn = Whole(made.population, (made.measurements[0], other.measurements[1]))
    assert infer_whole(torn, Source(9), draws=12).check.p_value <= 1 / 30


def test_what_is_published_is_on_the_grid_with_the_estimate_first():
    posterior = infer_whole(whole(SIZE * SHARES, 5.0), Source(10), draws=5)
    assert len(posterior.thetas) == 6
    assert posterior.directions is None
    assert posterior.fit["sampler"] == "columns"
    for name, values in posterior.natural.items():
        steps = values / GRID
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
        np.testing.assert_allclose(values[0], posterior.estimate[name], atol=GRID)
        np.testing.assert_array_equal(np.asarray(posterior.thetas[2][name]), values[2])


def test_the_same_seed_leads_to_the_same_draws():
    made = whole(SIZE * SHARES, 5.0)
    one, two = (infer_whole(made, Source(11), draws=3) for _ in range(2))
    assert one.thetas == two.thetas
    assert infer_whole(made, Source(12), draws=3).thetas != one.thetas


def test_without_noise_draws_vary_less():
    made = whole(SIZE * SHARES, 40.0)
    with_it = infer_whole(made, Source(13), draws=20).draws
    without = whole_without_noise(made, Source(13), count=20)
    spreads = [
        np.array([predicted(theta) for theta in each]).std(axis=0) for each in (with_it, without)
    ]
    assert (spreads[1] < spreads[0]).all()
    # What is left is the chance of records, and what the prior of effects lets them vary.
    sampled = np.sqrt(SHARES * (1 - SHARES) / SIZE)
    assert spreads[1].mean() == pytest.approx(sampled.mean(), rel=0.4)


def test_public_rows_that_are_known_are_all_there_equally_often():
    public = {"g": (np.arange(700) % 7 == 0).astype(np.int64)}
    made = whole(700 * SHARES, 1.0, public=public)
    rows = made._public(20_000, np.random.default_rng(14))["g"]
    assert len(rows) == 20_300
    assert rows.mean() == pytest.approx(1 / 7)
    other = Whole(Population(made.population.model, public, SIZE, False), made.measurements)
    assert len(other._public(20_000, np.random.default_rng(15))["g"]) == 20_000
    assert (made.size, other.size) == (SIZE, None)


@pytest.mark.parametrize("known", [True, False])
def test_a_column_that_depends_on_a_public_one_is_predicted_for_its_rows(known):
    public = {"g": np.repeat([0, 1], [900, 1100])}
    made = whole(SIZE * SHARES, 0.5, public=public)
    made = Whole(Population(made.population.model, public, SIZE, known), made.measurements)
    fitted = made.estimated(np.random.default_rng(16))
    assert isinstance(fitted, Fitted)
    np.testing.assert_allclose(fitted.means[1], SIZE * SHARES, rtol=0.12, atol=10)
    errors = made.errors(fitted, Source(17), 20)
    rows = np.array([pair.sum(axis=1) for _, pair in errors])
    # Rows that are known do not vary; others are drawn anew, like the records that they are of.
    assert (rows.std() < 1e-6) == known
