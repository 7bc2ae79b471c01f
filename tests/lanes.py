"""Which cases of a parametrised test are in the quick lane."""

from collections.abc import Iterable
from typing import Any

import pytest


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
