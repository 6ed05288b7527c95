"""What a NumPyro function's sites must look like to be a model of records.

A function is run on two public tables of different sizes. Here its sites are sorted into
parameters, observed columns, and discrete variables of each record that are summed out; whatever
fits none of these is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpyro.distributions as dist

from understudy._jax import jnp
from understudy.adapters.checks import INDEPENDENT, SIZES, check_names, example_table
from understudy.domain.schema import Schema
from understudy.errors import BadInput
from understudy.models.base import Parameter

Site = dict[str, Any]

LARGEST_SUM = 64
"""Combinations of discrete values that are summed out for each record; each costs one density."""


@dataclass(frozen=True, eq=False)
class Sites:
    """The sites of a function on two public tables, sorted by what they are."""

    title: str
    schema: Schema
    examples: list[list[Site]]
    """The sites on an example table of each of the `SIZES`."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Names of the columns that must be observed."""
        return tuple(column.name for column in self.schema.confidential)

    @cached_property
    def plate(self) -> str | None:
        """Name of the plate that has one entry for each record, whatever their number."""
        plates = [
            {site["name"]: site["args"] for site in sites if site["type"] == "plate"}
            for sites in self.examples
        ]
        names = [
            name
            for name in plates[0]
            if [sized.get(name, (None,))[0] for sized in plates] == list(SIZES)
        ]
        if len(names) > 1:
            raise self._fault(
                f"there are two plates over the records, {' and '.join(map(repr, names))}: put all "
                f"observed sites into one."
            )
        for name in names:
            if plates[0][name][1] not in (None, SIZES[0]):
                raise self._fault(
                    f"the plate '{name}' takes a subsample, but every record must count."
                )
        return names[0] if names else None

    def axis(self, site: Site) -> int | None:
        """Return the axis of the record plate, or None if the site is outside it."""
        frames = site["cond_indep_stack"]
        return next((int(frame.dim) for frame in frames if frame.name == self.plate), None)

    @cached_property
    def checked(self) -> tuple[tuple[Parameter, ...], dict[str, np.ndarray]]:
        """The parameters, and all combinations of the discrete variables that each record has."""
        (parameters, supports), (others, other_supports) = (
            self._sorted(*each) for each in zip(self.examples, SIZES, strict=True)
        )
        if not parameters:
            raise BadInput(f"the model '{self.title}' has no parameter to draw.")
        for name in parameters.keys() | others.keys():
            one, other = parameters.get(name), others.get(name)
            if one is None or other is None or one.shape != other.shape:
                raise self._fault(
                    f"the size of the parameter '{name}' depends on the table: a variable for each "
                    f"record must be integrated out, so that a record has one log-likelihood; "
                    f"{INDEPENDENT}."
                )
            if one != other:
                raise self._fault(
                    f"the range of the parameter '{name}' depends on the table or on another "
                    f"parameter: give it a fixed one."
                )
        for name, values in supports.items():
            if not np.array_equal(values, other_supports.get(name, ())):
                raise self._fault(
                    "the values of a discrete variable depend on the table: fix them."
                )
        count = math.prod(map(len, supports.values()))
        if count > LARGEST_SUM:
            raise self._fault(
                f"the discrete variables {', '.join(map(repr, supports))} have {count} "
                f"combinations for each record, and at most {LARGEST_SUM} can be summed out: use "
                f"fewer values."
            )
        grids = map(np.ravel, np.meshgrid(*supports.values(), indexing="ij"))
        return tuple(parameters.values()), dict(zip(supports, grids, strict=True))

    def _sorted(
        self, sites: list[Site], rows: int
    ) -> tuple[dict[str, Parameter], dict[str, np.ndarray]]:
        """Check every site and return the parameters, and the values of discrete variables."""
        samples = [site for site in sites if site["type"] == "sample"]
        if not samples:
            raise BadInput(
                f"the model '{self.title}' samples nothing: a NumPyro function must call "
                f"numpyro.sample, a PyMC function must return its pm.Model, and one for Bambi its "
                f"bambi.Model."
            )
        for site in sites:
            name = site["name"]
            if site["type"] == "param":
                raise self._fault(f"'{name}' is a numpyro.param, which has no prior: sample it.")
            if site["type"] == "sample" and isinstance(site["fn"], dist.Unit):
                raise self._fault(
                    f"the numpyro.factor '{name}' is neither a prior nor the density of a column: "
                    f"use numpyro.sample."
                )
        self._check_observed([site for site in samples if site["is_observed"]], rows)
        latent = [site for site in samples if not site["is_observed"]]
        check_names(self.title, [site["name"] for site in latent], self.schema)
        inside = {
            site["name"]: self._support(site) for site in latent if self.axis(site) is not None
        }
        outside = [site for site in latent if site["name"] not in inside]
        return {site["name"]: self._parameter(site) for site in outside}, inside

    def _check_observed(self, sites: list[Site], rows: int) -> None:
        observed = {site["name"]: site for site in sites}
        if not observed:
            raise BadInput(f"the model '{self.title}' has no observed site: pass a column as obs.")
        for site in sites:
            frames = site["cond_indep_stack"]
            if frames and self.axis(site) is None:
                raise self._fault(
                    f"the plate '{frames[0].name}' around the observed site '{site['name']}' has "
                    f"{frames[0].size} entries for a table of {rows} records: let its size be 'n', "
                    f"the number of records."
                )
        if self.plate is None or all(self.axis(site) is None for site in sites):
            raise BadInput(
                f"the model '{self.title}' has no record plate: put the observed sites into "
                f'numpyro.plate("records", n), so that each record has a log-likelihood of its '
                f"own; {INDEPENDENT}."
            )
        table = example_table(self.schema, rows)
        for name in self.outcomes:
            if name not in observed:
                raise BadInput(
                    f"the model '{self.title}' has no observed site called '{name}': sample the "
                    f'confidential column with numpyro.sample("{name}", ..., obs={name}).'
                )
            if self.axis(observed[name]) is None:
                raise self._fault(
                    f"the observed site '{name}' is outside the record plate, so its likelihood "
                    f"does not split by record: {INDEPENDENT}."
                )
            if not np.array_equal(np.ravel(observed[name]["value"]), table[name]):
                raise self._fault(
                    f"the site '{name}' observes something other than the column itself (a "
                    f"transform of it, or another table): pass the argument, and transform the "
                    f"distribution instead, or simulated values would be on another scale."
                )
        for name, site in observed.items():
            if name not in self.outcomes and self.axis(site) is not None:
                raise self._fault(
                    f"the site '{name}' is observed in the record plate but is not a confidential "
                    f"column of the schema."
                )

    def _support(self, site: Site) -> np.ndarray:
        """Return the values of a discrete variable of each record; refuse a continuous one."""
        name, distribution = site["name"], site["fn"]
        if not distribution.support.is_discrete:
            raise self._fault(
                f"the parameter '{name}' is in the record plate, one for each record: integrate "
                f"it out, so that a record has one log-likelihood. A draw of it would be released "
                f"knowledge about a single record, which no bound on the record's score covers."
            )
        alone = [frame.name for frame in site["cond_indep_stack"]] == [self.plate]
        if not alone or distribution.event_shape:
            raise self._fault(
                f"the discrete variable '{name}' has several values for each record: give it the "
                f"record plate alone, and a name for each value."
            )
        try:
            values = distribution.enumerate_support(expand=False)
        except NotImplementedError:
            raise self._fault(
                f"the discrete variable '{name}' has no end of values, so it cannot be summed out "
                f"for each record: give it a distribution with finitely many."
            ) from None
        return np.ravel(values)

    def _parameter(self, site: Site) -> Parameter:
        name, distribution = site["name"], site["fn"]
        if distribution.support.is_discrete:
            raise self._fault(
                f"the parameter '{name}' is discrete: sum it out, with a mixture distribution for "
                f"example, or put it into the record plate if each record has its own."
            )
        innermost = distribution
        while hasattr(innermost, "base_dist"):
            innermost = innermost.base_dist
        if isinstance(innermost, dist.ImproperUniform):
            raise self._fault(
                f"the prior of '{name}' is improper; a censored likelihood needs a proper prior: "
                f"give it a wide Normal, for example."
            )
        return Parameter(name, distribution.support, tuple(jnp.shape(site["value"])))

    def _fault(self, sentence: str) -> BadInput:
        return BadInput(f"in the model '{self.title}' {sentence}")
