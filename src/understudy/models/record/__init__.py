"""What the schema declares about rows, added to any model of a row.

- `declared.py`: all of it, in order; values that a rule fixes, survey weights
- `missing.py`: missing values
- `units.py`: several rows of one person
"""
