"""What a release promises, and what several cost together.

guarantee.py     the promise of one release, in numbers and in words
accounting.py    costs in ε and ρ, and how they add up
composition.py   several guarantees taken together
assumptions.py   what a guarantee rests on, sentence by sentence
rounding.py      bounds written so that they are never too comfortable
"""
