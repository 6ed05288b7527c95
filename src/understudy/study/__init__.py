"""The paper's simulation study and application, reproduced beside its printed numbers.

run                 the simulation: what is not on disk yet, then all of it; start here
replicate           one replicate: a table, every synthesiser on it, every statistic
synthesisers        every synthesiser as a mechanism, and what it really guarantees
workers             who runs the replicates
paper               what the paper did and printed
arms                results by arm: a mechanism at its ε, with its c₁
tables              counts beside the paper's, and utility by arm
catalogue           every figure, and the order of the page
figures             the figures drawn; figure_style has their looks and their files
illustration        the paper's Figure 1
findings            whether a statement agrees, differs or stays open
verdicts            what is said of every figure and table; verdicts_utility has the distances
page                the page, and everything else that a study leaves behind

application         section 5: five synthesisers on one table, and ours beside
application_sample  which table; doctorates and fixed_width read the survey's public file
application_claims  what is said of it
application_output  its files, and the picture of the densities
"""
