"""Models of all confidential columns together.

- `joint.py`: each column given some of those before it
- `conditional.py`: one column given others, by groups of their codes
- `mixture.py`: a mixture of components within which columns are independent
- `coding.py`: how a column becomes codes: levels, values or intervals, spikes, missing values
- `variables.py`: a column as codes, with what prior and predictions need to know of it, and how
  large a model of them may become
- `shapes.py`: directions in which a distribution over codes can differ from an even one
"""
