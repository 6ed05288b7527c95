"""The documentation builds as one site in which every link leads somewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def check(site):
    return subprocess.run(
        [sys.executable, ROOT / "scripts/check_site.py", site],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_without_a_broken_link(tmp_path):
    pytest.importorskip("sphinx", reason="needs the extra docs: make test-slow")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    built = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", ROOT / "docs", site],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    done = check(site)
    assert done.returncode == 0, done.stdout
    for guide in (ROOT / "docs").glob("*.md"):
        assert (site / f"{guide.stem}.html").is_file()
    synthesize = (site / "api/synthesize.html").read_text("utf-8")
    assert 'id="understudy.synthesize"' in synthesize
    assert "How θ is made private" in synthesize


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ('<a href="nowhere.html">x</a>', "there is no such file"),
        ('<a href="#nowhere">x</a>', "there is no such place"),
        ('<a href="other.html#nowhere">x</a>', "there is no such place"),
        ('<img src="gone.png">', "there is no such file"),
        ('<script src="https://example.org/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "from elsewhere"),
        ('<p style="background: url(https://example.org/x.png)">x</p>', "from elsewhere"),
    ],
)
def test_what_leads_nowhere_or_elsewhere_is_found(tmp_path, body, complaint):
    (tmp_path / "index.html").write_text(f'<h1 id="top">x</h1>{body}')
    (tmp_path / "other.html").write_text("<h1>y</h1>")
    done = check(tmp_path)
    assert done.returncode == 1
    assert complaint in done.stdout


def test_a_style_sheet_that_loads_a_font_from_elsewhere_is_found(tmp_path):
    (tmp_path / "index.html").write_text("<h1>x</h1>")
    (tmp_path / "site.css").write_text("@import 'https://example.org/font.css';")
    assert "from elsewhere" in check(tmp_path).stdout


def test_links_that_lead_somewhere_are_fine(tmp_path):
    links = '<a href="#top">x</a><a href="index.html#top">y</a><a href="https://example.org">z</a>'
    (tmp_path / "index.html").write_text(f'<h1 id="top">x</h1>{links}')
    assert check(tmp_path).returncode == 0
