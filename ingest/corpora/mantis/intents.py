"""The intents of an utterance as annotations, whichever file has them."""

from collections.abc import Iterator

from talkhouse.ingest.corpora.mantis.format import INTENT
from talkhouse.ingest.rows import Annotation, Record

FIRST = ["OQ"]
"""The intents of every first utterance, set by the authors' code."""


def annotations(record: Record, turn: int, intents: list[str]) -> Iterator[Annotation]:
    """Make a row for each intent of one utterance."""
    for index, intent in enumerate(intents):
        yield record.annotation(turn, INTENT, intent, item_index=index)


def spaces(intents: list[str]) -> Iterator[str]:
    """List which intents have spaces around them, if any."""
    wide = [repr(intent) for intent in intents if intent != intent.strip()]
    if wide:
        yield f"spaces around {', '.join(wide)}"


def not_first(intents: list[str]) -> Iterator[str]:
    """Report other intents of a first utterance than the authors' code sets."""
    if intents != FIRST:
        yield f"the first utterance has the intents {intents}, not {FIRST}"
