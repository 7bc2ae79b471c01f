"""What is unusual about an episode that is loaded all the same: rules BS-05 to BS-08, one note per kind."""

import re
from collections.abc import Iterator

from msgspec import UNSET

from ingest.corpora.blended_skill_talk.dialogue import answer_turn
from ingest.corpora.blended_skill_talk.episode import Talk
from ingest.corpora.blended_skill_talk.names import CANDIDATES, MODELS, SEEDS
from ingest.decode import pointer
from ingest.outcomes import ReaderFinding

_CHANGED = re.compile(r"\\[tn]|__PIPE")
"""What the round trip can change: the two escapes, and the third with a pipe that runs into it."""


_MAY_CHANGE = re.compile(rb"\\\\|PIPE|\\u00[2-7]")
"""What stands in the JSON of a text of that kind, so that the texts of other episodes need not be searched."""


def oddities(talk: Talk, raw: bytes, split: str | None) -> Iterator[ReaderFinding]:
    """Give the notes of one episode, each with its first place; ``pointer`` is inside the record."""
    yield from _turns(talk)
    yield from _personas(talk)
    yield from _candidates(talk)
    if _MAY_CHANGE.search(raw):
        yield from _texts(talk)
    yield from _names(talk)
    has_candidates = talk.episode.label_candidates is not UNSET
    if has_candidates == (split == "train"):
        what = "label candidates in train" if has_candidates else f"no label candidates in {split}"
        yield ReaderFinding("BS-08", what, pointer="/label_candidates" if has_candidates else "")


def _turns(talk: Talk) -> Iterator[ReaderFinding]:
    flags = [index for index, said in enumerate(talk.turns) if said.flag != str(index % 2).encode()]
    yield from _note("BS-05", "the flag of another worker", "dialog", flags)
    yield from _note(
        "BS-05", "an item that is no pair", "dialog", [i for i, said in enumerate(talk.turns) if said.item is not None]
    )
    count = len(talk.turns)
    if count < 2:
        yield ReaderFinding("BS-05", f"{count} turns: the episode makes no example", pointer="/dialog")
    elif count % 2:
        detail = f"{count} turns: the last one has no answer and makes no example"
        yield ReaderFinding("BS-05", detail, pointer=pointer("dialog", count - 1), turn_index=count - 1 + SEEDS)


def _personas(talk: Talk) -> Iterator[ReaderFinding]:
    size = len(talk.episode.personas[0])
    if size < 2:
        detail = f"the free worker's persona has {size} sentences, not 2"
        yield ReaderFinding("BS-02", detail, pointer="/personas/0", task="persona_context", severity="reject_example")


def _candidates(talk: Talk) -> Iterator[ReaderFinding]:
    lists = talk.episode.label_candidates
    if lists is UNSET:
        return
    entries = range(talk.entries)
    gold = [[at for at, text in enumerate(lists[e]) if text == talk.turns[2 * e + 1].text] for e in entries]
    for rule, what, hits in (
        ("BS-08", "an empty list of candidates", [e for e in entries if not lists[e]]),
        ("BS-06", f"other than {CANDIDATES} candidates", [e for e in entries if len(lists[e]) not in (0, CANDIDATES)]),
        ("BS-06", "the label is no candidate", [e for e in entries if lists[e] and not gold[e]]),
        ("BS-06", "the label is a candidate more than once", [e for e in entries if len(gold[e]) > 1]),
        ("BS-06", "the label is the last candidate", [e for e in entries if len(lists[e]) - 1 in gold[e]]),
    ):
        yield from _note(rule, what, "label_candidates", hits, [answer_turn(e) for e in hits])
    if len(lists) > talk.entries:
        detail = f"{len(lists)} lists of candidates for {talk.entries} entries"
        yield ReaderFinding("BS-06", detail, pointer=pointer("label_candidates", talk.entries))


def _texts(talk: Talk) -> Iterator[ReaderFinding]:
    """Find texts that come back changed, in the fields that the reference teacher emits."""
    episode = talk.episode
    said = [index for index, turn in enumerate(talk.turns) if _CHANGED.search(turn.text)]
    yield from _note("BS-07", "a text that the round trip changes", "dialog", said, [i + SEEDS for i in said])
    lists = [] if episode.label_candidates is UNSET else episode.label_candidates
    offered = [e for e, texts in enumerate(lists) if any(map(_CHANGED.search, texts))]
    yield from _note("BS-07", "a candidate that the round trip changes", "label_candidates", offered)
    models = [i for i, texts in enumerate(talk.suggestions) if any(map(_CHANGED.search, texts.values()))]
    yield from _note("BS-07", "a suggestion that the round trip changes", "suggestions", models)
    context = [*episode.personas[1][:2], episode.free_turker_utterance, episode.guided_turker_utterance]
    if any(map(_CHANGED.search, [*context, talk.topic or ""])):
        yield ReaderFinding("BS-07", "a context that the round trip changes", pointer="")


def _names(talk: Talk) -> Iterator[ReaderFinding]:
    if talk.episode.context_dataset not in MODELS:
        detail = f"an unknown context_dataset: {talk.episode.context_dataset[:200]!r}"
        yield ReaderFinding("BS-07", detail, pointer="/context_dataset")
    odd = [index for index, name in enumerate(talk.chosen) if name.strip(" ") and name not in MODELS]
    yield from _note("BS-07", "an unknown chosen suggestion", "chosen_suggestions", odd, [i + SEEDS for i in odd])


def _note(
    rule: str, what: str, name: str, places: list[int], turns: list[int] | None = None
) -> Iterator[ReaderFinding]:
    """Give one note for all places of a kind, with the first ten of them."""
    if places:
        shown = ", ".join(map(str, places[:10])) + (" ..." if len(places) > 10 else "")
        turn = turns[0] if turns else None
        yield ReaderFinding(rule, f"{what}: {len(places)} ({shown})", pointer=pointer(name, places[0]), turn_index=turn)
