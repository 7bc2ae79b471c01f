"""What a path says of a file: which of the corpus's formats it has, and its split and variant."""

import re
from typing import NamedTuple

from ingest.corpora.blended_skill_talk.names import (
    CACHED,
    CONVAI2,
    EPISODES,
    HUMAN,
    PERSONA_LIST,
    SAFE_PERSONAS,
    TOPICS,
    WIZARD,
)
from ingest.sources import SourceFile


class Kind(NamedTuple):
    """What a file is: its subset, its split, and what tells apart several files of one split."""

    subset: str
    split: str | None = None
    release: str | None = None

    @property
    def prefix(self) -> str:
        """The part of a record's key between the corpus and the position."""
        return "/".join(part for part in (self.subset, self.release, self.split) if part)


_EPISODES = re.compile(r"(train|valid|test)\.json")
_CACHED = re.compile(r"ed_persona_topicifier__(train|valid|test)__(both_sides|experiencer_only)\.json")
_CONVAI2 = re.compile(r"(train|valid)_self_original\.txt")
_WIZARD = re.compile(r"(?:(train)|(valid|test)_(random_split|topic_split))\.json")
_LISTS = {
    "persona_list.txt": PERSONA_LIST,
    "personas_list.txt": PERSONA_LIST,
    "topic_to_persona_list.txt": TOPICS,
    "safe_personas.txt": SAFE_PERSONAS,
    "safe_personas_2.txt": SAFE_PERSONAS,
    "human_annotations.json": HUMAN,
}
"""Names on disk; the publisher's server has two of the files under other names."""


def kind_of(file: SourceFile) -> Kind | None:
    """Tell what a file is by its name and its folders; None where it is none of ours."""
    folders = {part.lower() for part in file.path.parts[1:-1]}
    if WIZARD in folders:
        found = _WIZARD.fullmatch(file.name)
        return Kind(WIZARD, found[1] or found[2], found[3]) if found else None
    if CONVAI2 in folders:
        found = _CONVAI2.fullmatch(file.name)
        return Kind(CONVAI2, found[1]) if found else None
    if found := _EPISODES.fullmatch(file.name):
        return Kind(EPISODES, found[1])
    if found := _CACHED.fullmatch(file.name):
        return Kind(CACHED, found[1], found[2])
    subset = _LISTS.get(file.name)
    return Kind(subset, "valid" if subset == HUMAN else None) if subset else None
