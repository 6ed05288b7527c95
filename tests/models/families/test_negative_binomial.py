import numpy as np
import scipy.stats

from family_checks import Case, CountChecks, CutCount, EdgeChecks, count


def negative_binomial(eta, largest, shape):
    mean = largest * np.exp(eta)
    uncut = CutCount(scipy.stats.nbinom(shape, shape / (shape + mean)), largest)
    return Case("negative-binomial", count(largest), eta, {"shape": shape}, uncut)


class TestNegativeBinomial(CountChecks, EdgeChecks):
    CASES = tuple(
        negative_binomial(eta, largest, shape)
        for largest in (1, 20, 65, 400)
        for eta in (-3.0, 0.0, 1.0)
        for shape in (0.05, 1.0, 30.0, 3000.0)
    )
    SIMULATED = CASES[::5]
    SLOW_WIDTHS = (1, 400)
    PAIRS = (("negative-binomial", "count"), ("negative-binomial", "integer"))
    SLOW = (("negative-binomial", "wide count"),)
