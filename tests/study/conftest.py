"""What the study's tests share: made-up results and their files, and a few real replicates."""

import pandas as pd
import pytest

from study_applications import earnings_table
from study_results import SETTINGS, made_up
from understudy.study import application_sample, illustration
from understudy.study.application import run_application
from understudy.study.arms import Results
from understudy.study.page import write_outputs
from understudy.study.replicate import replicate
from understudy.study.run import run_study

SEED = 11


@pytest.fixture(scope="session")
def frame():
    return made_up()


@pytest.fixture
def results(frame):
    return Results(frame)


@pytest.fixture(scope="session")
def written(frame, tmp_path_factory):
    directory = tmp_path_factory.mktemp("study")
    write_outputs(frame, SETTINGS, directory)
    return directory


@pytest.fixture(scope="session")
def curves():
    return illustration.compute()


@pytest.fixture(scope="session")
def replicates():
    """The results of eight replicates, as one table."""
    rows = [row for number in range(1, 9) for row in replicate(number, seed=SEED)]
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """Three replicates, run in this process."""
    return run_study(tmp_path_factory.mktemp("alone"), replicates=3, seed=SEED, workers=1)


@pytest.fixture(scope="session")
def earnings(tmp_path_factory):
    """A directory with a small, invented table in the place of the Current Population Survey."""
    folder = tmp_path_factory.mktemp("data")
    earnings_table().to_csv(folder / application_sample.CPS_FILE, index=False)
    return folder


@pytest.fixture(scope="session")
def small(earnings):
    """That table as a sample, with three parameters instead of five: exact draws then take an
    eighth of the candidates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(application_sample.DATA_DIRECTORY, str(earnings))
        patch.setattr(application_sample, "CPS_FORMULA", "earnings ~ gender")
        return application_sample.load_sample("cps")


@pytest.fixture(scope="session")
def ran(small, tmp_path_factory):
    """The command on that table: what it returns, where it wrote, and the stages it told."""
    out = tmp_path_factory.mktemp("out")
    stages = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("understudy.study.application.load_sample", lambda _: small)
        application = run_application(
            "cps", out, seed=4, progress=lambda name, done: stages.append((name, done))
        )
    return application, out / "application", stages
