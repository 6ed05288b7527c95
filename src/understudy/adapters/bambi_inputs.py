"""What a Bambi formula makes of a table, in the place of what it made of the public frame.

Bambi writes its design matrices into the PyMC graph as constants. Each constant that has one row
for each record of the public frame is recognised by its values and replaced by an input; one that
is not recognised is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytensor.tensor as pt
from formulae import model_description
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorConstant

from understudy.adapters.pymc_graph import Graph
from understudy.adapters.pymc_jax import named
from understudy.adapters.pymc_source import graph_of_model
from understudy.domain.schema import Column, Role, Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput

Part = Callable[["pd.DataFrame"], np.ndarray]


@dataclass(frozen=True, eq=False)
class BambiInputs:
    """A Bambi model that was built on a public frame, and how to get its inputs from any other."""

    title: str
    model: Any
    schema: Schema
    frame: pd.DataFrame
    codes: Columns
    """The public frame as encoded columns."""

    @property
    def outcome(self) -> Column:
        """The one confidential column."""
        return self.schema.confidential[0]

    def check(self) -> None:
        """Refuse a formula with anything on its sides that the schema does not allow there."""
        self.schema.refuse_released_weight("a formula")
        roles = {column.name: column.treated_as for column in self.schema.columns}
        outcome = self.model.response_component.term.name
        if roles.get(outcome) is not Role.CONFIDENTIAL:
            raise self._fault(
                f"'{outcome}' is on the left-hand side, but that must be a confidential column as "
                f"it is: transform the distribution, with a family or a link, and not the column."
            )
        for formula in self.model.formula.get_all_formulas():
            description = model_description(formula)
            for term in (*description.common_terms, *description.group_terms):
                for name in sorted(term.var_names - {""}):
                    if roles.get(name) is not Role.PUBLIC:
                        raise self._fault(
                            f"'{name}' is on the right-hand side, but predictors are copied into "
                            f"the synthetic table and must be public columns of the schema."
                        )
        if len(self.schema.confidential) != 1:
            raise self._fault(
                f"the formula synthesises '{outcome}' alone, but the schema declares other columns "
                f"confidential too: give them the role 'ignore'."
            )

    # From a frame to the inputs.

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Yield what the formula computes of a frame, one array with a row per record each."""
        for name, component in self.model.distributional_components.items():
            common = list(component.common_terms.values())
            if common:
                centred = component.intercept_term is not None and self.model.center_predictors
                yield f"{name} common", self._common(common, centred)
            for key, offset in component.offset_terms.items():
                yield f"{name} {key}", offset.term.eval_new_data
            for key, term in component.group_specific_terms.items():
                yield f"{name} {key} group", partial(_group, term)
                yield f"{name} {key} predictor", term.term.expr.eval_new_data

    def _common(self, terms: list[Any], centred: bool) -> Part:
        def raw(frame: pd.DataFrame) -> np.ndarray:
            return np.column_stack([term.term.eval_new_data(frame) for term in terms])

        # The centre is that of the public frame, whichever frame comes later.
        centre = raw(self.frame).mean(axis=0) if centred else None
        return raw if centre is None else lambda frame: raw(frame) - centre

    def response(self) -> np.ndarray:
        """Return what the model observes on the public frame."""
        return np.squeeze(self.model.response_component.term.data)

    def levels(self) -> np.ndarray | None:
        """Return what the model observes for each level of the outcome; None for a number."""
        response, codes = self.response(), self.codes[self.outcome.name]
        if self.outcome.levels is None:
            if not np.array_equal(response, codes):
                raise self._fault("the outcome is changed before it is observed.")
            return None
        every = range(len(self.outcome.levels))
        observed = np.array([response[codes == code][0] for code in every])
        apart = len({*observed.tolist()}) == len(observed)
        if not apart or not np.array_equal(observed[codes], response):
            raise self._fault(
                f"the levels of '{self.outcome.name}' run together under this family: choose one "
                f"that tells them apart."
            )
        return observed

    # From constants to inputs.

    def graph(self, parts: dict[str, Part]) -> Graph:
        """Return the model's graph with inputs in the place of the public frame's constants."""
        self.model.build()
        graph = graph_of_model(self.title, self.model.backend.model, {}, self.schema)
        known = {name: np.asarray(part(self.frame)) for name, part in parts.items()}
        known[self.outcome.name] = self.response()
        inputs = {
            name: named(name, str(values.dtype), (None, *values.shape[1:]))
            for name, values in known.items()
        }
        variables = [*graph.free.values(), *graph.observed.values(), *graph.values.values()]
        places = {}
        for constant in ancestors(variables):
            if isinstance(constant, TensorConstant) and len(self.frame) in constant.data.shape[:1]:
                places[constant] = self._input(constant, known, inputs)
        cloned = clone_replace(variables, replace=places, rebuild_strict=False)
        # Bambi's own order changes from run to run.
        free = dict(sorted(zip(graph.free, cloned, strict=False)))
        observed, value = ({self.outcome.name: each} for each in cloned[-2:])
        return replace(graph, inputs=inputs, free=free, observed=observed, values=value)

    def _input(self, constant: Any, known: dict[str, np.ndarray], inputs: dict[str, Any]) -> Any:
        """Return what takes the place of a constant, in its shape and type."""
        data, shape = constant.data, constant.data.shape
        rows = inputs[self.outcome.name].shape[0]
        for name, values in known.items():
            if np.array_equal(np.ravel(data), np.ravel(values)):
                # An axis of length one may have been added.
                placed = inputs[name].reshape((rows, *shape[1:]), ndim=len(shape))
                return placed.astype(constant.dtype)
        if np.array_equal(data, np.broadcast_to(data[:1], shape)):
            return pt.alloc(pt.constant(data[0]), rows, *shape[1:])
        raise self._fault(
            "Bambi turns the frame into something that is not known here, as it does for hsgp(): "
            "use bs() or poly() instead, or write the model in PyMC."
        )

    def _fault(self, sentence: str) -> BadInput:
        return BadInput(f"in the model '{self.title}' {sentence}")


def _group(term: Any, frame: pd.DataFrame) -> np.ndarray:
    """Return the number of each record's group."""
    return np.asarray(term.term.factor.eval_new_data(frame)).argmax(axis=1)
