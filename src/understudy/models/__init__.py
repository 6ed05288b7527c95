"""What a model is, and the models that come with the library.

- `base.py`: what a model is: a prior, a record log-likelihood, and a way to simulate
- `balance.py`: evenly spread rows instead of independent ones
- `beta.py`: the paper's Beta synthesiser of one column
- `beta_draws.py`: draws of Beta variables, many at once
- `log_gamma.py`: log Γ, for its density and for counts
- `formula.py`: regression of one column by formula
- `design.py`, `varying.py`, `priors.py`: its design matrix, its varying intercepts, its priors
- `families/`: the distributions that a formula's outcome can have
- `table/`: models of all columns, `joint` and `mixture`
- `record/`: what the schema declares about rows, added to any model
"""
