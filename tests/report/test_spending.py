"""The report's section on the privacy budget."""

from __future__ import annotations

import pytest

import understudy as us
from ledgers import ROWS
from pages import (
    HOSTILE,
    Reader,
    tiny_page,
)
from understudy.ledger.statement import statement_of
from understudy.privacy.accounting import Cost
from understudy.report.spending import spending


@pytest.fixture
def ledger(tmp_path):
    made = us.Ledger.create(
        tmp_path / "l.db", budget=1.0, adjacency="add-remove", population=HOSTILE
    )
    for month in ("2026-01", HOSTILE):
        made.charge(Cost.of_draw(0.4), label="x", details={"period": month}, **ROWS)
    return made


def test_the_report_shows_the_year_and_escapes_whatever_a_ledger_holds(ledger):
    reader = Reader(tiny_page(statement=statement_of(ledger)).render())
    assert "script" not in reader.tags
    assert "".join(reader.words).count(HOSTILE) >= 2
    assert "The privacy budget" in reader.text
    assert "The budget ends: no further release fits at the last price, ε = 0.4" in reader.text
    assert max(reader.ids.values()) == 1


def test_the_section_repeats_the_exact_numbers_of_the_year(ledger):
    found = spending(statement_of(ledger))
    assert [row[:5] for row in found["rows"]] == [
        ("2026-01", "strict", "0.4", "0.4", "0.6"),
        (HOSTILE, "strict", "0.4", "0.8", "0.2"),
    ]
    assert ("zCDP", "ρ = 0.04") in found["facts"]
    assert ("Left", "ε = 0.2") in found["facts"]


def test_without_a_ledger_there_is_no_section(tmp_path):
    empty = us.Ledger.create(tmp_path / "l.db", budget=1.0, adjacency="add-remove")
    assert spending(None) is None
    assert spending(statement_of(empty)) is None
    assert "The privacy budget" not in Reader(tiny_page().render()).text
