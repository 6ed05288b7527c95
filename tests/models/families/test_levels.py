import numpy as np
import scipy.special

from family_checks import BINARY, Case, EdgeChecks, ValueChecks, levelled

BERNOULLI = Case("bernoulli", BINARY, 0.7, {})
CATEGORICAL = Case("categorical", levelled(4), [0.5, -1.0, 2.0], {})
ORDINAL = Case("ordinal", levelled(4), 0.8, {"shares": [0.1, 0.2, 0.3, 0.4]})


class TestLevels(ValueChecks, EdgeChecks):
    CASES = (
        BERNOULLI,
        CATEGORICAL,
        Case("categorical", BINARY, [-0.4], {}),
        ORDINAL,
        Case("ordinal", BINARY, -0.8, {"shares": [0.3, 0.7]}),
    )
    PAIRS = (
        ("bernoulli", "binary"),
        ("categorical", "categorical"),
        ("categorical", "binary"),
        ("ordinal", "categorical"),
        ("ordinal", "binary"),
    )


def test_levels_have_the_probabilities_of_their_links():
    logits = np.array([0.0, 0.5, -1.0, 2.0])
    np.testing.assert_allclose(
        CATEGORICAL.everywhere, scipy.special.log_softmax(logits), rtol=1e-12
    )
    np.testing.assert_allclose(
        np.exp(BERNOULLI.everywhere), scipy.special.expit([-0.7, 0.7]), rtol=1e-12
    )
    cumulative = scipy.special.expit(scipy.special.logit([0.1, 0.3, 0.6]) - 0.8)
    np.testing.assert_allclose(np.exp(ORDINAL.everywhere), np.diff([0, *cumulative, 1]), rtol=1e-12)
