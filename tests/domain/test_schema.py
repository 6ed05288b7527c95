"""The schema accepts what a person may declare, and refuses everything else with a sentence."""

import copy
import json
import os
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import LAYOUT, changed, refusal
from understudy.domain.schema import Column, Role, Schema, Type
from understudy.errors import BadInput

TOML = """
[table]
size = 8000
[columns.salary]
role = "confidential"
type = "continuous"
bounds = [0, 600000]
outside = "clamp"
missing = "refuse"
[columns.children]
role = "confidential"
type = "count"
bounds = [0, 20]
[columns.gender]
role = "public"
type = "categorical"
levels = ["F", "M"]
[columns.employed]
role = "public"
type = "binary"
[columns.id]
role = "ignore"
"""


def numeric_columns():
    whole = st.integers(-(2**53), 2**53)
    continuous = st.floats(-1e300, 1e300, allow_subnormal=False)

    def column(type_, values):
        return (
            st.tuples(values, values)
            .filter(lambda pair: pair[0] != pair[1])
            .flatmap(
                lambda pair: st.fixed_dictionaries(
                    {
                        "role": st.sampled_from(["confidential", "public"]),
                        "type": st.just(type_),
                        "bounds": st.just(sorted(pair)),
                        "outside": st.sampled_from(["refuse", "clamp"]),
                    }
                )
            )
        )

    return (
        column("continuous", continuous)
        | column("integer", whole)
        | column("count", st.integers(0, 2**53))
    )


def levelled_columns():
    text = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1)
    level = text.filter(lambda level: "\ufeff" not in level and level.strip() != "FILL IN")
    return st.lists(level, min_size=2, max_size=5, unique=True).map(
        lambda levels: {"role": "public", "type": "categorical", "levels": levels}
    )


def layouts():
    names = st.text(string.ascii_letters + "é .\"'", min_size=1, max_size=8)
    return st.fixed_dictionaries(
        {
            "columns": st.dictionaries(
                names, numeric_columns() | levelled_columns(), min_size=1, max_size=5
            )
        },
        optional={"table": st.fixed_dictionaries({"size": st.integers(1, 10**9)})},
    )


