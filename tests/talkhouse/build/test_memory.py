"""The decoder's memory: below the file's size plus 300 MB, on one JSON object of 300 MB."""

from pathlib import Path

import pytest

from benchmarks.measure import run
from benchmarks.scenarios.decode import case


@pytest.mark.long
def test_a_single_object_of_300_mb_is_decoded_in_bounded_memory(tmp_path: Path) -> None:
    made = case("300 MB", 300, tmp_path)
    assert made.size >= 300
    assert run(made.sides[0]).peak < made.size + 300  # it fails where a dialogue is missing
