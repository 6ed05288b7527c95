"""A study leaves every file that it promises, and none says where it was made."""

from study_results import SETTINGS, made_up
from understudy.study import illustration
from understudy.study.catalogue import FIGURES
from understudy.study.output import write_outputs


def test_a_single_replicate_makes_every_file(tmp_path, monkeypatch, curves):
    monkeypatch.setattr(illustration, "compute", lambda: curves)
    few = {name: FIGURES[name] for name in ("lipschitz", "downscaling-q15")}
    monkeypatch.setattr("understudy.study.figures.FIGURES", few)
    write_outputs(made_up(1), {**SETTINGS, "replicates": 1}, tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tables = {"table-1.csv", "table-supplement.csv", "utility.csv", "illustration.csv"}
    pictures = {f"figures/{n}.{end}" for n in (*few, illustration.NAME) for end in ("png", "svg")}
    assert found == {"index.html", "results.parquet", "study.json", *tables, *pictures}


def test_no_file_mentions_where_it_was_made(written):
    for path in written.rglob("*"):
        if path.is_file():
            assert str(written.parent).encode() not in path.read_bytes(), path.name
    assert "file:" not in (written / "index.html").read_text(encoding="utf-8")
