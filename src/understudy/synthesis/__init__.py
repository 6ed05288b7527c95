"""From a table to a release: prepare, plan, charge, draw, simulate, promise, measure, release.

A file for each phase, but for two: the mechanism plans and draws (`mechanisms`).

run            `synthesize`: the whole way, in the order in which it is gone; `Synthesizer`
preparation    everything that can be checked and settled first, as one request
charging       the ledger, charged before the first draw
simulation     rows from a released θ, and more of them
large          synthetic tables of more rows than are held
promise        the guarantee, with its assumptions
measuring      the half that stays inside: how close it came, and the report
release        what may leave, and how it is written
opening        a release as it was published, read back
whom           whose public rows a release has, and how much they tell
known          what is known of θ from a release, and how tables are simulated from it
answering      `infer`: what a release says to a question, with intervals
pooling        `pool`: analyses of a release's several tables, combined
"""
