"""The equation.

Let f_θ(x) = log p(x | θ) be the record log-likelihood. Every Bayesian mechanism of this library
draws one θ from

    log ξ(θ | x) = log ξ(θ) + Σᵢ s_θ(xᵢ),      s_θ(x) = clip( α(x) · (f_θ(x) − b(x)),  −B,  +B ),

and simulates the synthetic table from that θ, which is post-processing. α is the record's weight,
b its offset, B the censoring bound. A mechanism is a row of this table:

    mechanism     α                                 b     B      guarantee
    unweighted    1                                 0     ∞      none
    weighted      c₁ (1 − f̃) + c₂ within [0, 1]     0     ∞      asymptotic
    weighted-e    as weighted, 0 where α|f| > ε/2   0     ∞      asymptotic
    censor-uw     1                                 0     ε/2    strict *
    censor-w      as weighted                       0     ε/2    strict * if α is a function of the
                                                                 record alone, else asymptotic
    anchored      a constant                        f_θ₀  ε/2    strict *; several stages share ε

    * with exact draws; by Markov chains it is conditional on their convergence

(ε/2 under add-remove; ε/4 under replace-one. `privacy/guarantee.py` says why.) With α = 1, b = 0
and B = ∞ the equation is the model's ordinary posterior.

Where f is infinite, as a Beta density is at 0 and 1, the score is its limit, ±B; 0 · ∞ = 0, and
an undefined difference scores 0. With B = ∞ a density that is infinite at the record tells one θ
from another no more than a constant does, and scores 0; a density of zero keeps the score −∞ and
rules θ out. Each is a rule of θ and the record alone, as the guarantee needs, and none makes a NaN.
"""

from __future__ import annotations

from typing import NamedTuple

from understudy._jax import jax, jnp
from understudy.models.base import Data, Model


class Row(NamedTuple):
    """One row of the table: what a mechanism puts into the equation for the records at hand."""

    alpha: jax.Array
    """Weight of each record, shape (n,)."""
    offset: jax.Array
    """Offset of each record, shape (n,)."""
    bound: jax.Array
    """Censoring bound B, a scalar; infinite where nothing is censored."""


def score(loglik: jax.Array, row: Row) -> jax.Array:
    """Return s_θ(x) for each record from its log-likelihood f_θ(x)."""
    pull = row.alpha * (loglik - row.offset)
    inside = jnp.clip(pull, -row.bound, row.bound)
    return jnp.where(jnp.isnan(pull) | (inside == jnp.inf), 0.0, inside)


def log_target(model: Model, z: jax.Array, data: Data, row: Row) -> jax.Array:
    """Return log ξ(θ | x), up to a constant, as a density of the unconstrained parameters z."""
    loglik = model.record_loglik(model.constrain(z), data)
    return model.log_prior_unconstrained(z) + jnp.sum(score(loglik, row))
