"""What a later record states differently: kept whole where anything differs from the dialogue's first record."""

from msgspec import Raw

from talkhouse.ingest.keys import Restatements


def test_the_first_record_and_those_that_agree_with_it_keep_nothing() -> None:
    restatements = Restatements()
    first, other = {"/time": Raw(b"1e3"), "/id": "a"}, {"/time": Raw(b"1000.0"), "/id": "a"}
    assert restatements.differing("toy:1", first) == {}
    assert restatements.differing("toy:1", first) == {}
    assert restatements.differing("toy:1", other) == other
    assert restatements.differing("toy:1", first) == {}
    assert restatements.differing("toy:2", other) == {}, "another dialogue"


def test_a_fact_that_is_absent_is_not_one_that_is_null() -> None:
    restatements = Restatements()
    restatements.differing("toy:1", {"/id": None})
    assert restatements.differing("toy:1", {"/time": None}) == {"/time": None}
