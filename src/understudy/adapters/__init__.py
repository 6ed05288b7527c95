"""Users' models, written in NumPyro, PyMC or Bambi, as models.

- `loading.py`: which model is meant: a built-in name, a formula, or a function in a file
- `recognise.py`: which language a function or an object is written in
- `numpyro.py`, `numpyro_sites.py`: NumPyro functions, and what their sites must look like
- `pymc.py`, `pymc_source.py`: functions that build PyMC models, called on public tables
- `pymc_model.py`, `pymc_graph.py`: a PyMC graph as a model, and as functions of θ and records
- `pymc_jax.py`, `pymc_support.py`, `pymc_special.py`: graphs, ranges and special functions in JAX
- `bambi.py`, `bambi_inputs.py`: Bambi models on a public frame, and their inputs from any other
- `checks.py`: what must hold for a user's model, whatever its language
- `functions.py`: what is asked of a user's function before it is run
- `outside.py`, `reached.py`, `libraries.py`: what it takes from outside that was computed
- `edges.py`: gradients that stay finite where a log-likelihood does not
"""
