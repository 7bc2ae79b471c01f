"""Speakers and roles: whom a name means, and the words that files and tables have for what a speaker is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.rows import ColumnBatch, Participant, Row, Speaker

NO_ROLE = "speaker"
"""The role where a file has none."""

_SYSTEM = frozenset({"system", "developer", "tool", "function"})

KNOWN: Mapping[str, frozenset[str]] = {
    "chat": frozenset(["system", "developer", "user", "assistant", "tool", "function"]),
    "sharegpt": frozenset(
        [
            "human",
            "gpt",
            "chatgpt",
            "bing",
            "bard",
            "function_call",
            "observation",
            "system",
            "user",
            "assistant",
            "tool",
        ]
    ),
}
"""The roles of formats that know a list (OpenAI's; ShareGPT's, as its readers have them)."""


class Roles:
    """The roles of one corpus, by ``[roles]``."""

    def __init__(self, declaration: Declaration) -> None:
        self._ours = declaration.roles
        self._theirs: dict[str, str] = {}
        for word, role in declaration.roles.items():
            self._theirs.setdefault(role, word)
        self._known = KNOWN.get(declaration.format)

    def ours(self, word: str) -> str:
        """Return the role that a file's word means; the word itself where nothing says so."""
        return self._ours.get(word, word)

    def theirs(self, role: str) -> str:
        """Return the file's word for a role: the first that ``[roles]`` has for it, or the role."""
        return self._theirs.get(role, role)

    def gives_back(self, word: str) -> bool:
        """Whether the role of a word is enough to write the word again."""
        return self.theirs(self.ours(word)) == word

    def is_known(self, word: str) -> bool:
        """Whether the format knows a word, or ``[roles]`` does; formats that know no list know any."""
        return self._known is None or word in self._known or word in self._ours


def speaker_kind(role: str, *, is_bot: bool | None = None) -> str:
    """Return what a speaker of this role is: bot, system or human."""
    if is_bot or role == "assistant":
        return "bot"
    return "system" if role in _SYSTEM else "human"


@dataclass
class SpeakerRows:
    """Who takes part in some dialogues, and the speakers who are new."""

    batches: list[ColumnBatch]
    rows: list[Row]
    names: Mapping[str, str | None]
    """Speaker -> the name in the tables."""


class Person(NamedTuple):
    """What a file says of a speaker."""

    name: str | None
    is_bot: bool | None


class Speakers:
    """The speakers of one corpus; of those who are known in all of it, the keys and names are kept."""

    def __init__(self, declaration: Declaration, memory: Memory) -> None:
        self._corpus_id = declaration.corpus_id
        self._is_within = declaration.speaker.scope == "dialogue"
        self._names = memory.rows(Speaker.TABLE)
        self.people: dict[str, Person] = {}
        """Those whom a file of speakers names, by their ids."""

    def id(self, speaker: str) -> pl.Expr:
        """Return the key of the speaker whom the column ``speaker`` names in the dialogue ``dialogue_id``."""
        begin = pl.col("dialogue_id") + "/" if self._is_within else pl.lit(f"{self._corpus_id}:")
        return begin + pl.col(speaker)

    def of_turns(self, turns: pl.DataFrame) -> SpeakerRows:
        """Return who takes part by turns, which have the columns of ``SPOKEN``, and who of them is new."""
        named = turns.drop_nulls("speaker").unique(["owner", "speaker"], keep="first", maintain_order=True)
        named = self._with_people(named) if self.people else named
        people = named.filter("is_new")
        participants = ColumnBatch(Participant, {}, people.select("dialogue_id", "speaker_id", "role").to_dict())
        if self._is_within:
            return self._within(people, participants)
        rows, names = list[Row](), dict[str, str | None]()
        said = named.unique("speaker", keep="first", maintain_order=True)
        for name, speaker_id, role, is_bot, shown in said.select(
            "speaker", "speaker_id", "role", "is_bot", "shown"
        ).iter_rows():
            if speaker_id not in self._names:
                rows.append(self.of_corpus(name, role, is_bot=is_bot, shown=shown)[0])
            names[speaker_id] = self._names[speaker_id]
        return SpeakerRows([participants], rows, names)

    def _with_people(self, named: pl.DataFrame) -> pl.DataFrame:
        people = [self.people.get(speaker) for speaker in named["speaker"]]
        names = pl.Series([person and person.name for person in people], dtype=pl.String)
        bots = pl.Series([person and person.is_bot for person in people], dtype=pl.Boolean)
        return named.with_columns(
            shown=names.zip_with(names.is_not_null(), named["shown"]),
            is_bot=bots.zip_with(bots.is_not_null(), named["is_bot"]),
        )

    def _within(self, people: pl.DataFrame, participants: ColumnBatch) -> SpeakerRows:
        kinds = {role: speaker_kind(role) for role in people["role"].unique()}
        by_role = pl.col("role").replace_strict(kinds, return_dtype=pl.String)
        speakers = people.select(
            "speaker_id",
            native_id=pl.when(pl.col("shown").is_not_null()).then("speaker"),
            name=pl.coalesce("shown", "speaker"),
            kind=pl.when("is_bot").then(pl.lit("bot")).otherwise(by_role),
        )
        shared = {"corpus_id": self._corpus_id, "is_anonymous": True}
        names = dict(speakers.select("speaker_id", "name").iter_rows())
        return SpeakerRows([participants, ColumnBatch(Speaker, shared, speakers.to_dict())], [], names)

    def of_corpus(
        self, name: str, role: str, *, is_bot: bool | None = None, shown: str | None = None
    ) -> tuple[Speaker, bool]:
        """Return whom a name means in all of the corpus, and whether for the first time; ``shown``: another name.

        Of one who is known, the row has the key and the name in the tables.
        """
        speaker_id = f"{self._corpus_id}:{name}"
        is_new = speaker_id not in self._names
        named = self._names.setdefault(speaker_id, shown)
        kind = speaker_kind(role, is_bot=is_bot)
        return Speaker(speaker_id, self._corpus_id, name, named, kind, is_anonymous=False), is_new


SPOKEN = ("owner", "dialogue_id", "is_new", "role", "speaker", "speaker_id", "shown", "is_bot")
"""What is known of turns: their dialogue, whether it is new, and who speaks, as the file says it."""
