"""Models of all confidential columns together.

- `joint.py`: each column given those before it
- `mixture.py`: a mixture of components within which columns are independent
- `variables.py`: a column as codes, with what prior and predictions need to know of it, and how
  large a model of them may become
- `effects.py`: how some variables bear on another
"""
