"""Rules for records whose dialogues are a few texts: preference, pairs, transcript."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from talkhouse.guess.field_meanings import BOTS, USERS, Guess, dotted, records_of, with_dialogue
from talkhouse.guess.record_values import MOST, Record, are_texts, column, leaves, lists, named, path_words
from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration.model import JsonPath, PairFields, PreferenceFields

_PREFERENCES = (
    *(("chosen", "rejected"), ("preferred_output", "non_preferred_output"), ("preferred", "dispreferred")),
    *(("preferred", "rejected"), ("accepted", "rejected"), ("chosen_response", "rejected_response")),
    ("response_chosen", "response_rejected"),
)
_PROMPTS = (
    *("prompt", "input.messages", "instruction", "question", "query", "input", "context", "messages"),
    "conversations",
)
_PAIRS = (
    *(("instruction", "output"), ("instruction", "response"), ("prompt", "completion"), ("prompt", "response")),
    *(("question", "answer"), ("question", "response"), ("query", "response"), ("input", "output")),
    *(("user_utterance", "system_response"), ("user", "assistant"), ("human", "assistant"), ("context", "response")),
    ("prompt", "output"),
)
_MOST_ITEMS = 5_000
"""Pairs in lists that are looked at."""
_QUERIES = ("input", "context", "query")
_TRANSCRIPTS = ("text", "transcript", "dialogue", "dialog", "conversation", "chat", "content", "log")


def preference(samples: Sequence[Sample]) -> Guess | None:
    """Each record has an answer that was chosen, and one that was rejected."""
    records = records_of(samples)
    names = set(map(path_words, leaves(records)))
    for chosen_name, rejected_name in _PREFERENCES:
        if {chosen_name, rejected_name} <= names:
            break
    else:
        return None
    (chosen,), (rejected,) = named(records, [chosen_name]), named(records, [rejected_name])
    if not _mostly_given(records, chosen, least=0.5) or not _mostly_given(records, rejected, least=0.5):
        return None
    prompt = next((path for path in named(records, _PROMPTS) if _mostly_given(records, path, least=0.01)), None)
    markers: dict[str, str] = {}
    if prompt is None:
        texts = [text for text in (*column(records, chosen), *column(records, rejected)) if isinstance(text, str)]
        markers = markers_of(texts) if len(texts) > len(records) else {}
    kind = "two transcripts with speaker marks, " if markers else ""
    reason = f"each record has {kind}{dotted(chosen)} and {dotted(rejected)}"
    fields = PreferenceFields(prompt, chosen, rejected)
    guess = with_dialogue(samples, "preference", reason, [prompt, chosen, rejected])
    return replace(guess, preference=fields, markers=markers)


def pairs(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a prompt and its answer."""
    records = records_of(samples)
    for prompt_name, response_name in _PAIRS:
        paths = [*named(records, [prompt_name]), *named(records, [response_name])]
        if len(paths) == 2 and all(_are_mostly_texts(records, path) for path in paths):
            break
    else:
        return _pairs_in_a_list(samples, records)
    prompt, response = paths
    query = next((path for path in named(records, _QUERIES, paths) if are_texts(column(records, path))), None)
    system = next(
        (path for path in named(records, ["system", "system_prompt"]) if are_texts(column(records, path))), None
    )
    history = next((path for path in named(records, ["history"]) if path in lists(records)), None)
    fields = PairFields(system, history, prompt, query if prompt_name == "instruction" else None, response)
    reason = f"each record has {dotted(prompt)} and {dotted(response)}"
    return replace(with_dialogue(samples, "pairs", reason, [*paths, query, system, history]), pair=fields)


def _pairs_in_a_list(samples: Sequence[Sample], records: Sequence[Record]) -> Guess | None:
    for path, values in lists(records).items():
        items = list(islice((item for value in values for item in value if isinstance(item, dict)), _MOST_ITEMS))
        for names in _PAIRS:
            paths = [*named(items, names[:1]), *named(items, names[1:])]
            if len(paths) == 2 and all(_are_mostly_texts(items, member) for member in paths):
                reason = (
                    f"each record has a list {dotted(path)} of objects with {dotted(paths[0])} and {dotted(paths[1])}"
                )
                fields = PairFields(prompt=paths[0], response=paths[1], each=(*path, None))
                return replace(with_dialogue(samples, "pairs", reason, [path]), pair=fields)
    return None


