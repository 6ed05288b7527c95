import numpy as np
import pandas as pd
import pytest

import understudy as us
from skewed import MODEL


@pytest.fixture(scope="session")
def learned():
    """A confidential reference, whose records are a little different from those of the table."""
    history = pd.DataFrame({"x": np.random.default_rng(9).beta(0.55, 2.7, 120)})
    return us.reference(MODEL, history, confidential=True)
