"""Censor_w: the censored, weighted likelihood (paper, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy._jax import jax
from understudy.domain.schema import Schema
from understudy.errors import BadInput, Refused
from understudy.mechanisms.base import EarlierTheta
from understudy.mechanisms.reference import Reference, reference_from_theta
from understudy.mechanisms.row import RowMechanism
from understudy.mechanisms.weighted import weights_from_risk
from understudy.models.base import Model
from understudy.privacy.guarantee import Kind, Weights


@dataclass(frozen=True, kw_only=True)
class CensorW(RowMechanism):
    """α as Weighted, b = 0, B = ε/2 (ε/4 under replace-one). Asymptotic, or as Censor_uw.

    Each score is bounded, but with weights from the same table one record moves the smallest or
    largest risk, and with it every other record's weight and score. The theorem of `guarantee.py`
    needs weights that are a function of the record alone. A reference (`reference.py`) gives such
    a function: its draws and its range of risks are fixed before the table is seen. The target is
    then as private as that of Censor_uw, and drawn from by chains: the guarantee is conditional.
    """

    epsilon: float
    """The privacy loss of one draw, where the weights are fixed beforehand."""
    c1: float = 1.0
    """Scale of the weights."""
    c2: float = 0.0
    """Shift of the weights."""
    reference: Reference | None = None
    """Another table, which fixes the weight of any record."""

    name = "censor-w"
    earlier = EarlierTheta.NEEDED

    @property
    def kind(self) -> Kind:
        """Strict if the weights come from elsewhere."""
        return Kind.ASYMPTOTIC if self.reference is None else Kind.STRICT

    @property
    def weights(self) -> Weights:
        """Learned from the table itself, unless there is a reference."""
        return Weights.SAME_DATA if self.reference is None else Weights.RECORD_FUNCTION

    @property
    def reason(self) -> str | None:  # type: ignore[override]
        """Why the guarantee is not strict."""
        return _REASON if self.reference is None else None

    def alpha(self, risk: jax.Array) -> jax.Array:
        """Weigh each record by its risk, within the range of the table or of the reference."""
        extent = None if self.reference is None else self.reference.extent
        return weights_from_risk(risk, c1=self.c1, c2=self.c2, extent=extent)

    def following(self, theta: Mapping[str, Any] | None, model: Model | None) -> CensorW:
        """Return it with weights from records that are simulated from θ."""
        if model is None or theta is None:
            raise Refused(
                "censor-w needs weights that are fixed before the table is seen, from a public "
                "reference or an earlier period, and there is neither: calibrate on a public "
                "reference."
            )
        return replace(self, reference=reference_from_theta(model, dict(theta)))

    @classmethod
    def check_serves(cls, schema: Schema, model: Model | None, *, public: bool) -> None:
        """Refuse a reference that no weights may be learned from."""
        super().check_serves(schema, model, public=public)
        if not public:
            raise BadInput(
                "censor-w takes its weights from the reference, which has to be public for that."
            )

    @classmethod
    def trials(cls) -> Sequence[Mapping[str, float]]:
        """Return pairs of c₁ and c₂."""
        return tuple(
            {"c1": c1, "c2": c2} for c1, c2 in ((1.0, 0.0), (0.8, 0.0), (0.8, 0.2), (0.5, 0.5))
        )


_REASON = (
    "The weights were learned from this table, so one record can change the weights of all the "
    "others, which censoring does not bound."
)
