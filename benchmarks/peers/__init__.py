"""understudy beside other synthesisers: the same tables, ε, relation, bins and measures.

    make peers                                    everything, three runs for each cell
    cd benchmarks && python -m peers --help       a part of it

See docs/peers.md for what each tool promises and how it is run.
"""
