import numpy as np
import pandas as pd
import pytest

import understudy as us

COLUMNS = {
    "pay": {"role": "confidential", "type": "continuous", "bounds": [0, 100]},
    "sex": {"role": "confidential", "type": "categorical", "levels": ["F", "M"]},
}


def table(rows):
    generator = np.random.default_rng(1)
    sex = generator.choice(["F", "M"], rows)
    return pd.DataFrame({"pay": 100 * generator.beta(2, 5, rows), "sex": sex})


@pytest.mark.slow
def test_a_schema_alone_is_fitted_with_all_its_columns():
    schema = us.Schema.from_dict({"table": {"size": 60}, "columns": COLUMNS})
    mechanism = us.Anchored(epsilon=1.0, stages=1, candidates=256)
    release = us.Synthesizer(schema, mechanism).fit(table(60))
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
    release = synthesizer.fit(table(60))
    assert release.guarantee.charged.startswith("entry 1")
    assert len(release.sample(9)) == 9
