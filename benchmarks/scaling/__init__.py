"""The parts of `benchmarks/scale.py`: what size costs, in seconds and in memory.

- `growing.py`: tables of growing size, and a pass over each beside Arrow, memory and the disk
- `cluster.py`: one worker against two
- `fits.py`: one large table for a regression and for `joint`
- `sampling.py`: rows that are drawn and written, beside rows that are only written
- `peers.py`: `joint` beside synthesisers of others, up to where they end; `worker.py` is one run
- `generated.py`: the tables, which no data is needed for
- `measured.py`: clocks, memory, bandwidths, and the lines that are kept of them
"""
