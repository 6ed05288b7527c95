"""No public object shows, holds or passes on what was learned from a confidential table."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.errors import BadInput
from understudy.synthesis.preparation import prepare
from understudy.synthesis.release import Internal

SALARY = {"role": "confidential", "type": "continuous", "bounds": [0, 1e6]}
SCHEMA = us.Schema.from_dict({"table": {"size": 100}, "columns": {"salary": SALARY}})
TOML = """\
[table]
size = 100
[columns.salary]
role = "confidential"
type = "continuous"
bounds = [0, 1000000]
"""
VALUES = 1e6 * np.random.default_rng(11).beta(2, 5, 97)
TABLE = pd.DataFrame({"salary": VALUES})


@pytest.fixture(scope="module")
def release():
    return us.synthesize(us.beta(SCHEMA), TABLE, us.Anchored(epsilon=1.0))


@pytest.fixture(scope="module")
def secrets(release):
    """Return texts that only somebody who has seen the table can write, to six digits."""
    told = [*VALUES, VALUES.mean(), np.median(VALUES), *np.quantile(VALUES, [0.15, 0.9])]
    inside = json.loads(json.dumps(release.internal.diagnostics))
    told += [inside["utility"]["salary"]["max_ecdf"], inside["lipschitz_bound"]]
    told += [inside["parameters"]["phi"]["mean"], inside["parameters"]["phi"]["sd"]]
    return [f"{number:.6g}"[:7] for number in told if number]


def walk(value, seen=None):
    """Yield every object that can be reached from one by `vars`, elements and attributes."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    inner = list(vars(value).values()) if hasattr(value, "__dict__") else []
    if isinstance(value, dict):
        inner += [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        inner += list(value)
    if not isinstance(value, pd.DataFrame | np.ndarray | type):
        for each in inner:
            yield from walk(each, seen)


def texts(public):
    yield repr(public)
    yield str(public)
    if hasattr(public, "_repr_html_"):
        yield public._repr_html_()
    if hasattr(public, "__dict__"):
        yield repr(vars(public))


@pytest.fixture(scope="module")
def objects(release):
    ledger_free = [release, release.guarantee, *release.parameters, SCHEMA, us.beta(SCHEMA)]
    return [*ledger_free, us.Anchored(epsilon=1.0), us.CensorW(epsilon=1.0), release.synthetic]


def test_no_public_object_shows_a_confidential_number(objects, secrets):
    """In a notebook, any cell that ended in `release` printed the confidential mean."""
    for public in objects:
        for text in texts(public):
            assert not [secret for secret in secrets if secret in text], type(public)


def test_what_can_be_reached_from_a_release_holds_nothing_confidential(release, secrets):
    for value in walk(release):
        assert not isinstance(value, Internal)
        if isinstance(value, float):
            assert f"{value:.6g}"[:7] not in secrets
        if isinstance(value, pd.DataFrame):
            assert not np.isin(VALUES, value.to_numpy()).any()


def test_a_pickle_or_a_copy_of_a_release_is_its_public_half(release, tmp_path):
    for public in (pickle.loads(pickle.dumps(release)), copy.copy(release), copy.deepcopy(release)):
        assert public.guarantee == release.guarantee
        assert public.synthetic.equals(release.synthetic)
        assert public.card() == release.card()
        with pytest.raises(BadInput, match="its internal half stayed where"):
            _ = public.internal
        with pytest.raises(BadInput, match="its internal half stayed where"):
            public.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert release.write(tmp_path / "both").joinpath("internal/report.html").exists()


def test_what_must_stay_says_so_and_no_more(release):
    request = prepare(us.beta(SCHEMA), TABLE, us.Anchored(epsilon=1.0))
    plan = request.mechanism.plan(request)
    for internal in (release.internal, request, plan, plan.draw()):
        name = type(internal).__name__
        assert repr(internal) == str(internal) == f"<{name}: confidential, stays inside>"
        for leak in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="confidential"):
                leak(internal)


def test_how_close_a_table_came_is_told_when_asked_and_not_when_shown(release):
    measured = us.measure_table(TABLE, release.synthetic, SCHEMA)
    assert repr(measured) == "<TableUtility: confidential, stays inside>"
    assert measured.to_dict()["utility"]["salary"]["confidential"]["mean"] == VALUES.mean()


def test_what_a_calibration_tried_on_a_confidential_table_is_not_shown(tmp_path):
    (tmp_path / "s.toml").write_text(TOML)
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    made = us.calibrate(
        us.Schema.load(tmp_path / "s.toml"),
        tmp_path / "t.csv",
        reference_is="confidential",
        population="us",
        epsilon=1.0,
        draws=1,
    )
    for inside in (made, made.chosen, made.reference, *made.chosen.draws):
        assert repr(inside) == f"<{type(inside).__name__}: confidential, stays inside>"
        with pytest.raises(TypeError, match="confidential"):
            pickle.dumps(inside)
    assert f"{made.chosen.distance:.4g}" not in repr(made.policy)


def test_what_was_learned_from_a_confidential_reference_is_not_shown():
    reference = us.reference(us.beta(SCHEMA), TABLE, confidential=True, seed=1)
    shown = [repr(reference), repr(us.Anchored(epsilon=1.0, reference=reference))]
    shown.append(repr(us.CensorW(epsilon=1.0, reference=reference)))
    for text in shown:
        assert "confidential" in text
        for number in (*reference.extent, reference.theta["phi"]):
            assert f"{number:.4g}" not in text
    with pytest.raises(TypeError, match="confidential"):
        pickle.dumps(reference)
