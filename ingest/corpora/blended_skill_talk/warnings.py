"""What is unusual about an episode that is loaded all the same: rules BS-05 to BS-08, one finding per kind."""

import re
from collections.abc import Iterator

from msgspec import UNSET

from talkhouse.ingest.corpora.blended_skill_talk.format import MODELS, SEEDS, ParsedEpisode
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding

_CANDIDATES = 100
"""Label candidates of an entry in valid and test."""

_CHANGED = re.compile(r"\\[tn]|__PIPE")
"""What the round trip can change: the two escapes, and the third with a pipe that runs into it."""

_MAY_CHANGE = re.compile(rb"\\\\|PIPE|\\u00[2-7]")
"""What stands in the JSON of a text of that kind, so that the texts of other episodes need not be searched."""


def warnings(parsed: ParsedEpisode, raw: bytes, split: str | None) -> Iterator[ReaderFinding]:
    """Look at one episode; each finding points at the first case of its kind, inside the record."""
    yield from _turns(parsed)
    yield from _personas(parsed)
    yield from _candidates(parsed)
    if _MAY_CHANGE.search(raw):
        yield from _texts(parsed)
    yield from _names(parsed)
    has_candidates = parsed.episode.label_candidates is not UNSET
    if has_candidates == (split == "train"):
        what = "label candidates in train" if has_candidates else f"no label candidates in {split}"
        yield ReaderFinding("BS-08", what, pointer="/label_candidates" if has_candidates else "")


def _turns(parsed: ParsedEpisode) -> Iterator[ReaderFinding]:
    flags = [index for index, turn in enumerate(parsed.turns) if turn.flag != str(index % 2).encode()]
    yield from cases("BS-05", "the flag of another worker", "dialog", flags)
    yield from cases(
        "BS-05",
        "an item that is no pair",
        "dialog",
        [i for i, turn in enumerate(parsed.turns) if turn.item is not None],
    )
    count = len(parsed.turns)
    if count < 2:
        yield ReaderFinding("BS-05", f"{count} turns: the episode makes no example", pointer="/dialog")
    elif count % 2:
        detail = f"{count} turns: the last one has no answer and makes no example"
        yield ReaderFinding("BS-05", detail, pointer=pointer("dialog", count - 1), turn_index=count - 1 + SEEDS)


def _personas(parsed: ParsedEpisode) -> Iterator[ReaderFinding]:
    size = len(parsed.episode.personas[0])
    if size < 2:
        detail = f"the free worker's persona has {size} sentences, not 2"
        yield ReaderFinding("BS-02", detail, pointer="/personas/0", task="persona_context", severity="reject_example")


def _candidates(parsed: ParsedEpisode) -> Iterator[ReaderFinding]:
    lists = parsed.episode.label_candidates
    if lists is UNSET:
        return
    entries = range(parsed.entries)
    gold = [[at for at, text in enumerate(lists[e]) if text == parsed.turns[2 * e + 1].text] for e in entries]
    other_sizes = [e for e in entries if len(lists[e]) not in (0, _CANDIDATES)]
    for rule, what, hits in (
        ("BS-08", "an empty list of candidates", [e for e in entries if not lists[e]]),
        ("BS-06", f"other than {_CANDIDATES} candidates", other_sizes),
        ("BS-06", "the label is no candidate", [e for e in entries if lists[e] and not gold[e]]),
        ("BS-06", "the label is a candidate more than once", [e for e in entries if len(gold[e]) > 1]),
        ("BS-06", "the label is the last candidate", [e for e in entries if len(lists[e]) - 1 in gold[e]]),
    ):
        yield from cases(rule, what, "label_candidates", hits, [answer_turn(e) for e in hits])
    if len(lists) > parsed.entries:
        detail = f"{len(lists)} lists of candidates for {parsed.entries} entries"
        yield ReaderFinding("BS-06", detail, pointer=pointer("label_candidates", parsed.entries))


def _texts(parsed: ParsedEpisode) -> Iterator[ReaderFinding]:
    """Find texts that come back changed, in the fields that the reference teacher emits."""
    episode = parsed.episode
    turns = [index for index, turn in enumerate(parsed.turns) if _CHANGED.search(turn.text)]
    yield from cases("BS-07", "a text that the round trip changes", "dialog", turns, [i + SEEDS for i in turns])
    lists = [] if episode.label_candidates is UNSET else episode.label_candidates
    offered = [e for e, texts in enumerate(lists) if any(map(_CHANGED.search, texts))]
    yield from cases("BS-07", "a candidate that the round trip changes", "label_candidates", offered)
    models = [i for i, texts in enumerate(parsed.suggestions) if any(map(_CHANGED.search, texts.values()))]
    yield from cases("BS-07", "a suggestion that the round trip changes", "suggestions", models)
    context = [*episode.personas[1][:2], episode.free_turker_utterance, episode.guided_turker_utterance]
    topic = parsed.topic if episode.context_dataset == "wizard_of_wikipedia" else None
    if any(map(_CHANGED.search, [*context, topic or ""])):
        yield ReaderFinding("BS-07", "a context that the round trip changes", pointer="")


def _names(parsed: ParsedEpisode) -> Iterator[ReaderFinding]:
    if parsed.episode.context_dataset not in MODELS:
        detail = f"an unknown context_dataset: {parsed.episode.context_dataset[:200]!r}"
        yield ReaderFinding("BS-07", detail, pointer="/context_dataset")
    unknown = [index for index, name in enumerate(parsed.chosen) if name.strip(" ") and name not in MODELS]
    yield from cases(
        "BS-07", "an unknown chosen suggestion", "chosen_suggestions", unknown, [i + SEEDS for i in unknown]
    )


def cases(
    rule: str, what: str, name: str, indexes: list[int], turns: list[int] | None = None
) -> Iterator[ReaderFinding]:
    """Report all cases of a kind at once, with the first ten indexes."""
    if indexes:
        shown = ", ".join(map(str, indexes[:10])) + (" ..." if len(indexes) > 10 else "")
        turn, detail = turns[0] if turns else None, f"{what}: {len(indexes)} ({shown})"
        yield ReaderFinding(rule, detail, pointer=pointer(name, indexes[0]), turn_index=turn)


def answer_turn(entry: int) -> int:
    """Return the turn of the guided worker's answer in an entry."""
    return SEEDS + 2 * entry + 1
