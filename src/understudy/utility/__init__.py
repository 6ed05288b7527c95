"""How close a synthetic table is to the confidential one. Every number here is confidential.

table         start here: all measures of a table at once, also as plain text
marginal      one column: max-ECDF, avg-ECDF, total variation
pairs         two columns: total variation of the two-way table, Cramér's V, correlation
counting      columns and pairs of tables too large to be held, by counts
propensity    all columns: can one tell the tables apart?
regression    a stated analysis: coefficients and the overlap of their intervals
"""

from understudy.utility.marginal import Utility, avg_ecdf, compare, max_ecdf, summarise
from understudy.utility.pairs import measure_pairs
from understudy.utility.table import BothTables, TableUtility, as_population, measure_table

__all__ = [
    "BothTables",
    "TableUtility",
    "Utility",
    "as_population",
    "avg_ecdf",
    "compare",
    "max_ecdf",
    "measure_pairs",
    "measure_table",
    "summarise",
]
