"""The declared public domain of the data, and tables that are checked against it.

schema.py        all declarations together: start here
column.py        one declared column
heaps.py         values and multiples of which a column has many
kinds.py         kinds of missing values
dates.py         dates as numbers of days
layout.py        reading declarations from TOML, strictly
drafting.py      the draft of a schema, for a person to complete
tables.py        coding tables by the schema, and decoding synthetic ones
cells.py         cells as text, numbers and days
table_files.py   tables in files
writing.py       tables to files
frames.py        tables of any library
parts.py         files too large to be held, in parts that are read again and again
records.py       the records of a table, held or streamed, as what can be summed over
reading.py       a table as it is read: held where it is small, else streamed
identifiers.py   repeated ids, which ask who is protected
fingerprints.py  by what a reference table is recognised
rules.py         structural rules of the schema
expressions.py   what a rule can say, and what it means
parsing.py       reading what a rule says
satisfying.py    rows that satisfy the rules
weighing.py      rows as often as their survey weights say
skeleton.py      the public rows of the synthetic table, and how many
formulas.py      formulas that may be evaluated
terms.py         plain terms of formulas, computed without reading them anew
"""
