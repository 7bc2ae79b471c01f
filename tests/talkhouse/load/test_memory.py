"""The decoder's memory: below the file's size plus 300 MB, on one JSON object of 300 MB."""

from pathlib import Path

import pytest

from benchmarks.measure import run
from benchmarks.scenarios.decode import case


@pytest.mark.long
def test_a_single_object_of_300_mb_is_decoded_in_bounded_memory(tmp_path: Path) -> None:
    large = case(300, tmp_path)
    assert large.size >= 300
    assert run(large.sides[0]).peak < large.size + 300  # it fails where a dialogue is missing
