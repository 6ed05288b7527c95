"""The declared public domain of the data, and tables that are checked against it.

schema.py        all declarations together: start here
column.py        one declared column
layout.py        reading declarations from TOML, strictly
drafting.py      the draft of a schema, for a person to complete
tables.py        coding tables by the schema, and decoding synthetic ones
table_files.py   tables in files
frames.py        tables of any library
identifiers.py   repeated ids, which ask who is protected
fingerprints.py  by what a reference table is recognised
rules.py         structural rules of the schema
expressions.py   reading what a rule says, and what it means
satisfying.py    rows that satisfy the rules
skeleton.py      the public rows of the synthetic table, and how many
formulas.py      formulas that may be evaluated
"""
