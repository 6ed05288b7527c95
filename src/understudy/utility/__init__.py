"""How close a synthetic table is to the confidential one. Every number here is confidential.

marginal      one column: max-ECDF, avg-ECDF, total variation
pairs         two columns: total variation of the two-way table, Cramér's V, correlation
propensity    all columns: can one tell the tables apart?
regression    a stated analysis: coefficients and the overlap of their intervals
table         all of it
"""

from understudy.utility.marginal import (
    CategoricalUtility,
    Missing,
    Summary,
    Utility,
    avg_ecdf,
    compare,
    complete,
    level_shares,
    max_ecdf,
    measure,
    measure_levels,
    summarise,
)
from understudy.utility.pairs import Both, Pair, measure_pairs
from understudy.utility.population import as_population
from understudy.utility.propensity import Propensity, measure_propensity
from understudy.utility.regression import Regression, measure_regression
from understudy.utility.table import TableUtility, measure_table

__all__ = [
    "Both",
    "CategoricalUtility",
    "Missing",
    "Pair",
    "Propensity",
    "Regression",
    "Summary",
    "TableUtility",
    "Utility",
    "as_population",
    "avg_ecdf",
    "compare",
    "complete",
    "level_shares",
    "max_ecdf",
    "measure",
    "measure_levels",
    "measure_pairs",
    "measure_propensity",
    "measure_regression",
    "measure_table",
    "summarise",
]
