"""What is said of the table's own records, against those records."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import BETA, PUBLIC, SHARE, schema_of

N = 2000
REGRESSION = us.formula("x ~ g", family="beta", schema=schema_of(N, x=SHARE, g=PUBLIC))


def table(seed):
    generator = np.random.default_rng([seed, 9])
    g = generator.integers(2, size=N)
    return pd.DataFrame({"x": generator.beta(2 + g, 5), "g": np.array(["a", "b"])[g]})


def test_with_hardly_any_noise_the_tables_own_mean_is_known():
    """Of the population it tells no more than its sampling error allows."""
    records = table(1)[["x"]]
    release = us.synthesize(BETA, records, us.Summary(epsilon=30.0), seed=1)
    (own,) = release.infer("mean(x)", finite=True, seed=1).estimates
    (population,) = release.infer("mean(x)", seed=1).estimates
    assert own.estimate == pytest.approx(records["x"].mean(), abs=4 * own.deviation)
    assert own.deviation < 0.3 * population.deviation
    assert population.deviation == pytest.approx(records["x"].std() / np.sqrt(N), rel=0.2)
    assert 0 <= own.privacy_share < 1


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "narrower"), [(1.0, 0.7), (0.1, 1.05)])
def test_intervals_hold_what_is_true_of_the_table(epsilon, narrower):
    """Of groups and a regression, with public predictors; a wrong K would miss or waste."""
    held, widths, errors = [], [], []
    for seed in range(24):
        records = table(seed)
        release = us.synthesize(REGRESSION, records, us.Summary(epsilon=epsilon), seed=seed)
        means = records.groupby("g")["x"].mean()
        truth = [means["a"], means["b"], means["b"] - means["a"]]
        own = release.infer("mean(x) by g", finite=True, seed=seed).estimates
        about = release.infer("mean(x) by g", given_predictors=True, seed=seed).estimates
        for each, other, true in zip(own, about, truth, strict=True):
            held.append(each.lower <= true <= each.upper)
            widths.append((each.upper - each.lower) / (other.upper - other.lower))
            errors.append((true - each.estimate) / each.deviation)
    assert np.mean(held) > 0.86
    assert np.mean(widths) < narrower
    assert np.std(errors) == pytest.approx(1.0, abs=0.3)


def test_rows_that_were_drawn_are_not_the_tables_own():
    release = us.synthesize(REGRESSION, table(2), us.Summary(epsilon=1.0), rows=500, seed=1)
    with pytest.raises(us.Refused, match="does not hold the table's own public rows"):
        release.infer("mean(x)", finite=True)


def test_a_function_can_only_be_asked_of_a_population():
    release = us.synthesize(BETA, table(3)[["x"]], us.Summary(epsilon=1.0), seed=1)
    with pytest.raises(us.BadInput, match="ask in words"):
        release.infer(lambda frame: frame["x"].mean(), finite=True)
