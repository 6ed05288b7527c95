"""What size costs: seconds and memory, from ten thousand records to a hundred million.

    python benchmarks/scale.py --json scale.jsonl                  all parts at their full sizes
    python benchmarks/scale.py growing peers --largest 1e6         some of them, smaller
    python benchmarks/scale.py sampling --rows 1e7

On a machine with nothing else to do: the times are the result. No data is needed. Tables are
written to a directory (`--place`, which needs some gigabytes) and removed again. The parts:

    growing     the Beta model on tables of growing size; a pass over each beside Arrow's reading
                and adding, and beside what memory and the disk can do
    cluster     a pass by one Dask worker and by two
    regression  a beta regression with ten categorical predictors
    joint       the joint model of a table of the CPS's shape
    sampling    rows drawn from a release beside rows that are only written
    peers       `joint` beside OpenDP's AIM and mbi, up to where they end

`scripts/draw_scaling.py` draws what `--json` keeps.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from peers.cells import Setting
from scaling import cluster, fits, growing, peers, sampling
from scaling.measured import Lines

Part = Callable[[int, Path, Lines], None]

LADDERS: dict[str, tuple[Part, int]] = {"growing": (growing.run, 100_000_000)}
ALONE: dict[str, tuple[Part, int]] = {
    "cluster": (cluster.run, cluster.ROWS),
    "regression": (fits.regression, fits.REGRESSION_ROWS),
    "joint": (fits.joint, fits.JOINT_ROWS),
    "sampling": (sampling.run, sampling.ROWS),
}
PEERS, PEERS_LARGEST = "peers", 10_000_000
PARTS = (*LADDERS, *ALONE, PEERS)


def asked() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; or all")
    parser.add_argument("--largest", type=float, help="records of the largest growing table")
    parser.add_argument("--rows", type=float, help="records, or rows, of the other parts")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for each run of a peer")
    parser.add_argument("--memory", type=float, default=12, help="GiB for each run of a peer")
    parser.add_argument("--place", type=Path, default=Path(), help="where tables are written")
    parser.add_argument("--json", type=Path, help="file that a line is added to for each result")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part}: choose of {', '.join(PARTS)}.")
    return options


def main() -> None:
    """Run the parts that are asked for, one after the other."""
    options = asked()
    lines = Lines(options.json)
    with TemporaryDirectory(dir=options.place, prefix="scale-") as directory:
        place = Path(directory)
        for part in options.parts or PARTS:
            if part == PEERS:
                setting = Setting(place, options.limit, options.memory)
                peers.run(int(options.largest or PEERS_LARGEST), setting, lines)
                continue
            run, usual = (LADDERS | ALONE)[part]
            wanted = options.largest if part in LADDERS else options.rows
            run(int(wanted or usual), place, lines)


if __name__ == "__main__":
    main()
