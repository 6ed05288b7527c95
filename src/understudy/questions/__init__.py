"""What an analyst asks of a table: means, shares, quantiles, correlations, group differences, fits.

question     start here: what a question is
reading      a question's text, never run as Python
statistics   one number of some rows, and its sampling variance
groups       a statistic of the whole table, or of each group and their differences
regression   the coefficients of a formula
fits         least squares, logistic and Poisson regression
function     a function of a table, for those who ask in Python
together     several questions as one
headlines    what everybody asks first
combining    one interval from the analyses of several synthetic tables
pooled       these intervals, as text, JSON and HTML
printing     answers as plain text

A question knows a schema and coded columns, and nothing of models, θ or privacy.
"""

from understudy.questions.question import Question
from understudy.questions.reading import asked

__all__ = ["Question", "asked"]
