"""Rows to files."""

from talkhouse.corpus import StoredRecord, decode


def write_record(stored: StoredRecord) -> bytes:
    """Write one watch, the whole of its file."""
    strings = decode.decoder(dict[str, str])
    acts = {annotation.turn_index: annotation.label for annotation in stored.annotations}
    channel = strings.decode(stored.dialogue.extra or "")["channel"] if stored.dialogue else ""
    lines = [f"channel {channel}"]
    for turn in stored.turns:
        time, name = strings.decode(turn.extra or "")["time"], stored.speakers[turn.speaker_id or ""].name
        act = f" {{{acts[turn.turn_index]}}}" if turn.turn_index in acts else ""
        lines.append(f"{time} {name}> {turn.text}{act}")
    return ("\n".join(lines) + "\n").encode()
