"""The decoder's memory: below the file's size plus 300 MB, on one JSON object of 300 MB."""

import pytest

from benchmarks.decode_memory import compare


@pytest.mark.long
def test_a_single_object_of_300_mb_is_decoded_in_bounded_memory() -> None:
    found = compare(megabytes=300)
    size = found["file"]["megabytes"]
    assert size >= 300
    assert found["stream"]["dialogues"] == found["load"]["dialogues"] == found["file"]["dialogues"]
    assert found["stream"]["peak"] < size + 300
