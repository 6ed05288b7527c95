"""What a mechanism is.

It answers `plan(request)` with a plan that knows its cost and can draw. Everything else that the
library has to know of a mechanism, it says of itself too: which samplers it allows, what
calibration may try, how it goes on from an earlier release, and what an audit looks at. Nothing
outside this package asks which mechanism it has before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from understudy._jax import jnp
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput
from understudy.mechanisms.arguments import check_arguments
from understudy.mechanisms.published import fits_model
from understudy.models.base import Model
from understudy.models.record.declared import as_declared
from understudy.privacy.guarantee import Adjacency, Kind, Weights
from understudy.support.randomness import Source

if TYPE_CHECKING:
    from understudy.inference.measurement import Measurement
    from understudy.mechanisms.choosing import Choice
    from understudy.mechanisms.plan import DrawTarget, Plan
    from understudy.mechanisms.reference import Reference
    from understudy.mechanisms.request import Request

LARGEST_CHAIN = 1000
"""Parameters that a chain can draw."""
LARGEST_EXACT_DIMENSION = 10
"""Beyond this, candidates become too sparse and chains take over."""


class EarlierTheta(Enum):
    """What the θ of an earlier release is to a mechanism."""

    UNUSED = "unused"
    WELCOME = "welcome"
    """It starts from there, and from nothing otherwise."""
    NEEDED = "needed"


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Something that turns a table into private parameters, and what may be said about them."""

    name: ClassVar[str]
    reason: ClassVar[str | None] = None
    """Why the guarantee is not strict, in one sentence."""
    needs_model: ClassVar[bool] = True
    needs_size: ClassVar[bool] = False
    """Whether what it does depends on the size of the table, which then has to be public."""
    draws_exactly: ClassVar[bool] = False
    """Whether it can, with few parameters, do without chains."""
    measures_once: ClassVar[bool] = False
    """Whether any number of tables comes from what was measured once, at no further cost."""
    tried_unasked: ClassVar[bool] = False
    """Whether calibration tries it where no mechanism is named: strict for every model, in seconds.
    The others are tried by name, or where none of these can serve."""
    earlier: ClassVar[EarlierTheta] = EarlierTheta.UNUSED
    by_sums: ClassVar[bool] = False
    """Whether noisy sums over the records are all that it takes from a table. An audit then looks
    at what it `measures`, with any model; otherwise at the `targets` of its draws."""

    adjacency: Adjacency = Adjacency.ADD_REMOVE
    """Under which ε is stated: `add-remove` or `replace-one`."""

    def __post_init__(self) -> None:
        check_arguments(self)

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """How firmly the guarantee holds for a draw from the mechanism's very target."""

    @property
    @abstractmethod
    def weights(self) -> Weights:
        """Where the weights of the records come from."""

    @abstractmethod
    def plan(self, request: Request) -> Plan:
        """Return what it will do and what that costs; nothing is drawn.

        Args:
            request: What was asked for, checked and settled.
        """

    def kind_with(self, sampler: str) -> Kind:
        """Return how firmly it holds for a draw by this sampler: chains only come close.

        Args:
            sampler: `exact`, `nuts` or `none`.
        """
        by_chains = sampler == "nuts" and self.kind is Kind.STRICT
        return Kind.CONDITIONAL if by_chains else self.kind

    def samplers(self, model: Model) -> Sequence[str]:
        """Return the samplers that can draw from its target, the usual one first.

        Args:
            model: The model of a record.
        """
        few = self.draws_exactly and model.dimension <= LARGEST_EXACT_DIMENSION
        return ("nuts", "exact") if few else ("nuts",)

    @property
    def target(self) -> float | None:
        """The ε asked for, if it takes one."""
        return getattr(self, "epsilon", None)

    @property
    def references(self) -> Sequence[Reference]:
        """Other tables that it has learned from: each of its fields that holds a `Reference`."""
        from understudy.mechanisms.reference import Reference  # Which imports a mechanism.

        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Reference))

    @property
    def origins(self) -> Sequence[str]:
        """Where that which it has learned elsewhere comes from: see `assumptions.ORIGINS`."""
        return tuple(each.origin for each in self.references)

    def following(self, theta: Mapping[str, Any] | None, model: Model | None) -> Mechanism:
        """Return the mechanism as it goes on from the θ of an earlier release or public table.

        Args:
            theta: That θ by name, or None where there is none.
            model: The model that it belongs to.
        """
        return self

    @classmethod
    def check_serves(cls, schema: Schema, model: Model | None, *, public: bool) -> None:
        """Refuse to be calibrated where it cannot serve.

        Args:
            schema: What the table is declared to hold.
            model: The model of a record, if there is one.
            public: Whether the reference is public.
        """
        if model is None:
            raise BadInput(f"the mechanism {cls.name} needs `model`.")

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """Return the settings that calibration tries at each ε; none for what states no ε."""
        return ()

    def targets(self, request: Request) -> Sequence[DrawTarget]:
        """Return what each of its draws is made from, for an audit of the Beta model.

        Args:
            request: A simulated table, as a synthesis would be asked about it.
        """
        raise BadInput(f"{self.name} draws no parameters, so there is nothing to audit.")

    def measures(self, request: Request) -> Sequence[Measurement | Choice]:
        """Return each sum, and each choice, that it publishes, round by round, for an audit.

        Args:
            request: A simulated table, as a synthesis would be asked about it.
        """
        raise BadInput(f"{self.name} publishes no sums, so there are none to audit.")

    @classmethod
    def no_combining(cls, schema: Schema) -> str | None:
        """Return why analyses of several of its tables cannot be combined; None where they can.

        They can where tables come from draws of θ that follow its posterior, given something.

        Args:
            schema: What the table is declared to hold.
        """
        return (
            f"no rule is known by which analyses of tables by {cls.name} could be combined: its "
            f"draws of θ do not spread as θ does given what is known."
        )

    @classmethod
    def reads(cls, theta: Mapping[str, Any], model: Model | None) -> bool:
        """Return whether θ is what it publishes with this model.

        Args:
            theta: Parameters by name, from a file that may be anything.
            model: The model that they are said to belong to.
        """
        return model is not None and fits_model(theta, model)

    @classmethod
    def simulator(
        cls,
        theta: Mapping[str, Any],
        source: Source,
        *,
        schema: Schema,
        model: Model | None,
        balanced: bool = False,
    ) -> Callable[[Columns, int], Columns]:
        """Return what draws confidential columns from θ, for public ones and a number of rows.

        Args:
            theta: Published parameters by name.
            source: Where randomness comes from.
            schema: What the table is declared to hold.
            model: The model of a record, if the mechanism needs one.
            balanced: Whether rows are evenly spread instead of independent.
        """
        if model is None:
            raise BadInput("these parameters need a model to simulate from.")
        declared = as_declared(model)
        values = {name: jnp.asarray(value) for name, value in theta.items()}
        if not balanced:
            return lambda public, rows: declared.simulate(source.key(), values, public, rows)
        assert declared.balanced is not None
        return partial(declared.balanced, source.generator(), values)


def check_balanced(balanced: object, schema: Schema, model: Model | None) -> None:
    """Refuse balanced rows where they cannot be had, before anything is charged or drawn.

    Args:
        balanced: Whether they are asked for.
        schema: What the table is declared to hold.
        model: The model of a record, if the mechanism needs one.
    """
    if not isinstance(balanced, bool):
        raise BadInput(f"`balanced` must be True or False, not {balanced!r}.")
    if not balanced:
        return
    if schema.rules:
        raise BadInput(
            "the schema declares structural rules, and rows that are drawn again until they obey "
            "them would not be balanced: leave out `balanced`."
        )
    if model is not None and model.balanced is None:
        raise BadInput(
            f"'{model.title}' draws its rows by functions of its own, which cannot be balanced: "
            f"leave out `balanced`, or use a model that comes with the library."
        )
