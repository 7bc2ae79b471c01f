"""Which file is what, by its name and folder."""

import re

from talkhouse.ingest.outcomes import SourceLocation
from talkhouse.ingest.sources import SourceFile

EPISODES = "episodes"
PERSONA_LIST = "persona_list"
TOPICS = "topic_to_persona_list"
SAFE_PERSONAS = "safe_personas"
ED = "ed_persona_topicifier"
HUMAN_ANNOTATIONS = "human_annotations"
CONVAI2 = "convai2"
WIZARD = "wizard_of_wikipedia"
"""The subsets, one for each kind of file."""

_EPISODES = re.compile(r"(train|valid|test)\.json")
_ED = re.compile(r"ed_persona_topicifier__(train|valid|test)__(both_sides|experiencer_only)\.json")
_CONVAI2 = re.compile(r"(train|valid)_self_original\.txt")
_WIZARD = re.compile(r"(?:(train)|(valid|test)_(random_split|topic_split))\.json")
_OTHERS = {
    "persona_list.txt": PERSONA_LIST,
    "personas_list.txt": PERSONA_LIST,
    "topic_to_persona_list.txt": TOPICS,
    "safe_personas.txt": SAFE_PERSONAS,
    "safe_personas_2.txt": SAFE_PERSONAS,
    "human_annotations.json": HUMAN_ANNOTATIONS,
}
"""Names on disk; the publisher's server has two of the files under other names."""


def location_of(file: SourceFile) -> SourceLocation | None:
    """Return a file's location with its subset, split and variant; None where the corpus has no such file."""
    folders = {part.lower() for part in file.path.parts[1:-1]}
    subset, split, release = _OTHERS.get(file.name), None, None
    if WIZARD in folders:
        match = _WIZARD.fullmatch(file.name)
        subset, split, release = (WIZARD, match[1] or match[2], match[3]) if match else (None, None, None)
    elif CONVAI2 in folders:
        match = _CONVAI2.fullmatch(file.name)
        subset, split = (CONVAI2, match[1]) if match else (None, None)
    elif match := _EPISODES.fullmatch(file.name):
        subset, split = EPISODES, match[1]
    elif match := _ED.fullmatch(file.name):
        subset, split, release = ED, match[1], match[2]
    elif subset == HUMAN_ANNOTATIONS:
        split = "valid"
    return SourceLocation(file, subset=subset, release=release, split=split, size=file.size) if subset else None
