"""By what a reference table is recognised, so that it is not released under its own settings.

The fingerprint of a table would tell whoever can guess the table that the guess is right. So each
has a salt of its own, and both stay inside: the policy, which is public, holds only a digest of the
file in which they are kept.

A mark is a digest of sums over records, so a table need not be held for it: each row becomes two
words of 64 bits, mixed from its values with the salt, and sums of these (modulo 2⁶⁴) are the same
in any order. Two tables that differ have the same sums once in 2¹²⁸, unless somebody who knows the
salt made them so.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.records import Held, Records, Wholes
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns, count_records
from understudy.errors import Refused
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically

_SALT = 32
_MARK = "mark of sums"
"""Another name than that of marks that were made in another way, which would fit no table."""
_WORDS = 2
_ABOUT = "The salted fingerprint of the reference of a policy: keep it beside the policy, inside."
_AGAIN = "or calibrate again and begin another ledger with what is left of the budget"


@dataclass(frozen=True, repr=False)
class Fingerprint(Confidential):
    """A salt, and the mark that a table leaves with it."""

    salt: bytes
    mark: str

    @classmethod
    def of(cls, columns: Columns, schema: Schema) -> Fingerprint:
        """Take the fingerprint of a coded table, with a fresh salt."""
        salt = secrets.token_bytes(_SALT)
        return cls(salt, _mark(Held(columns), schema, salt))

    def fits(self, records: Records, schema: Schema) -> bool:
        """Whether a table is the one that this was taken of."""
        return hmac.compare_digest(self.mark, _mark(records, schema, self.salt))

    @property
    def digest(self) -> str:
        """What a policy says of the file: without the salt it tells nothing about the table."""
        return hashlib.sha256(self._text().encode()).hexdigest()

    def write(self, path: Path) -> None:
        """Write the file that stays inside, for nobody but its owner."""
        with written_atomically(path, private=True) as file:
            file.write_bytes(self._text().encode())

    @classmethod
    def load(cls, path: Path, digest: str) -> Fingerprint:
        """Read the file, and refuse one that is not there or is not the policy's."""
        try:
            contents = path.read_bytes()
        except FileNotFoundError:
            raise Refused(
                f"there is no file {path} with the fingerprint of the policy's reference, without "
                "which nobody can tell whether the settings were chosen on this very table: put "
                f"it back beside the policy, {_AGAIN}."
            ) from None
        except OSError as error:
            raise Refused(
                f"the fingerprint {path} of the policy's reference cannot be read: "
                f"{error.strerror}; make it readable, {_AGAIN}."
            ) from None
        if hashlib.sha256(contents).hexdigest() == digest:
            try:
                kept = json.loads(contents)
                fingerprint = cls(bytes.fromhex(kept["salt"]), str(kept[_MARK]))
            except (ValueError, KeyError, TypeError, RecursionError):
                fingerprint = None
            if fingerprint and fingerprint.digest == digest and len(fingerprint.salt) == _SALT:
                return fingerprint
        raise Refused(
            f"the fingerprint {path} of the policy's reference does not fit the policy: restore "
            f"the file that was calibrated together with it, {_AGAIN}."
        )

    def _text(self) -> str:
        kept = {"about": _ABOUT, "salt": self.salt.hex(), _MARK: self.mark}
        return json.dumps(kept, indent=2) + "\n"


def _mark(records: Records, schema: Schema, salt: bytes) -> str:
    """Return a keyed digest by which a table is recognised, whatever the order of its rows."""
    sums = records.total(partial(_sums, schema, salt))
    return hashlib.blake2b(sums.astype("<i8").tobytes(), key=salt, digest_size=32).hexdigest()


def _sums(schema: Schema, salt: bytes, columns: Columns) -> Wholes:
    """Return how many rows there are, and the sums of their words.

    Units are numbered as they appear, so their numbers are left out: a unit is the rows it has.
    """
    unit = None if schema.unit is None else schema.unit.name
    names = sorted(name for name in columns if name != unit)
    named = salt + json.dumps(names).encode()
    words = _mixed_rows([_bits(columns[name]) for name in names], named)
    sums = [words.sum(axis=1)]
    if unit is not None:
        whose = np.unique(columns[unit], return_inverse=True)[1]
        own = np.zeros((_WORDS, int(whose.max(initial=-1)) + 1), dtype=np.uint64)
        for mine, each in zip(own, words, strict=True):
            np.add.at(mine, whose, each)
        sums.append(_mixed_rows([*own], named).sum(axis=1))
    return np.append(count_records(columns), np.concatenate(sums).view(np.int64))


def _mixed_rows(values: Sequence[NDArray[np.uint64]], secret: bytes) -> NDArray[np.uint64]:
    """Return the words of each row of some columns."""
    drawn = hashlib.shake_256(secret).digest(8 * _WORDS * (len(values) + 1))
    keys = np.frombuffer(drawn, "<u8").astype(np.uint64).reshape(_WORDS, -1)
    words = np.repeat(keys[:, :1], len(values[0]), axis=1)
    for key, each in zip(keys[:, 1:].T, values, strict=True):
        words ^= each
        words += key[:, None]
        _mix(words)
    return words


def _mix(words: NDArray[np.uint64]) -> None:
    """Let each bit depend on every other: the finaliser of SplitMix64, in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return each value as a whole number, the same for both zeros and for all that is missing.

    Seven digits tell one table from another, and a file may hold no more of them.
    """
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            short = values.astype(np.float32).astype(np.float64)
        values = np.where(np.isnan(values), np.nan, short + 0.0)
    return values.astype(values.dtype.newbyteorder("<")).view("<u8").astype(np.uint64)
