"""Influence functions against what leaving out a record does."""

import numpy as np
import pytest

from questioned import SCHEMA, records
from understudy.questions import asked

TEXTS = [
    "mean(pay)",
    "share(pay > 2000)",
    "correlation(pay, age)",
    "mean(pay) by job",
    "pay ~ age + job",
]


@pytest.mark.parametrize("text", TEXTS)
def test_leaving_a_record_out_moves_the_answer_by_its_influence(text):
    columns = records(np.random.default_rng(4), 800, gaps=True)
    question = asked(text, SCHEMA)
    whole, influence = question.answer(columns), question.influence(columns)
    chosen = range(0, 800, 8)
    for name, psi in influence.items():
        assert np.mean(psi) == pytest.approx(0, abs=1e-6 * np.abs(psi).max() + 1e-9)
        moved = []
        for k in chosen:
            without = {c: np.delete(values, k) for c, values in columns.items()}
            moved.append((whole[name] - question.answer(without)[name]) * 799)
        assert np.array(moved) == pytest.approx(psi[::8], abs=0.05 * psi.std() + 1e-9, rel=0.1)


@pytest.mark.parametrize("outcome", ["logistic", "poisson"])
def test_influences_of_other_regressions_add_up_to_the_variance_of_the_fit(outcome):
    columns = records(np.random.default_rng(5), 4000)
    text = {"logistic": "owner ~ age", "poisson": "visits ~ age"}[outcome]
    question = asked(text, SCHEMA)
    assert question.kind == outcome
    for name, (_, variance) in question.analyse(columns).items():
        psi = question.influence(columns)[name]
        assert np.mean(psi**2) / len(psi) == pytest.approx(variance, rel=0.25)


def test_the_influence_on_a_quantile_makes_its_variance():
    generator = np.random.default_rng(6)
    question = asked("quantile(pay, 0.9)", SCHEMA)
    columns = records(generator, 40_000)
    found = [
        question.answer({n: v[k * 400 : (k + 1) * 400] for n, v in columns.items()})
        for k in range(100)
    ]
    spread = np.var([each["quantile(pay, 0.9)"] for each in found])
    (psi,) = question.influence(columns).values()
    assert np.mean(psi**2) / 400 == pytest.approx(spread, rel=0.4)
