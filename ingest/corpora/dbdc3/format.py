"""The format of a dialogue log, as published: objects that keep the order of their keys, some of them optional."""

from typing import NotRequired, TypedDict

from msgspec import Raw

Label = TypedDict(
    "Label",
    {
        "breakdown": str,
        "annotator-id": NotRequired[str | None],
        "ungrammatical-sentence": NotRequired[str | None],
        "comment": NotRequired[str | None],
    },
)
"""One annotator's label of one turn."""

LogTurn = TypedDict(
    "LogTurn",
    {
        "speaker": str,
        "utterance": str,
        "turn-index": NotRequired[Raw],
        "time": NotRequired[str | None],
        "annotation-id": NotRequired[str | None],
        "annotations": NotRequired[list[Label] | None],
    },
)
"""One utterance; its number is kept as the literal that was published."""

Log = TypedDict(
    "Log",
    {
        "dialogue-id": str,
        "turns": list[LogTurn],
        "group-id": NotRequired[str | None],
        "speaker-id": NotRequired[str | None],
    },
)
"""One dialogue."""
