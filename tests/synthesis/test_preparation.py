"""What can be refused is refused before anything is charged or drawn."""

import pytest

import understudy as us
from synthesised import ALONE, BETA, COLUMN, GROUPED, TABLE, VALUES
from understudy._jax import jax, jnp
from understudy.domain.fingerprints import Fingerprint
from understudy.mechanisms.reference import Reference
from understudy.synthesis.preparation import prepare


@pytest.mark.parametrize("count", [0, -1, 101, 1.5, True])
def test_a_number_of_tables_that_makes_no_sense_is_refused(count):
    with pytest.raises(us.BadInput, match="`tables` must be a number from 1 to 100"):
        us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0), tables=count)


def test_a_bayesian_mechanism_needs_a_model():
    with pytest.raises(us.BadInput, match="needs a model"):
        us.synthesize(ALONE, TABLE, us.CensorUw(epsilon=1.0))


def test_single_precision_is_refused(monkeypatch):
    """Somebody may have switched JAX back; then scores are off by more than the bound allows."""
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(us.BadInput, match="single precision"):
            us.synthesize(BETA, TABLE, us.CensorUw(epsilon=1.0))
    finally:
        jax.config.update("jax_enable_x64", True)


def test_stages_chosen_by_the_true_size_admit_that_it_shows():
    sizeless = us.beta(us.Schema.from_dict({"columns": {"x": COLUMN}}))
    mechanism = us.Anchored(epsilon=1.0, adjacency="replace-one")
    release = us.synthesize(sizeless, TABLE, mechanism, rows=50, seed=1)
    assert not release.guarantee.membership
    assert any("shows the number of records" in s for s in release.guarantee.assumptions)


def test_the_size_must_be_declared_where_it_is_protected():
    sizeless = us.beta(us.Schema.from_dict({"columns": {"x": COLUMN}}))
    with pytest.raises(us.BadInput, match="declare size"):
        us.synthesize(sizeless, TABLE, us.Anchored(epsilon=1.0), rows=10)


def test_the_table_itself_is_no_reference():
    known = Fingerprint.of({"x": VALUES}, ALONE)
    own = Reference(jnp.zeros((1, 2)), (0.0, 1.0), {}, "confidential", known)
    with pytest.raises(us.Refused, match="the confidential table itself"):
        us.synthesize(BETA, TABLE, us.CensorW(epsilon=3.0, reference=own))
    with pytest.raises(us.Refused, match="the confidential table itself"):
        us.synthesize(BETA, TABLE[::-1], us.CensorW(epsilon=3.0, reference=own))


def test_what_a_release_was_calibrated_on_is_public_or_confidential():
    with pytest.raises(us.BadInput, match="`calibrated_on` must be public or confidential"):
        us.synthesize(ALONE, TABLE, us.PerturbedHistogram(epsilon=1.0), calibrated_on="0.csv")


def test_what_was_asked_for_is_settled_as_one_value(tmp_path):
    """The declared size and not that of the table, and the sampler that suits."""
    TABLE[:100].to_csv(tmp_path / "some.csv", index=False)
    request = prepare(BETA, tmp_path / "some.csv", us.Anchored(epsilon=1.0), tables=2)
    assert (request.size, request.skeleton.rows, request.sampler) == (120, 120, "exact")
    assert (request.tables, len(request.columns["x"])) == (2, 100)
    assert not request.source.seeded
    with pytest.raises(us.BadInput, match=r"some\.csv has no column 'g'"):
        prepare(GROUPED, tmp_path / "some.csv", us.PerturbedHistogram(epsilon=1.0))


def test_chains_that_are_not_drawn_cannot_be_accepted():
    with pytest.raises(us.BadInput, match="leave out `accept_poor_mixing`: it is about Markov"):
        prepare(BETA, TABLE, us.Anchored(epsilon=1.0), accept_poor_mixing=True)


@pytest.mark.parametrize(
    ("model", "mechanism", "complaint"),
    [
        ("beta", us.Anchored(epsilon=1.0), "`model` must be a model .*, not a str"),
        (TABLE, us.Anchored(epsilon=1.0), "`model` must be a model .*, not a DataFrame"),
        (BETA, "anchored", "`mechanism` must be one .*, not a str"),
        (ALONE, us.PerturbedHistogram, "`mechanism` must be one .*, not a "),
    ],
)
def test_what_is_no_model_or_no_mechanism_is_refused(model, mechanism, complaint):
    with pytest.raises(us.BadInput, match=complaint) as refusal:
        us.synthesize(model, TABLE, mechanism)
    assert "\n" not in str(refusal.value)


def test_several_tables_of_a_summary_are_larger_and_weigh_public_rows_anew():
    def skeleton(mechanism, **options):
        return prepare(BETA, TABLE, mechanism, **options).skeleton

    summary = us.Summary(epsilon=1.0)
    assert (skeleton(summary).rows, skeleton(summary).reweighted) == (120, False)
    several = skeleton(summary, tables=2)
    assert (several.rows, several.reweighted) == (1200, True)
    assert skeleton(summary, tables=2, rows=70).rows == 70
    balanced = skeleton(summary, tables=2, balanced=True)
    assert (balanced.rows, balanced.reweighted) == (120, False)
    other = skeleton(us.CensorUw(epsilon=1.0), tables=2)
    assert (other.rows, other.reweighted) == (120, False)


def test_tables_that_make_no_intervals_are_not_larger():
    table = {"size": 120, "rows_per_unit": 2}
    schema = us.Schema.from_dict({"table": table, "columns": {"x": COLUMN, "id": {"role": "unit"}}})
    units = TABLE.assign(id=range(120))
    request = prepare(us.beta(schema), units, us.Summary(epsilon=1.0), tables=2)
    assert (request.skeleton.rows, request.skeleton.reweighted) == (120, False)
