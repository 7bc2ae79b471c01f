"""Which cases of a test with many run in the quick lane."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], step: int = 0) -> list[Any]:
    """Leave all but the first case to the slow lane; with a step, all but the first of each so many."""
    return [
        case if index == 0 or (step and index % step == 0) else pytest.param(case, marks=pytest.mark.slow)
        for index, case in enumerate(cases)
    ]
