"""By what a reference table is recognised, so that it is not released under its own settings.

The fingerprint of a table would tell whoever can guess the table that the guess is right. So each
has a salt of its own, and both stay inside: the policy, which is public, holds only a digest of the
file in which they are kept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import Refused
from understudy.support.confidential import Confidential
from understudy.support.files import written_atomically

_SALT = 32
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
        return cls(salt, _mark(columns, schema, salt))

    def fits(self, columns: Columns, schema: Schema) -> bool:
        """Whether a coded table is the one that this was taken of."""
        return hmac.compare_digest(self.mark, _mark(columns, schema, self.salt))

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
                fingerprint = cls(bytes.fromhex(kept["salt"]), str(kept["mark"]))
            except (ValueError, KeyError, TypeError, RecursionError):
                fingerprint = None
            if fingerprint and fingerprint.digest == digest and len(fingerprint.salt) == _SALT:
                return fingerprint
        raise Refused(
            f"the fingerprint {path} of the policy's reference does not fit the policy: restore "
            f"the file that was calibrated together with it, {_AGAIN}."
        )

    def _text(self) -> str:
        kept = {"about": _ABOUT, "salt": self.salt.hex(), "mark": self.mark}
        return json.dumps(kept, indent=2) + "\n"


def _mark(columns: Columns, schema: Schema, salt: bytes) -> str:
    """Return a keyed digest by which a table is recognised, whatever the order of its rows.

    Units are numbered as they appear, so their numbers are left out: a unit is the rows it has.
    """
    unit = None if schema.unit is None else schema.unit.name
    names = sorted(name for name in columns if name != unit)
    rows = np.stack([_bits(columns[name]) for name in names], axis=1)
    order = np.lexsort(rows.T)
    rows = rows[order]
    digest = hashlib.blake2b(json.dumps(names).encode(), key=salt, digest_size=32)
    digest.update(rows.tobytes())
    if unit is not None:
        digest.update(_by_unit(rows, columns[unit][order]))
    return digest.hexdigest()


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return each value as a whole number, the same for both zeros and for all that is missing.

    Seven digits tell one table from another, and a file may hold no more of them.
    """
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            short = values.astype(np.float32).astype(np.float64)
        values = np.where(np.isnan(values), np.nan, short + 0.0)
    return values.astype(values.dtype.newbyteorder("<")).view("<u8")


def _by_unit(rows: NDArray[np.uint64], units: NDArray[np.int64]) -> bytes:
    """Return which of the sorted rows belong together, the same for all numberings of the units."""
    ranks = np.cumsum(np.any(rows != np.roll(rows, 1, axis=0), axis=1)).astype("<u8")
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.diff(units[order])) + 1
    groups = sorted(group.tobytes() for group in np.split(ranks[order], starts))
    return b"".join(len(group).to_bytes(8, "little") + group for group in groups)
