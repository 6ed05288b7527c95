"""Users' models, written in NumPyro, PyMC or Bambi, as models.

- `loading.py`: which model is meant: a built-in name, a formula, or a function in a file
- `numpyro.py`, `numpyro_sites.py`: NumPyro functions, and what their sites must look like
- `pymc.py`, `pymc_source.py`: functions that build PyMC models, called on public tables
- `pymc_graph.py`: a PyMC graph as functions of θ and records, and as a model
- `pymc_jax.py`, `pymc_support.py`: graphs, special functions and ranges of parameters in JAX
- `bambi.py`, `bambi_inputs.py`: Bambi models on a public frame, and their inputs from any other
- `checks.py`: what must hold for a user's model, whatever its language
- `functions.py`: what is asked of a user's function before it is run
- `outside.py`, `reached.py`: what it takes from outside that was computed
"""