def transcript(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a text with marks of who speaks."""
    records = records_of(samples)
    known = named(records, _TRANSCRIPTS)
    for path in (*known, *(path for path in leaves(records) if path not in known)):
        values = column(records, path)
        if not are_texts(values):
            continue
        markers = markers_of([value for value in values if isinstance(value, str)])
        if markers:
            reason = f"each record has a text {dotted(path)} with speaker marks"
            guess = with_dialogue(samples, "transcript", reason, [path])
            return replace(guess, dialogue=replace(guess.dialogue, text=path), markers=markers)
    return None


def _mostly_given(records: Sequence[Record], path: JsonPath, least: float = MOST) -> bool:
    return sum(value is not None for value in column(records, path)) >= least * len(records)


def _are_mostly_texts(records: Sequence[Record], path: JsonPath) -> bool:
    values = column(records, path)
    return are_texts(values) and sum(isinstance(value, str) for value in values) >= MOST * len(values)


_MOST_MARKS = 8
_MOST_TEXTS = 500
_MOST_LETTERS = 100_000
"""Of a text: a mark that is not in the beginning is not proposed."""

_NAMED = re.compile(
    r"(?:\A[\r\n]*|(?:\r?\n)+)(?:#{1,4} ?|\*{2})?[A-Z\[][\w\]]{0,30}(?: [\w\]]{1,20}){0,2}:(?:\*{2})? ?"
)
_TOKEN = re.compile(r"(?:\r?\n)*<\|(?:im_start\|>)?\w{1,20}(?:\|>)?\n?")
_RARE = 0.05
"""Share of a speaker's marks below which a spelling is a slip, which is left in the text."""


def markers_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the marks with the role that each means, where almost all texts begin with one, and half have another."""
    sampled = [text[:_MOST_LETTERS] for text in texts if text][:_MOST_TEXTS]
    for pattern in (_TOKEN, _NAMED):
        marks = _marks(sampled, pattern)
        if marks and _fit(sampled, marks):
            return {mark: _role(mark) for mark in marks}
    return {}


def _marks(texts: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    first, later = Counter[str](), Counter[str]()
    for text in texts:
        for match in pattern.finditer(text):
            (later if match.start() else first)[match[0]] += 1
    counts = Counter[str]()
    for mark, count in (first + later).items():
        counts[_word(mark)] += count
    least = max(2, len(texts) // 50) if len(texts) > 1 else 1
    speakers = {word for word, count in counts.items() if count >= least}
    if not 2 <= len(speakers) <= _MOST_MARKS:
        return []
    return _unified([mark for mark in (*first, *later) if _word(mark) in speakers], first + later)


def _unified(marks: Sequence[str], counts: Counter[str]) -> list[str]:
    """Return the commonest spelling of each speaker's mark behind the same line ends, but for rare ones.

    Whoever speaks may begin a text, and a line: where one speaker has a mark behind some line ends, all have.
    """
    chosen: dict[tuple[str, str], str] = {}
    totals = Counter[str]()
    for mark in set(marks):
        totals[_word(mark)] += counts[mark]
    for mark in sorted(set(marks), key=lambda mark: (-counts[mark], mark)):
        if counts[mark] >= _RARE * totals[_word(mark)]:
            chosen.setdefault((_word(mark), mark[: len(mark) - len(mark.lstrip("\r\n"))]), mark)
    for begin in {begin for _, begin in chosen}:
        for (word, _), mark in list(chosen.items()):
            chosen.setdefault((word, begin), begin + mark.lstrip("\r\n"))
    return sorted(chosen.values(), key=lambda mark: (-len(mark) + len(mark.lstrip("\r\n")), -counts[mark], mark))


def _fit(texts: Sequence[str], marks: Sequence[str]) -> bool:
    begins = sum(text.startswith(tuple(marks)) for text in texts)
    has_two = sum(sum(text.count(mark) for mark in marks) > 1 for text in texts)
    all_but_one = begins > 1 and begins == len(texts) - 1
    return (begins >= MOST * len(texts) or all_but_one) and has_two >= len(texts) / 2


def _word(mark: str) -> str:
    return re.sub(r"im_start|[^\w ]", "", mark).strip()


def _role(mark: str) -> str:
    word = _word(mark).lower().replace(" ", "_")
    return "user" if word in USERS else "assistant" if word in BOTS else word
