"""understudy beside other synthesisers: the same tables, ε, relation, bins and measures.

    make peers                                    everything, three runs for each cell
    make peers-acs                                the American Community Survey, with δ beside it
    cd benchmarks && python -m peers --help       a part of it

With `--json FILE` every run is a line of the file as soon as it ends, and a run that is there is
not made again: what was stopped goes on by the same command. `--limit` and `--memory` bound each
run, and a run that breaks them is a failure in its row.

`dpmm`, SmartNoise and the judges need other versions of nearly everything, so each has an
environment of its own, and is run by its interpreter (`peer.py`, `judge.py`):

    python3.11 -m venv DPMM && DPMM/bin/pip install dpmm==0.1.9
    python3.11 -m venv SMART && SMART/bin/pip install smartnoise-synth==1.0.8
    python3.11 -m venv JUDGE && JUDGE/bin/pip install sdmetrics==0.32.0 syntheval==1.7.3
    python -m peers --data "ACS 10" --epsilon 1 --memory 12 --json acs.jsonl --keep tables
        --tools "OpenDP AIM" "OpenDP AIM, delta" "dpmm AIM, delta" "smartnoise MST, delta"
        --peer-python dpmm=DPMM/bin/python snsynth=SMART/bin/python
        --judge-python JUDGE/bin/python

What the judges say is in the file of `--json`. A table that was kept can be judged again:

    JUDGE/bin/python peers/judge.py REAL.csv tables/MADE.csv KINDS.json

See docs/peers.md for what each tool promises and how it is run.
"""
