"""Rounds: what is measured in which order, and that the order of a table's rows says nothing."""

import numpy as np
import pandas as pd
import pytest

import understudy as us
from summaries import ANSWER, BETA, PUBLIC, schema_of
from understudy.mechanisms import Summary
from understudy.synthesis.preparation import prepare


def test_an_anchored_column_is_measured_by_scores_alone():
    table = pd.DataFrame({"x": np.random.default_rng(1).beta(0.5, 3, 300)})
    anchor = {"phi": 0.2, "lambda": 3.0}
    for given, kinds in ((None, ["table", "score"]), (anchor, ["score"])):
        request = prepare(BETA, table, Summary(epsilon=1.0, anchor=given), seed=1)
        rounds = request.mechanism.plan(request).measure()
        assert [each.contribution.kind for each in rounds.measurements] == kinds
        assert (rounds.measurements[-1].contribution.count > 0) == (given is not None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_what_is_inferred_does_not_depend_on_the_order_of_the_table(whole, weighted):
    """A table may be sorted by what is confidential, beside public values that are copied."""
    generator = np.random.default_rng(4)
    columns = {"answer": ANSWER, "g": PUBLIC}
    table = pd.DataFrame({"g": generator.choice(["a", "b"], 300)})
    table["answer"] = np.where(generator.random(300) < 0.3 + 0.3 * (table["g"] == "b"), "yes", "no")
    if weighted:
        weight = {"type": "continuous", "bounds": [0, 4], "average": 1}
        columns["weight"] = weight | {"role": "survey-weight"}
        table["weight"] = generator.uniform(0.5, 2, 300)
    schema = schema_of(size=300, **columns)
    model = (
        us.joint(schema) if whole else us.formula("answer ~ g", family="bernoulli", schema=schema)
    )
    first, other = (
        us.synthesize(model, each.reset_index(drop=True), Summary(epsilon=1.0), seed=5)
        for each in (table, table.sort_values("answer"))
    )
    for key in ("rounds", "estimate", "draws"):
        assert first.parameters[0][key] == other.parameters[0][key], key
