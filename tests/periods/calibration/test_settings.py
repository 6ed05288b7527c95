"""Which settings are tried."""

import pytest

import understudy as us
from outcomes import MODEL, PAY, SCHEMA
from understudy.errors import BadInput
from understudy.periods.calibration.settings import settings


def test_a_public_reference_allows_sixty():
    tried = settings(SCHEMA, MODEL, public=True)
    assert len(tried) == len(set(tried)) == 60
    assert [s.epsilon for s in tried] == sorted(s.epsilon for s in tried)


def test_a_confidential_reference_gives_no_weights():
    tried = settings(SCHEMA, MODEL, public=False)
    assert "censor-w" not in {setting.mechanism for setting in tried}
    with pytest.raises(BadInput, match="has to be public"):
        settings(SCHEMA, MODEL, public=False, mechanisms=["censor-w"])


def test_a_histogram_is_tried_only_where_it_can_serve():
    two = us.Schema.from_dict({"table": {"size": 9}, "columns": {"pay": PAY, "tax": PAY}})
    assert settings(SCHEMA, None, public=False)[0].mechanism == "ph"
    with pytest.raises(BadInput, match="ph synthesises exactly one"):
        settings(two, None, public=True, mechanisms=["ph"])
    with pytest.raises(BadInput, match="nothing to try"):
        settings(two, None, public=True)


@pytest.mark.parametrize("name", ["weighted", "unweighted", "anchord"])
def test_what_cannot_be_released_is_refused(name):
    with pytest.raises(BadInput, match="cannot be calibrated"):
        settings(SCHEMA, MODEL, public=True, mechanisms=[name])
