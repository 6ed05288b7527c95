"""Another table, to learn from what must not be learned from the one to be released.

A reference is fitted without privacy and gives two things that are fixed before the confidential
table is seen: a weight for any record (its risk under the reference's posterior draws, within the
reference's range of risks), and an anchor (the posterior mean). An earlier release can stand in:
its θ is the only draw, and the range of risks comes from records simulated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.fingerprints import Fingerprint
from understudy.domain.frames import Tabular, frame_of
from understudy.domain.tables import encode
from understudy.errors import BadInput
from understudy.mechanisms.fitting import DRAWS, first_row, plain, risk_of
from understudy.mechanisms.published import check_theta, read_anchor
from understudy.mechanisms.unweighted import Unweighted
from understudy.models.base import Data, Model
from understudy.models.record.declared import as_declared
from understudy.samplers.nuts import nuts
from understudy.support.confidential import Confidential
from understudy.support.progress import Progress, silent
from understudy.support.randomness import Source

_SIMULATED = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Reference(Confidential):
    """What was learned from a reference, as a function of any record and as an anchor."""

    draws: jax.Array
    """Unconstrained posterior draws, shape (draws, dimension)."""
    extent: tuple[float, float]
    """Smallest and largest finite risk of the reference's records."""
    theta: dict[str, Any]
    """The anchor: the posterior mean, by name."""
    origin: str
    """`public`, `confidential` (this ε does not protect its records) or `release`."""
    fingerprint: Fingerprint | None = None
    """What tells whether another table is the reference itself."""

    def __repr__(self) -> str:
        if self.origin == "confidential":
            return super().__repr__()
        return f"<Reference: {self.origin}>"

    def risk(self, model: Model, data: Data) -> jax.Array:
        """Return the risk of each record of any table.

        Args:
            model: The model that the reference was fitted with.
            data: The table as the model prepares it.
        """
        return risk_of(model, self.draws, data)


def reference(
    model: Model,
    table: Tabular,
    *,
    confidential: bool,
    seed: int | None = None,
    progress: Progress = silent,
) -> Reference:
    """Learn from a reference table, or from the `parameters.json` of an earlier release.

    Args:
        model: The model that will be used with the confidential table.
        table: The reference, or the file that it is in.
        confidential: Whether its records are confidential, which the guarantee then says.
        seed: Fixes the randomness of the fit.
        progress: Told the name of each step and how much of it is done.
    """
    source = Source(seed)
    model = as_declared(model)
    if isinstance(table, str | Path) and Path(table).suffix == ".json":
        theta = read_anchor(table, model)
        # θ of a whole table may be about groups of its own, which this model does not have.
        check_theta(theta, model)
        return reference_from_theta(model, theta, source)
    columns = encode(frame_of(table), model.schema, name="the reference")
    data = model.prepare(columns)
    row = first_row(model, data, Unweighted())
    progress("Reference", 0.0)
    fit = nuts(model, data, row, source, progress=lambda done: progress("Reference", done))
    if fit.convergence.failing():
        raise BadInput(
            "the model could not be fitted to the reference: its chains did not converge."
        )
    draws = fit.thinned(DRAWS)
    theta = plain(model.constrain(jnp.mean(jnp.asarray(fit.z), axis=(0, 1))))
    extent = _extent(risk_of(model, draws, data))
    origin = "confidential" if confidential else "public"
    return Reference(draws, extent, theta, origin, Fingerprint.of(columns, model.schema))


def reference_from_theta(
    model: Model, theta: dict[str, Any], source: Source | None = None
) -> Reference:
    """Learn from a released θ: risks of records that are simulated from it."""
    model, source = as_declared(model), source or Source(None)
    values = {name: jnp.asarray(value) for name, value in theta.items()}
    points = model.schema.public_points(_SIMULATED)
    public = {column.name: points[column.name] for column in model.schema.public}
    simulated = model.simulate(source.key(), values, public, _SIMULATED)
    draws = model.unconstrain(values)[None]
    rows = model.schema.standing_alone({**public, **simulated})
    risk = risk_of(model, draws, model.prepare(rows))
    return Reference(draws, _extent(risk), theta, "release")


def _extent(risk: jax.Array) -> tuple[float, float]:
    finite = np.asarray(risk)[np.isfinite(risk)]
    if not finite.size:
        raise BadInput("no record of the reference has a finite log-likelihood under the model.")
    return float(finite.min()), float(finite.max())
