"""The note next to a corpus's title if its files are not its publisher's."""

from talkhouse.provenance import not_published


def test_what_a_file_says_never_acts_on_a_terminal() -> None:
    note = not_published({"is_sample": False, "made_from": "dumps of \x1b[2J\x07"})
    assert note.startswith("not the published files: made from dumps of ")
    assert note.isprintable()


def test_published_files_and_samples_are_told_apart() -> None:
    assert not_published({"is_sample": False, "made_from": None}) == ""
    assert not_published({"is_sample": True, "made_from": None}) == "invented sample"
