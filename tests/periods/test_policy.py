"""A policy is read back as it was written, and refused once it was touched."""

import hashlib

import pytest

import understudy as us
from understudy.errors import BadInput, Refused
from understudy.mechanisms import Anchored, CensorW, PerturbedHistogram
from understudy.periods.policy import Policy, model_terms, reference_file
from understudy.privacy.guarantee import Adjacency

SCHEMA = """\
[table]
size = 300
[columns.pay]
role = "confidential"
type = "continuous"
bounds = [0, 100]
"""


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "pay.toml"
    path.write_text(SCHEMA)
    return path


def policy(schema, **changes):
    given = {
        "mechanism": "anchored",
        "epsilon": 0.5,
        "adjacency": Adjacency.ADD_REMOVE,
        "threshold": 2.0,
        "model": "beta",
        "schema": schema.name,
        "schema_digest": us.Schema.load(schema).digest,
        "budget": 6.0,
        "population": 'staff of "A" \\ B',
        "reference_is": "public",
        "reference_digest": "0" * 64,
        "anchor": {"phi": 0.25, "lambda": 1e-05},
    }
    return Policy(**(given | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"anchor": None, "threshold": None, "rows": 100},
        {"anchor": {"1|state_offset": [0.5, -1.5], "b": [[1.0, 2.0], [3.0, 4.0]]}},
        {"model": "pay ~ 1", "family": "gamma", "priors": ("Intercept=normal(0, 1)",)},
        {"mechanism": "censor-w", "threshold": None, "c1": 0.8, "c2": 0.2},
        {"mechanism": "summary", "threshold": None, "delta": 1e-6},
        {"balanced": True},
    ],
)
def test_what_is_written_is_read_back(schema, tmp_path, changes):
    made = policy(schema, **changes)
    made.write(tmp_path / "POLICY.toml")
    assert Policy.load(tmp_path / "POLICY.toml") == made


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon = 0.5", "epsilon = 0.6"),
        ("budget = 6.0", "budget = 60.0"),
        ('mechanism = "anchored"', 'mechanism = "unweighted"'),
        ('mechanism = "anchored"', ""),
        ("phi = 0.25", "phi = 0.26"),
        ("threshold = 2.0", ""),
        ("threshold = 2.0", "threshold = 2.0\nc1 = 1.0"),
        ("threshold = 2.0", "threshold = 2.0\nbalanced = true"),
        ("threshold = 2.0", "threshold = 2.0\nbalanced = 'yes'"),
        ("threshold = 2.0", "threshold = 2.0\nnote = 'x'"),
        ("digest = ", "digest = 1 #"),
        ("epsilon = 0.5", "epsilon = ="),
        ('adjacency = "add-remove"', 'adjacency = "both"'),
        ('reference_is = "public"', 'reference_is = "confidential"'),
        ('reference_digest = "0', 'reference_digest = "1'),
    ],
)
def test_an_edited_policy_is_refused(schema, tmp_path, old, new):
    file = tmp_path / "POLICY.toml"
    policy(schema).write(file)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(Refused, match="was edited"):
        Policy.load(file)


@pytest.mark.parametrize("changes", [{"reference_digest": None}, {"reference_is": "secret"}])
def test_a_policy_that_does_not_say_what_it_was_calibrated_on_is_refused(schema, tmp_path, changes):
    """Even where its digest fits, which is no secret."""
    policy(schema, **changes).write(tmp_path / "POLICY.toml")
    with pytest.raises(Refused, match="is not complete"):
        Policy.load(tmp_path / "POLICY.toml")


@pytest.mark.parametrize(
    "changes", [{"budget": "x"}, {"epsilon": "1"}, {"rows": 1.5}, {"population": 7}]
)
def test_a_sealed_policy_with_values_of_another_type_is_refused(schema, tmp_path, changes):
    """The digest is no secret: anybody can seal a policy, whatever it says."""
    policy(schema, **changes).write(tmp_path / "P.toml")
    with pytest.raises(Refused, match="not complete"):
        Policy.load(tmp_path / "P.toml")


def test_the_fingerprint_of_the_reference_is_kept_beside_the_policy(tmp_path):
    assert reference_file(tmp_path / "POLICY.toml") == tmp_path / "POLICY.reference.json"
    assert reference_file("pay.v2.toml").name == "pay.v2.reference.json"


def test_a_missing_policy_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="there is no file"):
        Policy.load(tmp_path / "POLICY.toml")


def test_a_changed_schema_is_refused(schema, tmp_path):
    made = policy(schema)
    assert made.load_schema(tmp_path / "POLICY.toml") == us.Schema.load(schema)
    schema.write_text(SCHEMA.replace("100", "101"))
    with pytest.raises(Refused, match=r"schema .* has changed since the policy was calibrated"):
        made.load_schema(tmp_path / "POLICY.toml")


def test_a_comment_in_the_schema_changes_nothing(schema, tmp_path):
    made = policy(schema)
    schema.write_text("# A comment.\n" + SCHEMA)
    assert made.load_schema(tmp_path / "POLICY.toml").digest == made.schema_digest


MODEL = """\
import numpyro
import numpyro.distributions as dist
from pathlib import Path

Path(__file__).with_suffix(".ran").touch()


def staff(pay, n):
    mean = numpyro.sample("mean", dist.Normal(3, 1))
    with numpyro.plate("records", n):
        numpyro.sample("pay", dist.LogNormal(mean, 0.5), obs=pay)


def others(pay, n):
    return staff(pay, n)
"""


