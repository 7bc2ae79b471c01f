"""The intents of an utterance as annotations, whichever file has them."""

from collections.abc import Iterator

from ingest.corpora.mantis.format import INTENT
from ingest.rows import Annotation

FIRST = ["OQ"]
"""The intents of every first utterance, set by the authors' code."""


def annotations(intents: list[str], record_id: str, dialogue_id: str | None, turn: int) -> Iterator[Annotation]:
    """Make a row for each intent of one utterance."""
    for index, intent in enumerate(intents):
        yield Annotation(
            record_id=record_id,
            turn_index=turn,
            persona_set=None,
            persona_position=None,
            scheme=INTENT,
            annotator_index=0,
            item_index=index,
            dialogue_id=dialogue_id,
            persona_id=None,
            annotator_id=None,
            label=intent,
        )


def spaces(intents: list[str]) -> Iterator[str]:
    """List which intents have spaces around them, if any."""
    wide = [repr(intent) for intent in intents if intent != intent.strip()]
    if wide:
        yield f"spaces around {', '.join(wide)}"


def not_first(intents: list[str]) -> Iterator[str]:
    """Report other intents of a first utterance than the authors' code sets."""
    if intents != FIRST:
        yield f"the first utterance has the intents {intents}, not {FIRST}"
