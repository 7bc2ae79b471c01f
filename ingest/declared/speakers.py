"""Speakers: whom a name means, by ``[speaker] scope``."""

from typing import NamedTuple

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.roles import speaker_kind
from talkhouse.ingest.rows import Speaker


class KnownSpeaker(NamedTuple):
    """A speaker, and whether this is the first time."""

    row: Speaker
    is_new: bool


class Speakers:
    """The speakers of one corpus; those who are known in all of it are kept, a row for each."""

    def __init__(self, declaration: Declaration) -> None:
        self._corpus_id = declaration.corpus_id
        self._within = declaration.speaker.scope == "dialogue"
        self._known: dict[str, Speaker] = {}

    def of(
        self, dialogue_id: str, name: str, role: str, *, is_bot: bool | None = None, shown_name: str | None = None
    ) -> KnownSpeaker:
        """Return the speaker whom a name means in a dialogue; ``shown_name``: what else the file calls them.

        Where names mean somebody only within a dialogue, each call says that it is the first.
        """
        kind = speaker_kind(role, is_bot=is_bot)
        if self._within:
            row = Speaker.within(dialogue_id, name, kind)
            if shown_name is not None:
                row.native_id, row.name = name, shown_name
            return KnownSpeaker(row, is_new=True)
        known = self._known.get(name)
        if known is not None:
            return KnownSpeaker(known, is_new=False)
        row = Speaker(f"{self._corpus_id}:{name}", self._corpus_id, name, shown_name, kind, is_anonymous=False)
        self._known[name] = row
        return KnownSpeaker(row, is_new=True)
