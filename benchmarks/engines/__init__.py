"""What makes rows of noisy tables best: `joint`'s sequence, a junction tree, or a weighted pool?

    cd benchmarks && python -m engines --directory DIR --runs 3 --json engines.jsonl
    cd benchmarks && python -m engines --data "ACS 10" "simulated 30" --epsilon 1 --runs 1

All are given the same measurements, those of one release of `joint` by `summary` for each run, and
differ in the public inference alone. mbi comes with the extra `peers`. What was stopped goes on by
the same command; `--limit` and `--memory` bound each engine's run. One process runs at a time: with
`OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false`, on one core.

- `published.py`: what all are given, and how groups of rows become a table
- `sequence.py`, `tree.py`, `pool.py`: the engines; the last also has the sequence's rows drawn from
  a pool without weights, and independent columns
- `simulated.py`: a table whose dependences are known
- `worker.py`: one run; `run.py`: all of them

See docs/whole-tables.md for what came of it.
"""
