"""What notebooks show is escaped, whatever it says, and runs nothing."""

from html.parser import HTMLParser

import pytest

import understudy as us
from ledgers import ROWS
from understudy.ledger.ledger import Ledger
from understudy.privacy.accounting import Cost
from understudy.privacy.guarantee import Adjacency, Guarantee, Kind, Weights
from understudy.support.html import bullets, html_table, paragraph

HOSTILE = "<script>alert('x')</script>\"&amp;<img src=x onerror=y>"


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def shown(value):
    page = Page(value if isinstance(value, str) else value._repr_html_())
    assert set(page.tags) <= {"table", "tr", "th", "td", "p", "ul", "li"}
    assert page.attributes == []
    return page.texts


def test_texts_come_out_as_they_went_in():
    assert shown(html_table([(HOSTILE, 1)])) == [HOSTILE, "1"]
    assert shown(html_table([(1, HOSTILE)], header=("a", HOSTILE))) == ["a", HOSTILE, "1", HOSTILE]
    assert shown(paragraph(HOSTILE) + bullets([HOSTILE])) == [HOSTILE, HOSTILE]


def test_without_a_header_the_first_cell_of_a_row_is_its_name():
    assert Page(html_table([("a", 1), ("b", 2)])).tags == ["table", *["tr", "th", "td"] * 2]
    headed = Page(html_table([(1, 2)], header=("a", "b")))
    assert headed.tags == ["table", "tr", "th", "th", "tr", "td", "td"]


def test_a_schema_shows_what_it_declares():
    pay = {"role": "confidential", "type": "continuous", "bounds": [0, 100]}
    sex = {"role": "public", "type": "categorical", "levels": ["F", HOSTILE]}
    schema = us.Schema.from_dict(
        {
            "table": {"size": 300},
            "columns": {"pay": pay, HOSTILE: sex},
            "rules": [{"if": f"`{HOSTILE}` == 'F'", "then": "pay > 1"}],
        }
    )
    texts = shown(schema)
    assert texts[:6] == ["column", "role", "type", "bounds", "levels", "outside"]
    assert texts[6:10] == ["pay", "confidential", "continuous", "0.0, 100.0"]
    assert f"F, {HOSTILE}" in texts
    assert texts[-4:] == ["size", "300", "rule", f"pay > 1 if `{HOSTILE}` == 'F'"]


def test_a_ledger_shows_what_is_printed_of_it(tmp_path):
    ledger = Ledger.create(
        tmp_path / "l.db", budget=1.0, adjacency="add-remove", population=HOSTILE
    )
    ledger.charge(Cost.of_draw(0.5), label=HOSTILE, details={"theta": "hidden"}, **ROWS)
    texts, printed = shown(ledger), ledger.show()
    assert texts.count(HOSTILE) == 2
    assert "hidden" not in "".join(texts)
    for text in texts:
        assert text in printed
    assert [word for word in printed.split() if word.rstrip(":") not in " ".join(texts)] == []


@pytest.mark.parametrize("epsilon", [None, {each: each.steps * 0.5 for each in Adjacency}])
def test_a_guarantee_shows_what_its_file_says(epsilon):
    guarantee = Guarantee(
        mechanism=HOSTILE,
        kind=Kind.NONE if epsilon is None else Kind.STRICT,
        asked=Adjacency.ADD_REMOVE,
        epsilon=epsilon,
        draws=1,
        weights=Weights.NONE,
        sampler="exact",
        assumptions=("first", HOSTILE),
        seeded=False,
        rows=7,
        population=HOSTILE,
    )
    texts = shown(guarantee)
    assert guarantee.headline in texts
    assert texts[-2:] == ["first", HOSTILE]
    for line in filter(None, str(guarantee).splitlines()):
        assert line.removeprefix("  - ") in texts or set(line.split(": ", 1)) <= set(texts)
