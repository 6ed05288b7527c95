"""Regression of one confidential outcome on public predictors, by formula.

    y ~ Family(η, θ),      η = Xβ + Σ_g σ_g z_g[group],

where X is the design matrix of `design.py`, whose columns run from 0 to 1 over the declared domain:
a coefficient is the change of η from one end of its predictor's declared range to the other, or
against the first level. The groups are the varying intercepts of `varying.py`. `families/` says
what each family makes of η, and with which priors; any of them can be given instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy._jax import jax, jnp
from understudy.domain.formulas import check_length
from understudy.domain.schema import Schema
from understudy.domain.tables import Columns
from understudy.errors import BadInput, nearest
from understudy.models.balance import among_public, evenly
from understudy.models.base import Data, Model, Parameter, Theta
from understudy.models.design import INTERCEPT, Design, design
from understudy.models.families import FAMILIES, Extra, Family
from understudy.models.priors import Prior, read_priors
from understudy.models.varying import Group, separate

_ALL_COEFFICIENTS = "coefficients"
_STANDARD = Prior("normal", (0.0, 1.0))


def formula(
    text: str, *, family: str, schema: Schema, priors: Mapping[str, Any] | None = None
) -> Model:
    """Return the regression model that a formula such as `salary ~ gender + age` describes.

    Args:
        text: The formula: one confidential column on the left, public ones on the right, and
            varying intercepts such as `(1 | state)`.
        family: The outcome's distribution, one of the names in `families.FAMILIES`.
        schema: Declares the columns; nothing else of them is known to the model.
        priors: Replace those of the family, by the names of parameters, where "coefficients"
            stands for all but the intercept: `{"Intercept": ("normal", 0, 1.5), "coefficients":
            ("normal", 0, 1), "sigma": ("half-normal", 0.5)}`.

    Raises:
        BadInput: If the formula, the family or a prior is not one that the schema allows.
    """
    if family not in FAMILIES:
        raise BadInput(
            f"family '{family}' is not known{nearest(family, FAMILIES)}: a formula can have the "
            f"family {', '.join(FAMILIES)}."
        )
    check_length(text)
    fixed, groups = separate(text, schema)
    plan = design(fixed, schema)
    outcome = schema.column(plan.outcome)
    chosen = FAMILIES[family](outcome)
    given = read_priors({} if priors is None else priors)
    predictor = _Predictor(plan, groups, chosen)
    stated = _stated(predictor, given)

    def log_prior(theta: Theta) -> jax.Array:
        return sum((s.prior.log_density(theta[s.name]) for s in stated), jnp.zeros(()))

    def prepare(columns: Columns) -> Data:
        rows = len(columns[outcome.name])
        return {**chosen.prepare(columns[outcome.name]), **predictor.prepare(columns, rows)}

    def record_loglik(theta: Theta, data: Data) -> jax.Array:
        return chosen.loglik(predictor.linear(theta, data), theta, data)

    def simulate(key: jax.Array, theta: Theta, public: Columns, rows: int) -> Columns:
        linear = predictor.on_host(theta, public, rows)
        return {outcome.name: chosen.simulate(key, linear, theta)}

    def balanced(
        generator: np.random.Generator, theta: Theta, public: Columns, rows: int
    ) -> Columns:
        u = evenly(generator, rows, among_public(schema, public))
        linear = predictor.linear(theta, predictor.prepare(public, rows))
        return {outcome.name: chosen.quantile(u, linear, theta)}

    spec: dict[str, Any] = {"formula": text, "family": family}
    if given:
        spec["priors"] = {name: prior.to_list() for name, prior in given.items()}
    return Model(
        title=text,
        schema=schema,
        parameters=tuple(Parameter(s.name, s.prior.support, s.shape) for s in stated),
        log_prior=log_prior,
        prepare=prepare,
        record_loglik=record_loglik,
        simulate=simulate,
        balanced=balanced,
        check_public=plan.check,
        spec=spec,
    )


@dataclass(frozen=True)
class _Predictor:
    """The linear predictor: which columns it reads, and what it makes of θ."""

    plan: Design
    groups: tuple[Group, ...]
    family: Family

    def __post_init__(self) -> None:
        if self.family.intercept is None and INTERCEPT not in self.plan.names:
            raise BadInput(
                f"in the formula '{self.plan.formula}' the family's shares of the levels stand in "
                f"place of an intercept, which cannot be taken out: remove the 0."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The coefficients, without an intercept that the family replaces."""
        replaced = self.family.intercept is None
        return tuple(n for n in self.plan.names if not (replaced and n == INTERCEPT))

    def prepare(self, columns: Columns, rows: int) -> Data:
        """Return the design matrix and the codes of the groups, one row for each record."""
        matrix = np.ones((rows, len(self.plan.names)))
        if self.plan.predictors:
            matrix = self.plan.matrix(columns)
        if len(self.names) < len(self.plan.names):
            kept = [k for k, name in enumerate(self.plan.names) if name in self.names]
            matrix = matrix[:, kept]
        codes = {f"1|{group.column}": columns[group.column] for group in self.groups}
        return {name: jnp.asarray(values) for name, values in {"design": matrix, **codes}.items()}

    def on_host(self, theta: Theta, columns: Columns, rows: int) -> np.ndarray:
        """Return η of each record by NumPy, which compiles nothing, and without the design."""
        known = {name: np.asarray(values) for name, values in theta.items()}
        # A coefficient that the family replaces is as good as 0.
        none = np.zeros(self.family.predictors)
        coefficients = np.array([known.get(name, none) for name in self.plan.names])
        if self.plan.predictors:
            linear = self.plan.linear(columns, coefficients)
        else:
            linear = np.tile(coefficients.sum(axis=0), (rows, *[1] * none.ndim))
        for group in self.groups:
            intercepts = known[group.sigma] * known[group.offset]
            linear = linear + intercepts[columns[group.column]]
        return linear

    def linear(self, theta: Any, data: Any) -> Any:
        """Return η of each record, shape (n,) or (n, predictors)."""
        shape = self.family.predictors
        linear = jnp.zeros((len(data["design"]), *shape))
        if self.names:
            linear = data["design"] @ jnp.stack([theta[name] for name in self.names])
        for group in self.groups:
            intercepts = theta[group.sigma] * theta[group.offset]
            linear = linear + intercepts[data[f"1|{group.column}"]]
        return linear


