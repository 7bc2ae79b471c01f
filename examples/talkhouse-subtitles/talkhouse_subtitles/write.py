"""Rows to files."""

from itertools import zip_longest

from talkhouse.corpus import StoredRecord, decode


def write_record(stored: StoredRecord) -> bytes:
    """Write one talk, the whole of its file."""
    between = decode.decoder(dict[str, list[str]]).decode(stored.loaded.extra or "{}")["between"]
    texts = [turn.text for turn in stored.turns]
    return "".join(before + text for before, text in zip_longest(between, texts, fillvalue="")).encode()
