"""θ from what was published: sees no table, and may be repeated without end at no cost.

posterior     an estimate and draws of θ from all that was measured, and a check of the model
measurement   what was measured: a sum of contributions with noise, and what defines it
contribution  what a record contributes to a sum: cells of tables, scores at a public θ₀
margins       public rows as often as the population has them, where there are survey weights
shares        how much each row counts in a sum, and for how many rows a record may count
cells         a column in a few public cells, or two columns
slopes        f and ∇f of many records, each by one compiled kernel
moments       mean, spread and slope of a contribution at θ, from simulated records
evidence      all measurements stacked, and what θ predicts of them
history       what an earlier release knew of θ, as the prior of this one
start         where a fit begins
mode          the most plausible θ, by damped Gauss–Newton steps
refined       the same from enough simulated records
pool          simulated records that stand for any θ nearby
chain         draws of many parameters, by a chain
draws         draws of θ given what was measured
check         whether the model can produce what was measured
tables        which tables of a whole table to measure
grouping      which codes of a column are counted together
noisy_tables  counts of cells with noise, and how likely they are
columns       the most plausible θ of columns in turn, from such tables
whole         an estimate, draws and a check of a model of whole tables
counts        shares of a histogram's bins, given their noisy counts
stages        what is public of draws by `anchored`
tempered      draws of θ given those
allowance     what a round may cost: ε, or ρ with normal noise
directions    which scores to measure next, and how far to clip them
rebuilt       what was measured, read back from a published file
answers       the answers to a question at each draw of θ
finite        the same about the very records of the table
noiseless     how much of an interval is due to the noise
"""
