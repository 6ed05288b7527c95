import pytest

from offices import calibrated


@pytest.fixture(scope="session")
def found(workplace):
    """A calibration of anchored at every ε."""
    return calibrated(workplace, draws=1)