def _stated(predictor: _Predictor, given: dict[str, Prior]) -> tuple[Extra, ...]:
    """Return every parameter with the prior that holds for it: the given one, or the family's."""
    family, shape = predictor.family, predictor.family.predictors
    slopes = given.get(_ALL_COEFFICIENTS, family.coefficients)
    defaults = [
        *(
            Extra(n, (n == INTERCEPT and family.intercept) or slopes, shape)
            for n in predictor.names
        ),
        *(Extra(group.sigma, family.group_sd, shape) for group in predictor.groups),
        *family.extras,
    ]
    offsets = [Extra(g.offset, _STANDARD, (g.levels, *shape)) for g in predictor.groups]
    names = [each.name for each in (*defaults, *offsets)]
    for name in names:
        if names.count(name) > 1 or name == _ALL_COEFFICIENTS:
            raise BadInput(f"a predictor cannot be called '{name}', the name of a parameter.")
    _check_given(given, predictor, {extra.name: extra for extra in defaults})
    replaced = (replace(each, prior=given.get(each.name, each.prior)) for each in defaults)
    return (*replaced, *offsets)


def _check_given(
    given: dict[str, Prior], predictor: _Predictor, defaults: dict[str, Extra]
) -> None:
    """Refuse priors of parameters that the model does not have, or of another kind."""
    known = dict(defaults)
    if set(predictor.names) - {INTERCEPT}:
        known[_ALL_COEFFICIENTS] = Extra(_ALL_COEFFICIENTS, predictor.family.coefficients)
    for name, prior in given.items():
        if name not in known:
            raise BadInput(
                f"the model '{predictor.plan.formula}' has no parameter '{name}'"
                f"{nearest(name, known)}: priors can be given for {', '.join(known)}."
            )
        usual = known[name]
        if prior.kind is not usual.prior.kind:
            raise BadInput(
                f"the prior {prior} does not fit '{name}', which is {usual.prior.kind}: choose one "
                f"like {usual.prior}."
            )
        if prior.start < usual.above:
            raise BadInput(
                f"the prior {prior} of '{name}' must not reach below {usual.above:g}: choose one "
                f"like {usual.prior}."
            )
