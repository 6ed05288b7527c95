"""What tests share: hypothesis settings, and a small confidential table with its schema."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Compilation makes a first example slow, and a test must say the same thing every time.
settings.register_profile("understudy", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("understudy")

MOST_MAPPINGS = 20_000
"""Linux allows a process 65,530, and every kernel that JAX compiles takes several."""


@pytest.fixture(autouse=True, scope="module")
def few_kernels() -> Iterator[None]:
    """Let go of compiled kernels before a process that runs a thousand tests has too many."""
    yield
    mappings = Path("/proc/self/maps")
    if "jax" in sys.modules and mappings.exists():
        with mappings.open("rb") as lines:
            count = sum(1 for _ in lines)
        if count > MOST_MAPPINGS:
            sys.modules["jax"].clear_caches()


SIZE = 120
SECRET = "987654.321"
"""One salary of the table: it must not turn up in anything that is said or published."""

_SCHEMA = """\
[table]
size = 120

[columns.salary]
role = "confidential"
type = "continuous"
bounds = [0, 1000000]

[columns.gender]
role = "{role}"
type = "categorical"
levels = ["F", "M"]

[columns.age]
role = "{role}"
type = "integer"
bounds = [18, 70]
"""


@dataclass(frozen=True)
class Survey:
    """The texts of a table of salaries, genders and ages, and of two schemas that declare it."""

    table: str
    schema: str
    """Only the salary is used."""
    public: str
    """Gender and age are public predictors."""
    size: int = SIZE
    secret: str = SECRET

    def write(self, directory: Path) -> Path:
        """Write `survey.csv`, `survey.toml` and `public.toml` into a directory."""
        (directory / "survey.csv").write_text(self.table)
        (directory / "survey.toml").write_text(self.schema)
        (directory / "public.toml").write_text(self.public)
        return directory


@pytest.fixture(scope="session")
def survey() -> Survey:
    generator = np.random.default_rng(5)
    salaries = [f"{x:.2f}" for x in 1e6 * generator.beta(2, 5, SIZE)]
    salaries[40] = SECRET
    genders, ages = generator.choice(["F", "M"], SIZE), generator.integers(18, 71, SIZE)
    records = zip(salaries, genders, ages, strict=True)
    lines = ["salary,gender,age", *(",".join(map(str, record)) for record in records)]
    return Survey(
        table="\n".join(lines) + "\n",
        schema=_SCHEMA.format(role="ignore"),
        public=_SCHEMA.format(role="public"),
    )


@pytest.fixture
def desk(tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory of its own, made the current one, that holds the survey's files."""
    monkeypatch.chdir(tmp_path)
    return survey.write(tmp_path)
