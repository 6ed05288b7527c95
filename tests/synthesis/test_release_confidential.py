"""No public object shows, holds or passes on what was learned from a confidential table."""

import copy
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import understudy as us
from understudy.errors import BadInput
from understudy.synthesis.preparation import prepare
from understudy.synthesis.release import Internal

VALUES = 1e6 * np.random.default_rng(11).beta(2, 5, 97)

SALARY = {"role": "confidential", "type": "continuous", "bounds": [0, 1e6]}

SCHEMA = us.Schema.from_dict({"table": {"size": 100}, "columns": {"salary": SALARY}})

TABLE = pd.DataFrame({"salary": VALUES})


@pytest.fixture(scope="module")
def release():
    # A synthetic salary begins like one of the table by chance, once in some hundred releases.
    return us.synthesize(us.beta(SCHEMA), TABLE, us.Anchored(epsilon=1.0), seed=1)


@pytest.fixture(scope="module")
def secrets(release):
    """Return how only somebody who has seen the table can begin a number, to six digits."""
    told = [*VALUES, VALUES.mean(), np.median(VALUES), *np.quantile(VALUES, [0.15, 0.9])]
    inside = json.loads(json.dumps(release.internal.diagnostics))
    told += [inside["utility"]["salary"]["max_ecdf"], inside["lipschitz_bound"]]
    told += [inside["parameters"]["phi"]["mean"], inside["parameters"]["phi"]["sd"]]
    return [f"{number:.6g}"[:7] for number in told if number]


def shown(text, secrets):
    """Return the secrets that numbers of a text begin with: inside of others, digits are chance."""
    return [secret for secret in secrets if re.search(rf"(?<![\d.]){re.escape(secret)}", text)]


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
            assert not shown(text, secrets), type(public)


def test_a_secret_is_found_wherever_a_number_begins_with_it(secrets):
    for secret in secrets:
        assert shown(f"mean={secret}23, other 0.5", [secret])
        assert shown(f"[-{secret}]", [secret])
        assert not shown(f"12{secret} 0.1{secret.replace('.', '')}", [secret])


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
