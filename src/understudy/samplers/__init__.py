"""Draws of θ from the target of `score.py`, and what is known about them.

- `nuts.py`: Markov chains, behind the gate of `diagnostics.py`
- `frames.py`: the coordinates in which chains move
- `exact.py`, `proposals.py`: one candidate out of a public list, and where candidates come from
- `quadrature.py`: the truth for one or two parameters, for tests and studies
- `lipschitz.py`: how far records reach, over draws
"""