def test_a_schema_is_read_from_toml(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(TOML)
    schema = Schema.load(path)
    assert schema.size == 8000
    assert schema.names == ("salary", "children", "gender", "employed", "id")
    assert [column.name for column in schema.confidential] == ["salary", "children"]
    assert [column.name for column in schema.public] == ["gender", "employed"]
    salary = schema.column("salary")
    assert salary.numeric
    assert (salary.lower, salary.upper, salary.width) == (0.0, 600000.0, 600000.0)
    assert salary.outside == "clamp"
    assert schema.column("gender").levels == ("F", "M")
    assert not schema.column("gender").numeric
    assert schema.column("employed").levels == ("0", "1")
    assert schema.column("id") == Column("id", Role.IGNORE)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    path = tmp_path / "s.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOML.replace("\n", "\r\n").encode())
    assert Schema.load(path).size == 8000


@given(layouts())
def test_every_schema_survives_the_way_through_its_layout(layout):
    schema = Schema.from_dict(layout)
    through_json = json.loads(json.dumps(schema.to_dict()))
    assert Schema.from_dict(through_json) == schema
    assert Schema.from_dict(through_json).digest == schema.digest


def test_the_digest_sees_meaning_and_not_spelling():
    plain = Schema.from_dict(LAYOUT)
    spelled = changed("salary", bounds=[0.0, 6e5], outside="refuse", missing="refuse")
    spelled["columns"]["employed"]["levels"] = [0, 1]
    assert Schema.from_dict(spelled).digest == plain.digest
    digests = {
        Schema.from_dict(layout).digest
        for layout in (
            changed("salary", bounds=[0, 600001]),
            changed("salary", outside="clamp"),
            changed("salary", role="public"),
            changed("gender", levels=["M", "F"]),
            LAYOUT | {"table": {"size": 8001}},
            LAYOUT | {"table": {}},
        )
    }
    assert len(digests | {plain.digest}) == 7


@given(layouts(), st.integers(0, 40))
def test_public_points_lie_in_the_declared_domain(layout, count):
    schema = Schema.from_dict(layout)
    points = schema.public_points(count)
    assert tuple(points) == schema.names
    for column in schema.columns:
        values = points[column.name]
        assert values.shape == (count,)
        if column.numeric:
            assert values.dtype == np.float64
            assert np.all((column.lower <= values) & (values <= column.upper))
            assert not column.whole or np.array_equal(values, np.rint(values))
        else:
            assert values.dtype == np.int64
            assert np.array_equal(np.sort(values), np.sort(np.arange(count) % len(column.levels)))


def test_public_points_cover_each_column_evenly_and_are_fixed():
    points = Schema.from_dict(LAYOUT).public_points(100)
    assert "id" not in points
    assert np.allclose(np.sort(points["salary"]), 600000 * (np.arange(100) + 0.5) / 100)
    assert set(points["children"]) == set(range(21))
    again = Schema.from_dict(LAYOUT).public_points(100)
    assert all(np.array_equal(points[name], again[name]) for name in points)
    # A promise to every later version: these records are part of what a released anchor means.
    assert list(points["gender"][:8]) == GENDER_OF_THE_FIRST_PUBLIC_POINTS


GENDER_OF_THE_FIRST_PUBLIC_POINTS = [1, 0, 0, 0, 1, 0, 1, 1]


def test_no_column_of_the_public_points_follows_from_the_others():
    layout = {
        "columns": {
            f"x{number}": {"role": "public", "type": "binary"}
            if number % 2
            else {"role": "public", "type": "continuous", "bounds": [0, 1]}
            for number in range(12)
        }
    }
    points = np.array(list(Schema.from_dict(layout).public_points(64).values()))
    correlations = np.corrcoef(points) - np.eye(12)
    assert np.abs(correlations).max() < 0.5


WEIGHT = {"role": "survey-weight", "bounds": [0, 9000], "average": 1500}
PANEL = {
    "table": {"size": 8000, "rows_per_unit": 7},
    "columns": LAYOUT["columns"] | {"id": {"role": "unit"}, "weight": WEIGHT},
    "rules": [{"if": "employed == 0", "then": "salary == 0"}, {"then": "children <= 12"}],
}


def test_units_weights_missing_values_and_rules_survive_the_layout():
    schema = Schema.from_dict(PANEL)
    assert (schema.unit.name, schema.rows_per_unit) == ("id", 7)
    assert (schema.survey_weight.name, schema.survey_weight.average) == ("weight", 1500)
    assert schema.survey_weight.type is Type.CONTINUOUS
    assert [rule.then for rule in schema.rules] == ["salary == 0", "children <= 12"]
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.digest == schema.digest
    modelled = Schema.from_dict(changed("salary", missing="model"))
    assert modelled.column("salary").missing == "model"
    assert Schema.from_dict(modelled.to_dict()) == modelled


def test_the_digest_sees_units_weights_missing_values_and_rules():
    plain = Schema.from_dict(LAYOUT)
    assert plain.unit is None
    assert plain.survey_weight is None
    others = [
        PANEL,
        PANEL | {"table": {"size": 8000, "rows_per_unit": 8}},
        PANEL | {"rules": PANEL["rules"][:1]},
        PANEL | {"columns": PANEL["columns"] | {"weight": WEIGHT | {"average": 1501}}},
        LAYOUT | {"table": {"size": 8000, "unit": "row"}},
        changed("salary", missing="model"),
    ]
    digests = {Schema.from_dict(layout).digest for layout in others}
    assert len(digests | {plain.digest}) == 7


def test_the_digest_of_a_schema_without_any_of_them_is_that_of_earlier_releases():
    """Anchors that were published before must still be recognised."""
    assert Schema.from_dict(LAYOUT).digest == DIGEST_OF_THE_FIRST_VERSION


DIGEST_OF_THE_FIRST_VERSION = "07d1ea8eb6892772e0abf2cf321c163f5e4ad065ca9b51d0b25920cd1ef3450b"


def test_what_else_is_written_about_a_unit_has_no_effect():
    layout = copy.deepcopy(PANEL)
    layout["columns"]["id"] |= {"type": "integer", "bounds": "FILL IN"}
    assert Schema.from_dict(layout) == Schema.from_dict(PANEL)


def test_public_rows_stand_alone_with_the_average_weight():
    schema = Schema.from_dict(PANEL)
    points = schema.public_points(5)
    assert "id" not in points
    alone = schema.standing_alone(points)
    assert list(alone["id"]) == [0, 1, 2, 3, 4]
    assert list(alone["weight"]) == [1500.0] * 5
    assert Schema.from_dict(LAYOUT).standing_alone({"salary": points["salary"]}).keys() == {
        "salary"
    }


def panel(table=None, **columns):
    return PANEL | {
        "table": PANEL["table"] if table is None else table,
        "columns": PANEL["columns"] | columns,
    }


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (panel({"size": 8000}), "table.rows_per_unit is needed"),
        (panel({"rows_per_unit": 0}), "from 1 to 366, not 0"),
        (panel({"rows_per_unit": 367}), "from 1 to 366, not 367"),
        (panel({"rows_per_unit": True}), "from 1 to 366"),
        (panel({"rows_per_unit": "7"}), "from 1 to 366"),
        (panel({"rows_per_unit": 7, "unit": "row"}), "contradicts column 'id'"),
        (panel({"rows_per_unit": 7, "unit": "id"}), "give that column role = 'unit'"),
        (panel(id={"role": "ignore"}), "no column has the role 'unit'"),
        (panel(other={"role": "unit"}), "only one column can have the role 'unit', not id, other"),
        (panel(other=WEIGHT), "only one column can have the role 'survey-weight'"),
        (panel(weight={"role": "survey-weight", "average": 1}), "needs bounds"),
        (panel(weight={"role": "survey-weight", "bounds": [0, 9]}), "size of the population over"),
        (panel(weight=WEIGHT | {"bounds": [-1, 9000]}), "cannot be negative"),
        (panel(weight=WEIGHT | {"average": 0}), "average above 0"),
        (panel(weight=WEIGHT | {"average": 9001}), "within its bounds"),
        (panel(weight=WEIGHT | {"average": float("nan")}), "within its bounds"),
        (panel(weight=WEIGHT | {"average": 10**400}), "too large"),
        (panel(weight=WEIGHT | {"average": "1500"}), "must be a number"),
        (panel(weight=WEIGHT | {"average": True}), "must be a number"),
        (panel(weight=WEIGHT | {"type": "count"}), "its type is continuous"),
        (panel(weight=WEIGHT | {"missing": "model"}), "only missing values of a confidential"),
        (changed("gender", missing="model"), "only missing values of a confidential"),
        (changed("salary", missing=3), "must be 'refuse' or 'model'"),
        (changed("salary", average=3), "belongs to a survey weight"),
        (LAYOUT | {"columns": {"id": {"role": "unit"}}}, "no column is declared as"),
        (LAYOUT | {"rules": {"then": "salary == 0"}}, "[[rules]]"),
        (LAYOUT | {"rules": [{"then": "wages == 0"}]}, "no column 'wages'"),
    ],
)
def test_units_weights_and_rules_that_make_no_sense_are_refused(layout, said):
    assert said in refusal(layout)


