"""Which cases of a test are in which lane."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import settings

_Case = TypeVar("_Case")


def first_quick(cases: Iterable[Any], step: int = 0) -> list[Any]:
    """Leave all but the first case to the slow lane; with a step, all but the first of each so many.

    A plain tuple is one case with several arguments.
    """
    return [
        case
        if index == 0 or (step and index % step == 0)
        else pytest.param(*(case if type(case) is tuple else (case,)), marks=pytest.mark.slow)
        for index, case in enumerate(cases)
    ]


def one_in(step: int, cases: Sequence[_Case]) -> Sequence[_Case]:
    """Return the first of each so many cases in the slow lane, and all in the long one: the test is marked for both."""
    return cases[::step] if settings.get_current_profile_name() == "slow" else cases
