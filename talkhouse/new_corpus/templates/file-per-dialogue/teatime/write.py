"""Rows back to files, equal byte for byte."""

from talkhouse.corpus import StoredRecord


def write_record(stored: StoredRecord) -> bytes:
    """Write one dialogue, the whole of its file."""
    lines = [f"# {stored.dialogue.title if stored.dialogue else ''}"]
    for turn in stored.turns:
        moods = [f" [{annotation.label}]" for annotation in stored.annotations_by_turn[turn.turn_index]]
        lines.append(f"{stored.speakers[turn.speaker_id or ''].name}: {turn.text}{''.join(moods)}")
    return "".join(f"{line}\n" for line in lines).encode()
