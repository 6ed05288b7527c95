"""Fit, then sample: the same as `synthesize`, for people who come from other libraries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from understudy.domain.frames import Tabular
from understudy.domain.schema import Schema
from understudy.ledger.ledger import Ledger
from understudy.mechanisms import Mechanism
from understudy.models.base import Model
from understudy.synthesis.release import Release
from understudy.synthesis.run import synthesize


@dataclass(frozen=True)
class Synthesizer:
    """A model and a mechanism, to be fitted to a table.

    `Synthesizer(schema, us.Anchored(epsilon=1.0)).fit(table).sample(1000)` draws a thousand rows.
    """

    model: Model | Schema | str | Path
    """The model of a record. A schema, or the file that it is in, stands for `joint`: all of its
    columns together."""
    mechanism: Mechanism
    """How θ is made private, with its ε and its adjacency."""
    ledger: Ledger | str | Path | None = None
    """Charged for each fit."""

    def fit(self, table: Tabular) -> Release:
        """Return the release of a table. Each fit costs ε; rows that are sampled from it do not.

        Args:
            table: The confidential table, or the file that it is in.
        """
        model = Schema.load(self.model) if isinstance(self.model, str | Path) else self.model
        if isinstance(model, Schema) and self.mechanism.needs_model:
            from understudy.models.table.joint import joint

            model = joint(model)
        return synthesize(model, table, self.mechanism, ledger=self.ledger)
