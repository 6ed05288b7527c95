"""What tests share: hypothesis settings, and a small confidential table with its schema.

Nothing here imports JAX when it is loaded: where compiled kernels are kept has to be said first.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Compilation makes a first example slow, and a test must say the same thing every time.
settings.register_profile("understudy", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("understudy")


def pytest_configure(config: pytest.Config) -> None:
    # Most of the time goes into compiling: the workers of a session, the commands that they start
    # and the next session share what is compiled.
    if config.cache is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.cache.mkdir("kernels")))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")
    # Another process may be writing what this one reads; JAX then compiles it once more.
    config.addinivalue_line("filterwarnings", "ignore:Error reading persistent compilation cache")


MOST_MAPPINGS = 20_000
"""Linux allows a process 65,530, and every kernel that JAX compiles takes several."""
MOST_MEMORY = 2**30
"""Bytes that a process may keep from one file of tests to the next."""


@pytest.fixture(autouse=True, scope="module")
def few_kernels() -> Iterator[None]:
    """Let go of compiled kernels before a process that runs a thousand tests has too many."""
    yield
    own = Path("/proc/self")
    if "jax" in sys.modules and own.exists():
        with (own / "maps").open("rb") as lines:
            count = sum(1 for _ in lines)
        resident = int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if count > MOST_MAPPINGS or resident > MOST_MEMORY:
            sys.modules["jax"].clear_caches()
            # The C library keeps what was freed until it is asked for it.
            getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)(0)


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


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a reference, a month's table and their schema."""
    from offices import write_tables

    return write_tables(tmp_path_factory.mktemp("work"), ["reference", "january"])


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workplace with a policy that was calibrated on a public reference."""
    from offices import write_tables
    from settling import settled

    place = write_tables(tmp_path_factory.mktemp("office"), range(4), drift=0.1)
    calibration = settled(
        place / "0.csv",
        reference_is="confidential",
        schema=place / "pay.toml",
        model="beta",
        epsilon=0.5,
        mechanisms=["anchored"],
        draws=1,
        population="staff",
        budget=2.0,
    )
    # A public reference would be fitted for its θ, which takes seconds and is tested elsewhere.
    theta = {"phi": 2 / 7, "lambda": 7.0}
    policy = replace(calibration.policy, reference_is="public", anchor=theta)
    replace(calibration, policy=policy).write(place / "POLICY.toml", schema=place / "pay.toml")
    return place


@pytest.fixture
def office(prepared: Path, tmp_path: Path) -> Path:
    """A copy of it, with a ledger."""
    import understudy as us

    place = tmp_path / "office"
    shutil.copytree(prepared, place)
    us.Ledger.create(place / "ledger.db", budget=2.0, adjacency="add-remove", population="staff")
    return place
