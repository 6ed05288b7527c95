"""Sentences that say no: which arguments they name, and what they suggest."""

import pytest

from understudy.errors import BadInput, Refused, nearest


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("`reference` and `reference_is` belong together.", ("reference", "reference_is")),
        ("a policy's `model`, not 'a ~ `seed`'", ("model",)),
        ("the rule then = \"`rows` == 'it'\": give `rows`.", ("rows",)),
        ("the rule then = '`rows` == \\'it\\' or `n` == \"so\"': add `force`.", ("force",)),
        ("'it's `seed`' is no file: give `model`.", ("model",)),
        ("make one with `Ledger.create`.", ()),
    ],
)
def test_an_error_knows_the_arguments_that_it_names_and_not_what_it_repeats(sentence, named):
    assert BadInput(sentence).arguments == Refused(sentence).arguments == named


def test_errors_can_be_caught_as_what_python_calls_them():
    assert issubclass(BadInput, ValueError)
    assert issubclass(Refused, RuntimeError)


def test_the_nearest_word_is_suggested():
    assert nearest("ancored", ["anchored", "ph"]) == " (did you mean 'anchored'?)"
    assert nearest("nothing", ["anchored", "ph"]) == ""
