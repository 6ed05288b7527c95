"""What a refusal says: one sentence, whatever was asked for."""

import pytest

from understudy.errors import BadInput


def refusal(action, *arguments, **keywords):
    with pytest.raises(BadInput) as caught:
        action(*arguments, **keywords)
    sentence = str(caught.value)
    assert sentence[-1] in ".?"
    assert "\n" not in sentence
    return sentence
