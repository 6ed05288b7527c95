"""What a killed run leaves behind is named by the ledger, and swept by the next run."""

import fcntl
import os
import re
from pathlib import Path

import pytest

import understudy as us
from ledgers import ROWS
from understudy.errors import BadInput
from understudy.support import files
from understudy.support.files import (
    check_place,
    hidden_directory,
    leftovers,
    sweep,
    written_atomically,
)
from understudy.synthesis.release import check_destination


def left_by_a_killed_run(destination, *, contents="internal/diagnostics.json"):
    """Make what a run leaves behind that was killed while it wrote."""
    hidden = destination.with_name(f".{destination.name}-understudy-a1b2c3_d")
    (hidden / contents).parent.mkdir(parents=True)
    (hidden / contents).write_text("confidential")
    return hidden


def hidden_names(directory):
    return [path.name for path in directory.iterdir() if path.name.startswith(".")]


class TestSweeping:
    def test_hidden_places_have_a_name_of_their_own_and_are_locked(self, tmp_path):
        with hidden_directory(tmp_path / "out") as hidden:
            assert re.fullmatch(r"\.out-understudy-[a-z0-9_]{8}", hidden.name)
            assert self.locked(hidden)
        with written_atomically(tmp_path / "more.csv") as hidden:
            assert re.fullmatch(r"\.more\.csv-understudy-[a-z0-9_]{8}\.csv", hidden.name)
            assert self.locked(hidden)
        assert [path.name for path in tmp_path.iterdir()] == ["more.csv"]

    @staticmethod
    def locked(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def test_the_next_directory_and_the_next_file_sweep_what_was_left(self, tmp_path):
        left_by_a_killed_run(tmp_path / "out")
        with hidden_directory(tmp_path / "out") as hidden:
            assert hidden_names(tmp_path) == [hidden.name]
        (tmp_path / ".page.html-understudy-abcdefgh.html").write_text("confidential")
        with written_atomically(tmp_path / "page.html") as hidden:
            assert hidden_names(tmp_path) == [hidden.name]

    def test_so_does_the_check_before_any_work_is_done(self, tmp_path):
        hidden = left_by_a_killed_run(tmp_path / "out")
        check_destination(tmp_path / "out", force=False)
        assert not hidden.exists()

    def test_what_is_in_use_stays(self, tmp_path):
        with hidden_directory(tmp_path / "out") as first:
            (first / "file").touch()
            sweep(tmp_path / "out")
            with hidden_directory(tmp_path / "out") as second:
                assert second != first
            assert leftovers(tmp_path / "out") == ()
            assert (first / "file").exists()

    @pytest.mark.parametrize(
        "name",
        [
            ".out-understudy-a1b2c3_",
            ".out-understudy-a1b2c3_dd",
            ".out-understudy-A1B2C3_D",
            ".out-understudy-a1b2c3_d-understudy-a1b2c3_d",
            "out-understudy-a1b2c3_d",
            ".out2-understudy-a1b2c3_d",
            ".o+t-understudy-a1b2c3_d",
            ".out-a1b2c3_d",
        ],
    )
    def test_what_has_another_name_stays(self, tmp_path, name):
        (tmp_path / name).mkdir()
        sweep(tmp_path / "out")
        assert (tmp_path / name).is_dir()

    def test_links_pipes_and_other_people_s_places_stay(self, tmp_path, monkeypatch):
        precious = tmp_path / "home"
        precious.mkdir()
        (precious / "thesis.tex").write_text("years of work")
        (tmp_path / ".out-understudy-aaaaaaaa").symlink_to(precious)
        (tmp_path / ".out-understudy-bbbbbbbb").symlink_to(precious / "thesis.tex")
        os.mkfifo(tmp_path / ".out-understudy-cccccccc")
        sweep(tmp_path / "out")
        assert len(hidden_names(tmp_path)) == 3
        assert (precious / "thesis.tex").exists()
        hidden = left_by_a_killed_run(tmp_path / "out")
        (hidden / "link").symlink_to(precious)
        monkeypatch.setattr(os, "geteuid", lambda: hidden.stat().st_uid + 1)
        sweep(tmp_path / "out")
        assert hidden.exists()
        monkeypatch.undo()
        sweep(tmp_path / "out")
        assert not hidden.exists()
        assert (precious / "thesis.tex").exists()

    def test_a_release_that_was_being_replaced_is_put_back(self, tmp_path):
        """A run with --force that was killed between its two moves leaves no release in place."""
        out = tmp_path / "out"
        hidden = left_by_a_killed_run(out, contents="replaced/public/guarantee.json")
        with pytest.raises(BadInput, match="exists already"):
            check_destination(out, force=False)
        assert (out / "public/guarantee.json").read_text() == "confidential"
        assert not hidden.exists()

    def test_but_not_over_the_one_that_has_replaced_it(self, tmp_path):
        out = tmp_path / "out"
        hidden = left_by_a_killed_run(out, contents="replaced/public/guarantee.json")
        out.mkdir()
        sweep(out)
        assert list(out.iterdir()) == []
        assert not hidden.exists()

    def test_a_place_that_was_swept_before_it_was_locked_is_made_anew(self, tmp_path, monkeypatch):
        """Between making a directory and locking it, a sweep may take it for a leftover."""
        lock, swept = fcntl.flock, []

        def late(descriptor, operation):
            if not swept:
                swept.append(hidden_names(tmp_path))
                sweep(tmp_path / "out")
            lock(descriptor, operation)

        monkeypatch.setattr(fcntl, "flock", late)
        with hidden_directory(tmp_path / "out") as hidden:
            assert hidden.is_dir()
            assert [hidden.name] not in swept
            assert hidden_names(tmp_path) == [hidden.name]
        assert hidden_names(tmp_path) == []

    def test_without_locks_everything_works_and_nothing_is_swept(self, tmp_path, monkeypatch):
        def unsupported(descriptor, operation):
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(fcntl, "flock", unsupported)
        left = left_by_a_killed_run(tmp_path / "out")
        with hidden_directory(tmp_path / "out") as hidden:
            assert hidden.is_dir()
        assert hidden_names(tmp_path) == [left.name]
        assert leftovers(tmp_path / "out") == ()

    def test_a_place_without_a_directory_has_no_leftovers(self, tmp_path):
        sweep(tmp_path / "deep" / "out")
        assert leftovers(tmp_path / "deep" / "out") == ()
        assert files.leftovers(tmp_path / "out") == ()


def test_only_the_latest_charge_for_a_place_can_have_left_what_is_there(tmp_path):
    from understudy.privacy.accounting import Cost

    ledger = us.Ledger.create(tmp_path / "ledger.db", budget=5.0, adjacency="add-remove")
    details = {"destination": str(tmp_path / "out")}
    for _ in range(2):
        ledger.charge(Cost.of_draw(1.0), label="again", details=details, **ROWS)
    left_by_a_killed_run(tmp_path / "out")
    assert "entry 2: left unfinished" in ledger.show()
    assert "entry 1: left unfinished" not in ledger.show()
    ledger.abandon(2)
    assert "entry 2: left unfinished" in ledger.show()
    ledger.charge(Cost.of_draw(1.0), label="odd", details={"destination": 7}, **ROWS)
    ledger.charge(Cost.of_draw(1.0), label="odd", details={"destination": "\x1b[2J/out"}, **ROWS)
    assert ledger.show().count("left unfinished") == 1


def test_a_file_takes_its_place_once_it_is_written(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with written_atomically(path) as hidden:
        hidden.write_text("new")
        assert (path.read_text(), hidden.suffix) == ("old", ".html")
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(FileNotFoundError), written_atomically(path) as hidden:
        hidden.with_name("missing").rename(hidden)
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_file_has_the_user_s_permissions_unless_it_is_private(tmp_path):
    before = os.umask(0o027)
    try:
        assert files.current_umask() == 0o027
        for private, mode in ((False, 0o640), (True, 0o600)):
            with written_atomically(tmp_path / "f", private=private) as hidden:
                hidden.write_text("x")
            assert (tmp_path / "f").stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)


def test_a_process_that_ends_removes_what_it_has_not_finished(tmp_path):
    with hidden_directory(tmp_path / "out") as hidden:
        (hidden / "half").write_text("x")
        files.remove_unfinished()
        assert not hidden.exists()


class TestPlaces:
    def test_one_that_can_be_written_to_is_left_as_it_was(self, tmp_path):
        (tmp_path / "out").write_text("kept")
        check_place(tmp_path / "out")
        check_place(tmp_path / "new")
        assert [path.read_text() for path in tmp_path.iterdir()] == ["kept"]

    def test_one_that_does_not_exist_is_named_as_it_was_given(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(BadInput, match="there is no directory 'nod'"):
            check_place(Path("nod/x.csv"))

    def test_one_that_takes_no_files_is_named_without_a_hidden_name(self, tmp_path):
        (tmp_path / "file").touch()
        places = [tmp_path / "file", *(path for path in [Path("/proc")] if path.exists())]
        for place in places:
            with pytest.raises(BadInput) as refusal:
                check_place(place / "x")
            told = f"nothing can be written to '{place}': choose another directory."
            assert str(refusal.value) == told
