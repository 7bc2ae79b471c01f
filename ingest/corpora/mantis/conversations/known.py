"""Which dialogues were read before, by their words, and what a later file states of one of them otherwise."""

from typing import NamedTuple

from msgspec import UNSET

from talkhouse.ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from talkhouse.ingest.corpora.mantis.files import CORPUS
from talkhouse.ingest.corpora.mantis.format import DIALOGUE_FACTS, FACTS, literal
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.restatements import Restatements


class Known(NamedTuple):
    """What those that were read before have to do with a dialogue."""

    dialogue_id: str
    is_new: bool
    is_first: bool
    """Whether no record of this split and key came before."""
    differs: dict[str, str]
    """JSON by pointer, what this file states otherwise than an earlier one."""


class KnownDialogues:
    """All dialogues of a build: the plain and the intent file of a split have the same ones."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._restatements = Restatements()

    def find(self, split: str, key: str, dialogue: PublishedDialogue | None) -> Known:
        """Assign a dialogue's id, and remember its words and facts; None where no other file may have it."""
        natural = f"{CORPUS}:{split}:{key}"
        if dialogue is None:
            return Known(natural, is_new=True, is_first=True, differs={})
        spoken = dialogue.spoken
        words = digest(*(part for said in zip(spoken["actor_type"], spoken["utterance"], strict=True) for part in said))
        dialogue_id, is_new = self._keys.assign(natural, words)
        return Known(dialogue_id, is_new, is_new and dialogue_id == natural, self._differs(dialogue_id, dialogue))

    def _differs(self, dialogue_id: str, dialogue: PublishedDialogue) -> dict[str, str]:
        """Return every fact that a record states otherwise than the first of its dialogue."""
        own = {name: dialogue.facts.get(name, UNSET) for name in DIALOGUE_FACTS}
        unknown = {index: fields for index in dialogue.others if (fields := dialogue.unknown(index))}
        facts = own | {name: dialogue.spoken[name] for name in FACTS} | {_UNKNOWN: unknown}
        stated = {name: repr(fact) for name, fact in facts.items()}
        wrong = self._restatements.differing_names(dialogue_id, stated)
        if not wrong:
            return {}
        found = {pointer(name): own[name] for name in own if name in wrong}
        for index in range(len(dialogue.orders)):
            said = {name: dialogue.spoken[name][index] for name in FACTS if name in wrong}
            said |= unknown.get(index, {}) if _UNKNOWN in wrong else {}
            found |= {pointer("utterances", index, name): value for name, value in said.items()}
        return {at: literal(value) for at, value in found.items() if value is not UNSET}


_UNKNOWN = ""
"""Stands for the fields that no documentation names."""
