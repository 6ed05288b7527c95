"""Pages in HTML, with nothing to load from anywhere: the report for inside, the card for outside.

page              start here: the report of one run, and the pages of a comparison
sections          what it tells about guarantee, closeness, columns, convergence and budget
table_sections    about pairs of columns, propensity and a regression
groups            about outcomes by group
drift             about what moved since the last release
influence         about weights, scores and censored records
comparison        `compare`: synthetic tables beside the confidential one
intervals         one number of an answer: an estimate and its interval
answers           the answer to a question: a table, JSON, a figure, a page
card              the public card of a release, made from what is public alone
plain             a guarantee in plain words
wording           numbers as people read them
figures           the pictures of the report
curves            the numbers behind the pictures
svg               how every picture looks, and becomes inline SVG
template          how a template is filled in
"""

from understudy.report.page import Page, render_comparison

__all__ = ["Page", "render_comparison"]
