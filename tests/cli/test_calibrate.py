"""`understudy calibrate`."""

import pytest

from understudy.cli import run


def command(workplace, place, kind, *more):
    return [
        "calibrate", str(workplace / "reference.csv"), "--schema", str(workplace / "pay.toml"),
        "--mechanism", "ph", "--epsilon", "1", "--draws", "1",
        "--population", "staff", "-o", str(place / "P.toml"), "--reference-is", kind, *more,
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "told"), [("public", False), ("confidential", True)])
def test_figures_from_a_confidential_reference_are_called_so(
    workplace, tmp_path, capsys, kind, told
):
    assert run(command(workplace, tmp_path, kind)) == 0
    assert capsys.readouterr().out.startswith("CONFIDENTIAL") is told


def test_the_files_that_stay_inside_are_named(workplace, tmp_path, capsys):
    policy, page, kept = (str(tmp_path / f"P.{end}") for end in ("toml", "html", "reference.json"))
    assert run(command(workplace, tmp_path, "confidential")) == 0
    told = capsys.readouterr().out
    assert f"May be shared: {policy}\n" in told
    assert f"Stays inside: {kept}, {page}\n" in told
    assert run(command(workplace, tmp_path, "public", "--force")) == 0
    told = capsys.readouterr().out
    assert f"May be shared: {policy}, {page}\n" in told
    assert f"Stays inside: {kept}\n" in told


def test_both_files_are_replaced_together_or_not_at_all(workplace, tmp_path, capsys):
    assert run(command(workplace, tmp_path, "public", "--quiet")) == 0
    files = [tmp_path / "P.toml", tmp_path / "P.reference.json"]
    first = [file.read_bytes() for file in files]
    (tmp_path / "P.html").unlink()
    files[0].rename(tmp_path / "kept")
    assert run(command(workplace, tmp_path, "public", "--quiet")) == 2
    assert "P.reference.json' exists already" in capsys.readouterr().err
    assert not files[0].exists()
    assert run(command(workplace, tmp_path, "public", "--quiet", "--force")) == 0
    assert all(file.read_bytes() != old for file, old in zip(files, first, strict=True))


def test_a_place_that_nothing_could_be_written_to_is_refused_first(workplace, tmp_path, capsys):
    """Before the reference is read: it need not even exist."""
    for out, complaint in (("P.json", "must be a .toml file"), ("no/P.toml", "no directory")):
        asked = command(workplace, tmp_path, "public")
        asked[1], asked[asked.index("-o") + 1] = "nothing.csv", str(tmp_path / out)
        assert run(asked) == 2
        assert complaint in capsys.readouterr().err
