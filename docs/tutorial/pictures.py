"""Draws the tutorial's picture of the year, from the survey's tables and the releases beside them.

    python pictures.py [--out year.svg]

What it shows of the confidential tables can be shown because they are simulated.
"""

import argparse

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

MONTHS = [f"2026-{number:02d}" for number in range(1, 13)]
LOOKS = {
    "industry": ("#0072B2", "o"),
    "information": ("#D55E00", "s"),
    "services": ("#009E73", "^"),
}


def medians(file: str) -> pd.Series:
    """Return the median pay of each sector."""
    return pd.read_csv(file).groupby("sector")["pay"].median()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="year.svg")
    out = parser.parse_args().out
    matplotlib.rcParams |= {"svg.hashsalt": "understudy", "svg.fonttype": "none", "font.size": 10}
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    surveyed = pd.DataFrame([medians(f"{month}.csv") for month in MONTHS])
    released = pd.DataFrame([medians(f"{month}/public/synthetic.csv") for month in MONTHS])
    for sector, (colour, marker) in LOOKS.items():
        at = np.arange(12)
        axes.plot(at, surveyed[sector], color=colour, label=f"{sector}, survey")
        axes.plot(at, released[sector], marker, color=colour, fillstyle="none", markersize=7)
    axes.plot([], [], "ko", fillstyle="none", label="as released")
    axes.set_xticks(np.arange(12), [month[5:] for month in MONTHS])
    axes.set_xlabel("Month of 2026")
    axes.set_ylabel("Median pay")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    figure.savefig(out, metadata={"Date": None})
