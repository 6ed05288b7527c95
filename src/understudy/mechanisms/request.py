"""What was asked for, checked and settled, before anything is charged or drawn."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from understudy.domain.records import Held
from understudy.support.confidential import Confidential
from understudy.support.progress import Progress, silent
from understudy.support.randomness import Source

if TYPE_CHECKING:
    from understudy.domain.records import Records
    from understudy.domain.schema import Schema
    from understudy.domain.skeleton import Skeleton
    from understudy.domain.tables import Columns
    from understudy.mechanisms.base import Mechanism
    from understudy.models.base import Model
    from understudy.privacy.guarantee import Kind


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Request(Confidential):
    """One value that goes through a synthesis: planned, charged, drawn, simulated, released."""

    mechanism: Mechanism
    """How θ is made private."""
    model: Model | None
    """As the schema declares it; None for a mechanism that needs none."""
    schema: Schema
    """What the table is declared to hold."""
    records: Records
    """Those of the confidential table."""
    skeleton: Skeleton
    """What is public about the synthetic table."""
    size: int = 0
    """What stages, widths and rounds depend on: declared, or known anyway; 0 where nothing does."""
    sampler: str
    """`exact`, `nuts` or `none`."""
    tables: int = 1
    """Synthetic tables, each from a draw of its own."""
    balanced: bool = False
    """Whether synthetic rows are evenly spread instead of independent."""
    source: Source
    """Where randomness comes from."""
    accept_poor_mixing: bool = False
    """Whether chains that have not converged are accepted."""
    calibrated_on: str | None = None
    """What the settings were chosen on, if on a reference: one that is public or confidential."""
    period: str | None = None
    """What time the release is about, where it is one of several."""
    memory: int = 2**30
    """Bytes that tables may take."""
    progress: Progress = silent
    """Told the name of each step and how much of it is done."""
    started: float = field(default_factory=time.monotonic)
    """When the work began, by a clock that only goes forward."""

    @property
    def columns(self) -> Columns:
        """The confidential table, for a mechanism that takes more from it than sums."""
        if not isinstance(self.records, Held):
            raise ValueError("a table that is streamed, for a mechanism that needs all of it")
        return self.records.columns

    @property
    def kind(self) -> Kind:
        """How firmly the guarantee of what is drawn will hold."""
        return self.mechanism.kind_with(self.sampler)

    @property
    def unit(self) -> str | None:
        """The column that says which rows belong together, if there is one."""
        return None if self.schema.unit is None else self.schema.unit.name