@pytest.fixture
def in_file(schema, tmp_path):
    """A policy whose model is in a file, and that file, elsewhere."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    file = place / "mine.py"
    file.write_text(MODEL)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return policy(schema, model="mine.py:staff", model_digest=digest), file


def test_a_model_in_a_file_is_the_one_that_is_named_and_fits(schema, in_file):
    made, file = in_file
    built = made.load_model(us.Schema.load(schema), f"{file}:staff")
    assert built.spec["digest"] == made.model_digest
    renamed = file.rename(file.with_name("other.py"))
    assert made.load_model(us.Schema.load(schema), f"{renamed}:staff") is not None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, r"add `model` path/to/mine\.py:staff"),
        ("beta", r"give it as `model` path/to/mine\.py:staff"),
        ("{}:others", r"give it as `model` path/to/mine\.py:staff"),
    ],
)
def test_nothing_that_a_policy_names_is_run(schema, in_file, monkeypatch, given, reason):
    made, file = in_file
    monkeypatch.chdir(file.parent)
    with pytest.raises(Refused, match=reason):
        made.load_model(us.Schema.load(schema), given and given.format(file))
    assert not file.with_suffix(".ran").exists()


def test_a_changed_model_file_is_refused_before_it_is_run(schema, in_file):
    made, file = in_file
    file.write_text(MODEL.replace("0.5", "0.6"))
    with pytest.raises(Refused, match=r"file of the model .* has changed"):
        made.load_model(us.Schema.load(schema), f"{file}:staff")
    assert not file.with_suffix(".ran").exists()


def test_a_file_without_a_digest_in_the_policy_is_not_run(schema, in_file):
    _, file = in_file
    with pytest.raises(Refused, match=r"file of the model .* has changed"):
        policy(schema, model="mine.py:staff").load_model(us.Schema.load(schema), f"{file}:staff")
    assert not file.with_suffix(".ran").exists()


@pytest.mark.parametrize(
    "changes", [{}, {"model": "pay ~ 1", "family": "gamma"}, {"model": None, "mechanism": "ph"}]
)
def test_another_model_than_the_policy_s_is_refused(schema, in_file, changes):
    _, file = in_file
    made, declared = policy(schema, **changes), us.Schema.load(schema)
    for given in ("mixture", "pay ~ 2", f"{file}:staff"):
        with pytest.raises(Refused, match="leave out `model`"):
            made.load_model(declared, given)
    assert not file.with_suffix(".ran").exists()
    for same in (None, made.model):
        assert (made.load_model(declared, same) is None) == (made.model is None)


def test_the_anchor_is_the_earlier_period_s_theta_or_the_policy_s_own(schema):
    model = us.beta(us.Schema.load(schema))
    earlier = {"phi": 0.4, "lambda": 3.0}
    ours = policy(schema).build(model, None)
    assert isinstance(ours, Anchored)
    assert (ours.anchor, ours.threshold, ours.epsilon) == ({"phi": 0.25, "lambda": 1e-05}, 2.0, 0.5)
    assert policy(schema).build(model, earlier).anchor == earlier
    assert policy(schema, anchor=None).build(model, None).anchor is None


def test_censor_w_has_weights_from_a_theta_or_is_refused(schema):
    model = us.beta(us.Schema.load(schema))
    made = policy(schema, mechanism="censor-w", threshold=None, anchor=None, c1=0.8, c2=0.0)
    built = made.build(model, {"phi": 0.4, "lambda": 3.0})
    assert isinstance(built, CensorW)
    assert built.reference is not None
    assert str(built.kind) == "strict"
    with pytest.raises(Refused, match="needs weights that are fixed before the table is seen"):
        made.build(model, None)


def test_the_histogram_needs_neither_model_nor_anchor(schema):
    made = policy(schema, mechanism="ph", threshold=None, model=None, anchor=None)
    assert isinstance(made.build(None, None), PerturbedHistogram)


def test_a_policy_keeps_no_directory_of_the_model_s_file(schema, in_file):
    made, file = in_file
    terms = model_terms(made.load_model(us.Schema.load(schema), f"{file}:staff"))
    assert terms == {
        "model": "mine.py:staff",
        "family": None,
        "priors": (),
        "model_digest": hashlib.sha256(file.read_bytes()).hexdigest(),
    }


def test_a_model_with_a_schema_of_its_own_does_not_get_around_the_policy_s(tmp_path):
    """Its bounds would be those of the release, and nobody would have agreed on them."""
    column = {"role": "confidential", "type": "continuous", "bounds": [0, 100]}
    declared = us.Schema.from_dict({"table": {"size": 50}, "columns": {"pay": column}})
    wider = us.Schema.from_dict(
        {"table": {"size": 50}, "columns": {"pay": column | {"bounds": [0, 90]}}}
    )
    policy = Policy(
        mechanism="anchored", epsilon=1.0, adjacency=us.Adjacency.ADD_REMOVE,
        **model_terms(us.beta(declared)), schema_digest=declared.digest, budget=1.0,
        population="staff", reference_is="public", reference_digest="",
    )  # fmt: skip
    own = us.beta(declared)
    assert policy.load_model(declared, own) is own
    with pytest.raises(Refused, match="was built with another schema than the policy's"):
        policy.load_model(declared, us.beta(wider))


def test_a_policy_that_asks_for_independent_rows_says_nothing_of_it(schema):
    """So that a policy from before there were balanced rows still fits its digest."""
    assert "balanced" not in policy(schema).to_toml()
    assert "balanced = true" in policy(schema, balanced=True).to_toml()
