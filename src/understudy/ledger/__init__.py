"""A crash-safe, append-only record of what was spent on one protected population.

ledger.py        what can be done with a ledger: start here
chain.py         entries, chained by hashes so that edits are found
statement.py     what was spent, what is left, and how long it lasts
store.py         SQLite and PostgreSQL: tables that only grow, one writer, commits that last
"""
