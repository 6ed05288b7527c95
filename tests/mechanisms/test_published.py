"""A release's parameters, read back and checked before anything follows from them."""

import json

import pytest

import understudy as us
from skewed import COLUMN, MODEL, SCHEMA, TABLE
from understudy.mechanisms.published import fits_model, read_parameters


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        pytest.param(us.Unweighted(), {}, marks=pytest.mark.slow),
        (us.Anchored(epsilon=1.0), {"seed": 1}),
        pytest.param(
            us.CensorUw(epsilon=1.0), {"accept_poor_mixing": True}, marks=pytest.mark.slow
        ),
    ],
    ids=["no number", "seeded", "waived"],
)
def test_a_release_that_is_not_private_is_no_anchor(tmp_path, mechanism, options):
    release = us.synthesize(MODEL, TABLE, mechanism, **options)
    out = release.write(tmp_path / "out")
    with pytest.raises(us.BadInput, match="not released under a strict or conditional"):
        us.read_anchor(out / "public", MODEL)


def test_an_anchor_from_another_model_or_schema_is_refused(tmp_path):
    release = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0))
    file = release.write(tmp_path / "out") / "public/parameters.json"
    other = us.beta(us.Schema.from_dict({"table": {"size": 7}, "columns": {"x": COLUMN}}))
    with pytest.raises(us.BadInput, match="another schema"):
        us.read_anchor(file, other)
    histogram = us.synthesize(SCHEMA, TABLE, us.PerturbedHistogram(epsilon=1.0))
    made = histogram.write(tmp_path / "ph") / "public/parameters.json"
    with pytest.raises(us.BadInput, match="another model"):
        us.read_anchor(made, MODEL)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "does not exist"),
        ("{", "cannot be read as the parameters"),
        ("[" * 100_000, "cannot be read as the parameters"),
        ("{}", "is not a parameters file"),
        ('{"parameters": [], "model": {}, "schema": {}}', "is not a parameters file"),
    ],
)
def test_what_is_no_parameters_file_is_refused(tmp_path, text, reason):
    file = tmp_path / "parameters.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(us.BadInput, match=reason):
        read_parameters(file)


def widened(published):
    published["schema"]["columns"]["x"]["bounds"] = [0, 2]


def test_a_schema_that_is_not_the_one_of_its_digest_is_called_damage(tmp_path):
    """Rows would be drawn within bounds that nobody declared."""
    release = us.synthesize(SCHEMA, TABLE, us.PerturbedHistogram(epsilon=1.0))
    file = release.write(tmp_path / "out") / "public/parameters.json"
    intact = file.read_text()
    assert read_parameters(file) == json.loads(intact)
    for damage in (
        widened,
        lambda published: published.update(schema_digest="x"),
        lambda published: published.pop("schema_digest"),
    ):
        published = json.loads(intact)
        damage(published)
        file.write_text(json.dumps(published))
        with pytest.raises(us.BadInput, match="does not fit its digest: the file is damaged"):
            read_parameters(file)


@pytest.mark.parametrize(
    ("theta", "fits"),
    [
        ({"phi": 0.2, "lambda": 3.0}, True),
        ({"phi": 0.2}, False),
        ({"phi": 0.2, "lambda": 3.0, "more": 1.0}, False),
        ({"phi": [0.2], "lambda": 3.0}, False),
        ({"phi": "x", "lambda": 3.0}, False),
        ({"phi": float("nan"), "lambda": 3.0}, False),
    ],
)
def test_theta_has_a_finite_number_for_each_element_and_no_more(theta, fits):
    assert fits_model(theta, MODEL) is fits


@pytest.mark.parametrize(
    "told", [{"kind": "none"}, {"kind": "asymptotic"}, {"convergence_waived": True}]
)
def test_nor_is_one_that_says_so_of_itself(tmp_path, told):
    release = us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0))
    file = release.write(tmp_path / "out") / "public/parameters.json"
    assert us.read_anchor(file, MODEL) == release.parameters[0]["parameters"]
    file.write_text(json.dumps(json.loads(file.read_text()) | told))
    with pytest.raises(us.BadInput, match="not released under a strict or conditional"):
        us.read_anchor(file, MODEL)