@pytest.mark.parametrize("size", [0, -1, 1.5, "many", True, [8000]])
def test_a_size_that_is_not_a_positive_whole_number_is_refused(size):
    assert "table.size" in refusal(LAYOUT | {"table": {"size": size}})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[table", "not valid TOML"),
        (b"a = 1\na = 2\n", "not valid TOML"),
        (b"a = " + b"[" * 5000, "not valid TOML"),
        (b"a = " + b"9" * 5000, "not valid TOML"),
        (b"a = '\xff'", "not UTF-8"),
        (b"", "no columns"),
    ],
)
def test_a_file_that_is_no_schema_is_refused(tmp_path, content, said):
    path = tmp_path / "s.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said) as caught:
        Schema.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no schema file"):
        Schema.load(tmp_path / "none.toml")
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        Schema.load(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_refused(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(TOML)
    path.chmod(0)
    with pytest.raises(BadInput, match="cannot be read: Permission denied"):
        Schema.load(path)


def test_a_column_that_was_not_declared_is_refused_by_name():
    with pytest.raises(BadInput, match=r"no column 'salery' \(did you mean 'salary'\?\)"):
        Schema.from_dict(LAYOUT).column("salery")


def test_a_schema_made_by_hand_is_checked_too():
    column = Column("x", Role.CONFIDENTIAL, Type.CONTINUOUS, (0, 1))
    with pytest.raises(BadInput, match="same name"):
        Schema(None, (column, column))
    with pytest.raises(BadInput, match="'x' has reversed bounds"):
        Column("x", Role.CONFIDENTIAL, Type.CONTINUOUS, (1, 0))
    with pytest.raises(BadInput, match="'x' needs a type"):
        Column("x", Role.PUBLIC)


def test_the_digest_of_a_schema_without_newer_keys_is_what_it_was():
    """Policies and ledgers name schemas by it."""
    assert (
        Schema.from_dict(LAYOUT).digest
        == "07d1ea8eb6892772e0abf2cf321c163f5e4ad065ca9b51d0b25920cd1ef3450b"
    )


def coded(codes):
    return changed("salary", missing="model", codes=codes)


def test_the_digest_sees_the_order_of_codes():
    """A kind of missing value is known by its place."""
    one = Schema.from_dict(coded({"N": "does not apply", "B": "refused"}))
    other = Schema.from_dict(coded({"B": "refused", "N": "does not apply"}))
    assert one.digest != other.digest
    assert one != other


def test_no_column_has_the_name_of_a_companion():
    layout = coded({"N": "does not apply", "B": "refused"})
    layout["columns"]["salary (why missing)"] = {"role": "ignore"}
    assert "'salary (why missing)'" in refusal(layout)
    del layout["columns"]["salary"]["codes"]["B"]
    assert Schema.from_dict(layout).column("salary").beside is None


def test_a_notebook_shows_codes_and_dates():
    layout = coded({"N": "does not apply", "": "unknown"})
    layout["columns"]["born"] = {
        "role": "public", "type": "date", "bounds": ["2001-01-01", "2009-12-31"],
    }  # fmt: skip
    shown = Schema.from_dict(layout)._repr_html_()
    assert "N = does not apply, blank = unknown" in shown
    assert "2001-01-01, 2009-12-31" in shown
