"""Both posteriors as a picture."""

from xml.etree import ElementTree

import numpy as np
import pytest

from understudy.audit import audit
from understudy.mechanisms import (
    CensorUw,
)


def test_both_posteriors_are_drawn():
    seen = audit(CensorUw(epsilon=1.0), n=200, adjacency="add-remove")
    assert [curve.parameter for curve in seen.curves] == ["phi", "lambda"]
    for curve in seen.curves:
        assert np.trapezoid(curve.before, curve.at) == pytest.approx(1, abs=0.05)
        assert np.trapezoid(curve.after, curve.at) == pytest.approx(1, abs=0.05)
    picture = ElementTree.fromstring(seen.figure())
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    words = {element.text for element in picture.iter() if element.text}
    assert {"phi", "lambda", "Table", "Neighbour"} <= words
