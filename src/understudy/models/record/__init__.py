"""What the schema declares about rows, added to any model of a row.

- `declared.py`: all of it, in order; what callers use
- `fixed.py`: values that a structural rule fixes
- `missing.py`: missing values
- `survey.py`: survey weights
- `units.py`: several rows of one person
"""
