"""What every other part leans on, and what knows nothing of privacy or of tables.

files.py         files and directories that appear complete or not at all
stopping.py      requests to stop, held back, and what a run leaves behind
randomness.py    keys and generators, fresh or from a seed
confidential.py  objects that do not show what they hold
parallel.py      several things at once, in threads
cluster.py       the same, by the workers of a Dask cluster
build.py         what computes here: code, libraries, processor
sizes.py         amounts of memory, as people write them
progress.py      bars on a terminal, silence anywhere else
aligned.py       text in columns, for a terminal
html.py          escaped tables for notebooks
"""
