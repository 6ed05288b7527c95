"""A table is recognised whatever the order of its rows, and its fingerprint tells nothing."""

import numpy as np
import pandas as pd
import pytest

from understudy.domain.fingerprints import Fingerprint, _mark
from understudy.domain.records import Held
from understudy.domain.schema import Schema
from understudy.domain.tables import encode, read
from understudy.errors import Refused

PERSON = {"role": "unit"}
PAY = {"role": "confidential", "type": "continuous", "bounds": [-100, 100], "missing": "model"}
SEX = {"role": "public", "type": "categorical", "levels": ["F", "M"]}
NOTE = {"role": "ignore"}
COLUMNS = {"pay": PAY, "sex": SEX, "note": NOTE}
PLAIN = Schema.from_dict({"columns": COLUMNS})
UNITS = Schema.from_dict({"table": {"rows_per_unit": 9}, "columns": {"person": PERSON} | COLUMNS})

FRAME = pd.DataFrame(
    {
        "person": ["a", "a", "b", "c", "c", "d"],
        "pay": [1.5, 2.5, 1.5, 0.0, 2.5, np.nan],
        "sex": ["F", "M", "F", "M", "M", "F"],
        "note": list("uvwxyz"),
    }
)
SALT = b"s" * 32


def mark(frame, schema, salt=SALT):
    kept = frame if schema is UNITS else frame.drop(columns="person", errors="ignore")
    return _mark(Held(encode(kept, schema)), schema, salt)


@pytest.fixture(params=[PLAIN, UNITS], ids=["plain", "units"])
def schema(request):
    return request.param


def test_the_order_of_rows_and_columns_does_not_matter(schema):
    for seed in range(20):
        mixed = FRAME.sample(frac=1, random_state=seed)
        mixed = mixed.sample(frac=1, random_state=seed, axis=1)
        assert mark(mixed, schema) == mark(FRAME, schema)


def test_a_file_that_holds_fewer_digits_holds_the_same_table(schema):
    exact = FRAME.assign(pay=FRAME["pay"] / 3)
    short = exact.assign(pay=exact["pay"].astype("float32"))
    assert mark(short, schema) == mark(exact, schema)


def test_neither_do_ignored_columns_nor_the_names_of_units(schema):
    other = FRAME.assign(note="?", person=["z", "z", "y", "1", "1", "0"])
    assert mark(other, schema) == mark(FRAME, schema)


def test_neither_does_the_sign_of_nothing(schema):
    other = FRAME.assign(pay=[1.5, 2.5, 1.5, -0.0, 2.5, np.nan])
    assert mark(other, schema) == mark(FRAME, schema)


def test_neither_does_the_format_of_the_file(schema, tmp_path):
    given = FRAME.assign(pay=np.random.default_rng(0).normal(size=6) / 3)
    given = given if schema is UNITS else given.drop(columns="person")
    given.to_csv(tmp_path / "t.csv", index=False)
    given[::-1].to_parquet(tmp_path / "t.parquet", index=False)
    assert mark(read(tmp_path / "t.csv"), schema) == mark(read(tmp_path / "t.parquet"), schema)


@pytest.mark.parametrize(
    "other",
    [
        FRAME.assign(pay=[1.5, 2.5, 1.5, 0.0, 2.25, np.nan]),
        FRAME.assign(pay=[1.5, 2.5, 1.5, np.nan, 2.5, 0.0]),
        FRAME.assign(sex=["F", "M", "F", "F", "M", "F"]),
        FRAME[:-1],
        pd.concat([FRAME, FRAME[-1:]]),
    ],
    ids=["value", "swapped", "level", "fewer", "more"],
)
def test_another_table_has_another_one(schema, other):
    assert mark(other, schema) != mark(FRAME, schema)


def test_rows_that_change_hands_are_another_table():
    other = FRAME.assign(person=["a", "d", "b", "c", "c", "d"])
    assert mark(other, PLAIN) == mark(FRAME, PLAIN)
    assert mark(other, UNITS) != mark(FRAME, UNITS)


