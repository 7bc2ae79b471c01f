"""A row of the table of intents as Python's csv module writes it."""

import csv
import io

HEADER = ["conversation_id", "comment_pos", "annotations", "allocation"]


def line(conversation: str, turn_index: int, intents: list[str], split: str, newline: str) -> str:
    """Write one row: quoted only where it has to be, like Python's csv."""
    text = io.StringIO()
    csv.writer(text, lineterminator=newline).writerow([conversation, turn_index + 1, ",".join(intents), split])
    return text.getvalue()
