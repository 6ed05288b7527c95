"""A release and its ledger: charged before the first draw, published when it is visible."""

import pytest

import understudy as us
from skewed import MODEL, SCHEMA, TABLE
from understudy.synthesis.charging import ledger_unit


def test_a_release_is_charged_before_it_is_drawn_and_published_after(tmp_path):
    book = us.Ledger.create(tmp_path / "l.db", budget=2.0, adjacency="replace-one")
    release = us.synthesize(
        MODEL, TABLE, us.Anchored(epsilon=1.0), ledger=tmp_path / "l.db", label="first"
    )
    assert "under way, or never finished" in book.show()
    assert book.spent().epsilon == 2.0
    release.write(tmp_path / "out")
    assert "published" in book.show()
    assert release.guarantee.charged.startswith("entry 1")
    with pytest.raises(us.Refused, match="more than the ledger allows"):
        us.synthesize(MODEL, TABLE, us.Anchored(epsilon=0.1), ledger=tmp_path / "l.db")


def test_one_charge_pays_for_one_release(tmp_path):
    us.Ledger.create(tmp_path / "l.db", budget=9.0, adjacency="add-remove")
    mechanism = us.PerturbedHistogram(epsilon=1.0)
    release = us.synthesize(SCHEMA, TABLE, mechanism, ledger=tmp_path / "l.db")
    release.write(tmp_path / "out")
    with pytest.raises(us.BadInput, match="written already"):
        release.write(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_only_strict_and_unseeded_runs_are_charged(tmp_path):
    book = us.Ledger.create(tmp_path / "l.db", budget=9.0, adjacency="add-remove")
    with pytest.raises(us.Refused, match="strict"):
        us.synthesize(MODEL, TABLE, us.CensorW(epsilon=1.0), ledger=tmp_path / "l.db")
    with pytest.raises(us.Refused, match="fixed seed"):
        us.synthesize(MODEL, TABLE, us.Anchored(epsilon=1.0), ledger=tmp_path / "l.db", seed=1)
    with pytest.raises(us.Refused, match="`accept_poor_mixing`"):
        us.synthesize(
            MODEL,
            TABLE,
            us.CensorUw(epsilon=1.0),
            ledger=tmp_path / "l.db",
            accept_poor_mixing=True,
        )
    assert book.entries() == ()


def test_a_unit_column_that_a_ledger_would_take_for_none_is_refused():
    assert (ledger_unit(None), ledger_unit("person")) == ("row", "person")
    with pytest.raises(us.BadInput, match="the unit column is called 'row'"):
        ledger_unit("row")


def test_a_publication_that_fails_after_the_release_appeared_says_so(tmp_path, monkeypatch):
    """Before it appeared, nothing is released; after it, the release stands and is charged."""
    us.Ledger.create(tmp_path / "l.db", budget=9.0, adjacency="add-remove")
    mechanism = us.PerturbedHistogram(epsilon=1.0)

    def publish(self, entry, *, details, appear):
        if after:
            appear()
        raise us.Refused("the ledger is gone.")

    monkeypatch.setattr(us.Ledger, "publish", publish)
    for after, reason in ((False, r"^the ledger is gone"), (True, "written and charged, but the")):
        release = us.synthesize(SCHEMA, TABLE, mechanism, ledger=tmp_path / "l.db")
        with pytest.raises(us.Refused, match=reason):
            release.write(tmp_path / f"out-{after}")
        assert (tmp_path / f"out-{after}").exists() is after


def test_what_is_neither_a_ledger_nor_a_file_is_refused():
    with pytest.raises(us.BadInput, match="`ledger` must be a ledger or the file that it is in"):
        us.synthesize(MODEL, TABLE, us.CensorUw(epsilon=1.0), ledger=5)
