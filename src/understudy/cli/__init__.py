"""The command line: one file for each command, with its arguments and words only.

app         the program: its commands, exit codes, and what is said when something goes wrong
options     arguments that several commands share

demo, init, synthesize, sample, infer, pool, compare, calibrate, release, audit, ledger, study: the
commands
"""

from understudy.cli.app import main, run

__all__ = ["main", "run"]
