"""Which cases of a parametrised test are in the quick lane."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_quick(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """Leave the first case, or some, in the quick lane, and leave its other forms to the slow one."""
    listed = list(cases)
    return listed[:quick] + [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in listed[quick:]
    ]
