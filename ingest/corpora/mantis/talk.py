"""A conversation to its rows, once however many files have it."""

from typing import Any, NamedTuple

from msgspec import UNSET

from ingest import decode
from ingest.corpora.mantis.facts import Facts
from ingest.corpora.mantis.layout import CORPUS
from ingest.corpora.mantis.parse import Parsed
from ingest.corpora.mantis.people import People
from ingest.corpora.mantis.shapes import TALK_FACTS, keep
from ingest.corpora.mantis.times import text_of
from ingest.corpora.mantis.turns import Columns, Turns
from ingest.keys import Keys, digest
from ingest.rows import Dialogue, Row


class Known(NamedTuple):
    """Where a dialogue stands among those that were read before."""

    dialogue_id: str
    is_new: bool
    is_first: bool
    """Whether no record of this split and key came before."""
    differs: dict[str, str]
    """By pointer, what an earlier file states otherwise."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing that came before has to do with it."""
        return self.is_new and self.is_first and not self.differs


class Talks:
    """All conversations of a build: the plain and the intent file of a split have the same ones."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._facts = Facts()
        self.people = People()
        self._turns = Turns(self.people)

    def known(self, split: str, key: str, parsed: Parsed | None) -> Known:
        """Give the key of a conversation, and remember its words and facts; None where no other file may have it."""
        natural = f"{CORPUS}:{split}:{key}"
        if parsed is None:
            return Known(natural, is_new=True, is_first=True, differs={})
        spoken = parsed.spoken
        words = digest(*(part for said in zip(spoken.roles, spoken.texts, strict=True) for part in said))
        dialogue_id, is_new = self._keys.assign(natural, words)
        differs = self._facts.differs(dialogue_id, parsed)
        return Known(dialogue_id, is_new, is_new and dialogue_id == natural, differs)

    def add(self, dialogue_id: str, key: str, parsed: Parsed, rows: list[Row], turns: Columns) -> None:
        """Add the rows of a conversation that is published for the first time, and its turns."""
        title = parsed.facts.get("title")
        shown = title if isinstance(title, str) else None
        domain, extra = parsed.facts["category"], _extra(parsed)
        rows.append(Dialogue(dialogue_id, CORPUS, key, domain, shown, "en", parsed.started_at, extra))
        self._turns.add(dialogue_id, parsed, rows, turns)


def _extra(parsed: Parsed) -> str | None:
    """Give ``extra`` of a dialogue: what no column gives back."""
    title, time, concatenated = (parsed.facts.get(name, UNSET) for name in TALK_FACTS[1:])
    is_exact = time == text_of(parsed.started_at)
    if isinstance(title, str) and is_exact and type(concatenated) is int and 0 <= concatenated <= 1:
        return FLAGGED[concatenated]
    extra: dict[str, Any] = {}
    literals: dict[str, str] = {}
    if title is not None and not isinstance(title, str):
        keep("title", title, extra, literals)
    if not is_exact:
        keep("dialog_time", time, extra, literals)
    keep("has_concatenated_utterances", concatenated, extra, literals)
    return decode.dump(extra | ({"literals": literals} if literals else {}))


FLAGGED = tuple(f'{{"has_concatenated_utterances":{number}}}' for number in (0, 1))
"""``extra`` of a dialogue that has nothing else to say, by the flag."""
