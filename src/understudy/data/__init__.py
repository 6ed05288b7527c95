"""The simulated survey that `understudy demo` runs on.

It stands in for the sample of the paper's section 5 and is made by `scripts/make_survey.py` to
resemble the summary statistics published there. It holds no real record.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def survey_table() -> Path:
    """Return the path of the simulated survey's table."""
    return Path(str(files(__name__) / "survey.csv"))


def survey_schema() -> Path:
    """Return the path of the simulated survey's schema."""
    return Path(str(files(__name__) / "survey.toml"))