def test_the_same_values_in_another_column_are_another_table():
    two = {"columns": {"a": PAY, "b": PAY}}
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    crossed = pd.DataFrame({"a": [1.0, 2.0], "b": [4.0, 3.0]})
    renamed = frame.rename(columns={"a": "b", "b": "a"})
    marks = {mark(each, Schema.from_dict(two)) for each in (frame, crossed, renamed)}
    assert len(marks) == 3


def test_every_fingerprint_has_a_salt_of_its_own(schema):
    frame = FRAME if schema is UNITS else FRAME.drop(columns="person")
    columns = encode(frame, schema)
    one, two = Fingerprint.of(columns, schema), Fingerprint.of(columns, schema)
    assert len(one.salt) == 32
    assert one.salt != two.salt
    assert one.mark != two.mark
    assert one.digest != two.digest
    assert one.fits(Held(columns), schema)
    assert two.fits(Held(columns), schema)
    assert one.mark not in repr(one)
    assert one.salt.hex() not in repr(one)


def test_a_file_gives_back_what_was_written_and_is_nobody_else_s(tmp_path):
    columns = encode(FRAME, UNITS)
    made = Fingerprint.of(columns, UNITS)
    file = tmp_path / "P.reference.json"
    made.write(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert Fingerprint.load(file, made.digest) == made


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"salt": "", "mark of sums": ""}', "\udcff"]
)
def test_a_damaged_file_is_refused_even_where_its_digest_fits(tmp_path, text):
    import hashlib

    file = tmp_path / "P.reference.json"
    contents = text.encode("utf-8", "surrogateescape")
    file.write_bytes(contents)
    with pytest.raises(Refused, match="does not fit the policy"):
        Fingerprint.load(file, hashlib.sha256(contents).hexdigest())


def test_another_calibration_s_file_is_refused(tmp_path):
    columns = encode(FRAME, UNITS)
    file = tmp_path / "P.reference.json"
    Fingerprint.of(columns, UNITS).write(file)
    with pytest.raises(Refused, match="does not fit the policy"):
        Fingerprint.load(file, Fingerprint.of(columns, UNITS).digest)


def test_a_mark_that_was_made_in_another_way_fits_no_policy(tmp_path):
    import hashlib

    file = tmp_path / "P.reference.json"
    contents = ('{"about": "", "salt": "%s", "mark": "00"}' % ("00" * 32)).encode()
    file.write_bytes(contents)
    with pytest.raises(Refused, match="does not fit the policy"):
        Fingerprint.load(file, hashlib.sha256(contents).hexdigest())


def test_sums_over_parts_of_a_table_recognise_all_of_it():
    columns = encode(FRAME.drop(columns=["person"]), PLAIN)

    class Apart(Held):
        def total(self, vector):
            at = [np.array([5, 2]), np.array([], dtype=int), np.array([0, 1, 3, 4])]
            return sum(vector({n: v[some] for n, v in self.columns.items()}) for some in at)

    assert Fingerprint.of(columns, PLAIN).fits(Apart(columns), PLAIN)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"P\.reference\.json .* put it back"):
        Fingerprint.load(tmp_path / "P.reference.json", "0" * 64)


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "continuous", "bounds": [0, 9]},
        {"type": "categorical", "levels": ["1", "2"]},
    ],
)
def test_why_a_value_is_missing_is_part_of_the_table(declared):
    codes = {"N": "does not apply", "B": "refused"}
    column = {"role": "confidential", "missing": "model", "codes": codes, **declared}
    coded = Schema.from_dict({"columns": {"x": column}})
    marks = {mark(pd.DataFrame({"x": ["1", code]}), coded) for code in codes}
    assert len(marks) == 2
    assert mark(pd.DataFrame({"x": ["N", "1"]}), coded) in marks
