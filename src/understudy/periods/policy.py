"""A policy: everything that every period's release has in common, settled once on a reference.

    POLICY.toml              mechanism, ε, δ, adjacency, T or c₁ and c₂, model, schema, rows,
                             budget, population
    POLICY.reference.json    by what the reference is recognised; stays inside

A policy is public. It has a digest over all that it says, which the ledger repeats with every
period; one that was edited is refused, because its settings would no longer be those that were
calibrated, nor those of the periods before.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from understudy.adapters.loading import ModelFile, load_model, model_file, names_file
from understudy.domain.schema import Schema
from understudy.errors import BadInput, Refused
from understudy.mechanisms import BY_NAME, Mechanism, make_mechanism
from understudy.models.base import Model
from understudy.privacy.assumptions import CALIBRATED_ON
from understudy.privacy.guarantee import Adjacency
from understudy.support.files import written_atomically

_OPTIONS = ("delta", "threshold", "c1", "c2", "bins")
_HEAD = """\
# A policy for releases of every period, written by `understudy calibrate`.
# Do not edit it: what it says is sealed by its digest. Calibrate again instead.
"""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What every period's release has in common."""

    mechanism: str
    """Its name."""
    epsilon: float
    """ε of each period."""
    adjacency: Adjacency
    """Under which ε is stated."""
    delta: float | None = None
    """δ at which ε, and the budget, are stated; None where they are pure."""
    threshold: float | None = None
    """T of `anchored`."""
    c1: float | None = None
    """Scale of the weights of `censor-w`."""
    c2: float | None = None
    """Shift of the weights of `censor-w`."""
    bins: int | str | None = None
    """Bins of `ph`."""
    model: str | None = None
    """Its name or formula, or a file without its directory; None where none is needed."""
    family: str | None = None
    """Family of a formula."""
    priors: tuple[str, ...] = ()
    """Priors of a formula, such as `Intercept=normal(0, 1)`."""
    model_digest: str | None = None
    """Of the file, where the model is in one."""
    schema: str = ""
    """Path of the schema, relative to the policy."""
    schema_digest: str
    """Of what the schema says."""
    rows: int | None = None
    """Rows of each synthetic table; None for those of its public columns."""
    balanced: bool = False
    """Whether these rows are evenly spread instead of independent."""
    budget: float
    """Of the ledger that pays for the periods."""
    population: str
    """Who is protected, in the words of that ledger."""
    reference_is: str
    """public or confidential."""
    reference_digest: str
    """Of the file by which the reference is recognised. Its salt is why this tells nothing."""
    anchor: Mapping[str, Any] | None = None
    """θ of a public reference, from which the first period starts."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy, and refuse one that was edited.

        Args:
            path: The file.
        """
        file = Path(path)
        try:
            contents = tomllib.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BadInput(f"there is no file {file}.") from None
        except OSError as error:
            raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise BadInput(f"{file} is not UTF-8 text.") from None
        except (ValueError, RecursionError):
            raise Refused(f"the policy {path} is not valid TOML any more: {_EDITED}.") from None
        sealed = contents.pop("digest", None)
        known = {field.name for field in fields(cls)}
        try:
            policy = cls(
                **{name: _value(name, value) for name, value in contents.items() if name in known}
            )
        except (TypeError, ValueError):
            raise Refused(f"the policy {path} is not complete: {_EDITED}.") from None
        if contents.keys() - known or sealed != policy.digest:
            raise Refused(f"the policy {path} does not fit its digest: {_EDITED}.")
        return policy

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the policy with its digest.

        Args:
            path: The file.
        """
        with written_atomically(Path(path)) as file:
            file.write_text(self.to_toml(), encoding="utf-8")

    def to_toml(self) -> str:
        """Return the policy as TOML."""
        import tomli_w

        return _HEAD + tomli_w.dumps(self._plain() | {"digest": self.digest})

    @property
    def digest(self) -> str:
        """A fingerprint of everything that the policy says."""
        canonical = json.dumps(self._plain(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _plain(self) -> dict[str, Any]:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {"adjacency": str(self.adjacency), "priors": list(self.priors)}
        plain["balanced"] = self.balanced or None
        return {name: value for name, value in plain.items() if value not in (None, [])}

    def load_schema(self, beside: Path) -> Schema:
        """Read the schema, and refuse one that is not what was calibrated with.

        Args:
            beside: The policy's file.
        """
        path = beside.parent / self.schema
        schema = Schema.load(path)
        if schema.digest != self.schema_digest:
            raise Refused(
                f"the schema {path} has changed since the policy was calibrated: undo the change, "
                "or calibrate again and begin another ledger with what is left of the budget."
            )
        return schema

    def load_model(self, schema: Schema, given: Model | str | None = None) -> Model | None:
        """Build the model, or take the given one if it is the policy's.

        Nothing that a policy names is executed, because anybody can write one and its digest is no
        secret: a model in a file, and one that was built in Python, has to be given.

        Args:
            schema: What the table is declared to hold.
            given: The model, or its name, or `path/to/file.py:function`.
        """
        if given is not None and not isinstance(given, str):
            terms = model_terms(given)
            if terms != {name: getattr(self, name) for name in terms}:
                raise Refused(f"'{given.title}' is not the policy's model: give that one.")
            if given.schema.digest != schema.digest:
                # A model brings its own schema, and bounds may have been read off a table since.
                raise Refused(
                    f"'{given.title}' was built with another schema than the policy's: build it "
                    "with that one."
                )
            return given
        own = None if self.model is None else names_file(self.model)
        if own is not None:
            return self._model_file(own, given).load(schema)
        if given not in (None, self.model):
            has = "has no model" if self.model is None else f"has the model '{self.model}'"
            raise Refused(f"the policy {has}, and `model` names another one: leave out `model`.")
        if self.model is None:
            return None
        if self.model_digest is not None:
            raise Refused(f"the policy's model, '{self.model}', was built in Python: give `model`.")
        return load_model(self.model, schema=schema, family=self.family, priors=self.priors)

    def _model_file(self, own: tuple[Path, str], given: str | None) -> ModelFile:
        """Read the file that was named, and refuse one that is not what was calibrated with."""
        wanted = f"`model` path/to/{own[0].name}:{own[1]}"
        if given is None:
            raise Refused(
                "the policy's model is in a Python file, and no file runs because a policy names "
                f"it: look at the file, and add {wanted}."
            )
        named = names_file(given)
        file = None if named is None or named[1] != own[1] else model_file(given)
        if file is None:
            raise Refused(f"'{given}' is not the policy's model: give it as {wanted}.")
        if file.digest != self.model_digest:
            raise Refused(
                f"the file of the model {given} has changed since the policy was calibrated: "
                "undo the change, or calibrate again and begin another ledger."
            )
        return file

    def build(self, model: Model | None, earlier: Mapping[str, Any] | None) -> Mechanism:
        """Return the mechanism of a period.

        Args:
            model: The model of a record, if there is one.
            earlier: θ of the period before, if there is one.
        """
        options = {name: getattr(self, name) for name in _OPTIONS}
        built = make_mechanism(
            self.mechanism, epsilon=self.epsilon, adjacency=self.adjacency, **options
        )
        return built.following(self.anchor if earlier is None else earlier, model)


def model_terms(model: Model | None) -> dict[str, Any]:
    """Return what a policy says of a model, from which the same one is built again.

    Where a file lies is nobody's business, and whoever releases says so again.
    """
    terms: dict[str, Any] = {"model": None, "family": None, "priors": (), "model_digest": None}
    match {} if model is None else model.spec:
        case {"formula": formula, "family": family, **rest}:
            priors = tuple(
                f"{parameter}={name}({', '.join(map(repr, numbers))})"
                for parameter, (name, *numbers) in rest.get("priors", {}).items()
            )
            return terms | {"model": formula, "family": family, "priors": priors}
        case {"name": "joint", "order": order}:
            return terms | {"model": f"joint:{','.join(order)}"}
        case {"name": name}:
            return terms | {"model": name}
        case {"file": file, "function": function, "digest": digest}:
            return terms | {"model": f"{file}:{function}", "model_digest": digest}
        case {"digest": digest, **title}:
            return terms | {"model": next(iter(title.values())), "model_digest": digest}
        case _:
            return terms


_EDITED = "it was edited, or is no policy; restore it, or calibrate again"


def reference_file(policy: str | os.PathLike[str]) -> Path:
    """Return the file beside a policy by which its reference is recognised."""
    return Path(policy).with_suffix(".reference.json")


_CHOICES: dict[str, Container[str]] = {"mechanism": BY_NAME, "reference_is": CALIBRATED_ON}


_TYPES: dict[tuple[str, ...], tuple[type, ...]] = {
    ("epsilon", "budget", "delta", "threshold", "c1", "c2"): (int, float),
    ("rows",): (int,),
    ("balanced",): (bool,),
    ("bins",): (int, str),
    ("priors",): (list,),
    ("anchor",): (dict,),
}
"""Of what is no text."""


def _value(name: str, value: Any) -> Any:
    if name == "adjacency":
        return Adjacency(value)
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(value)
    kinds = next((kinds for names, kinds in _TYPES.items() if name in names), (str,))
    if type(value) not in kinds or (name == "priors" and not all(type(p) is str for p in value)):
        raise ValueError(value)
    return tuple(value) if name == "priors" else value
