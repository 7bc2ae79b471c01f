"""Rules for records whose dialogues are a few texts: preference, pairs, transcript."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from talkhouse.guess.evidence import share
from talkhouse.guess.field_meanings import BOTS, USERS, Guess, dotted, records_of, role_words, with_dialogue
from talkhouse.guess.record_values import MOST, Record, are_texts, column, leaves, lists, named
from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration.model import JsonPath, PairFields, PreferenceFields, TurnFields

_PREFERENCES = (
    *(("chosen_messages", "rejected_messages"), ("chosen_conversations", "rejected_conversations")),
    *(("chosen", "rejected"), ("preferred_output", "non_preferred_output"), ("preferred", "dispreferred")),
    *(("preferred", "rejected"), ("accepted", "rejected"), ("chosen_response", "rejected_response")),
    *(("response_chosen", "response_rejected"), ("chosen_answer", "rejected_answer")),
    *(("answer_chosen", "answer_rejected"), ("preferred_response", "rejected_response"), ("better", "worse")),
    ("preferred_response", "dispreferred_response"),
)
_PROMPTS = (
    *("prompt", "input.messages", "instruction", "question", "query", "input", "context", "messages"),
    *("conversations", "conversation", "history", "dialogue", "dialog", "prompt_messages"),
)
_PAIRS = (
    *(("instruction", "output"), ("instruction", "response"), ("prompt", "completion"), ("prompt", "response")),
    *(("question", "answer"), ("question", "response"), ("query", "response"), ("input", "output")),
    *(("user_utterance", "system_response"), ("user", "assistant"), ("human", "assistant"), ("context", "response")),
    *(("prompt", "output"), ("prompt", "answer"), ("instruction", "completion"), ("instruction", "answer")),
    *(("message", "response"), ("message", "reply"), ("question", "reply"), ("query", "answer"), ("query", "reply")),
    *(("post", "response"), ("post", "reply"), ("post", "comment"), ("comment", "reply"), ("comment", "response")),
    *(("utterance", "response"), ("request", "response"), ("input", "response"), ("input", "target"), ("q", "a")),
    *(("source", "target"), ("src", "tgt"), ("user_message", "assistant_message"), ("user_message", "bot_message")),
    *(("user_input", "response"), ("user", "bot"), ("user", "agent"), ("human", "bot"), ("user_query", "response")),
    *(("context", "reply"), ("question", "answer.text"), ("question", "orig_answer.text")),
)
_MOST_ITEMS = 5_000
"""Pairs in lists that are looked at."""
_QUERIES = ("input", "context", "query")
_TRANSCRIPTS = ("text", "transcript", "dialogue", "dialog", "conversation", "chat", "content", "log")


def preference(samples: Sequence[Sample]) -> Guess | None:
    """Each record has an answer that was chosen, and one that was rejected."""
    records = records_of(samples)
    for names in _PREFERENCES:
        paths = [*_answers_named(records, names[:1]), *_answers_named(records, names[1:])]
        if len(paths) == 2:
            break
    else:
        return None
    chosen, rejected = paths
    prompts = named(records, _PROMPTS, objects_too=True)
    prompt = next((path for path in prompts if _mostly_given(records, path, least=0.01)), None)
    texts = [text for path in ([prompt] if prompt else paths) for text in column(records, path)]
    texts = [text for text in texts if isinstance(text, str)]
    # A prompt may be a transcript that ends where the answer begins.
    markers = markers_of(texts) if len(texts) > len(records) * (0.5 if prompt else 1) else {}
    kind = "two transcripts with speaker marks, " if markers and prompt is None else ""
    reason = f"each record has {kind}{dotted(chosen)} and {dotted(rejected)}"
    guess = with_dialogue(samples, "preference", reason, [prompt, chosen, rejected])
    messages = [message for path in (prompt, *paths) if path for message in _messages_at(records, path)]
    turn, roles = _of_messages(messages)
    return replace(
        guess,
        preference=PreferenceFields(prompt, chosen, rejected),
        markers=markers,
        turn=turn,
        roles=roles,
        turns=messages,
        notes=_left_out_of_prompt(records, [prompt, *paths]) if prompt else {},
    )


def _answers_named(records: Sequence[Record], names: Sequence[str]) -> list[JsonPath]:
    """Return the path of this name if at least half of the records have an answer there: text, message or list."""
    return [
        path
        for path in named(records, names, objects_too=True)
        if _mostly_given(records, path, least=0.5)
        and all(isinstance(value, str | list | dict | None) for value in column(records, path))
    ]


def _messages_at(records: Sequence[Record], path: JsonPath) -> list[Record]:
    found = (value if isinstance(value, list) else [value] for value in column(records, path))
    return list(islice((message for some in found for message in some if isinstance(message, dict)), _MOST_ITEMS))


def _of_messages(messages: Sequence[Record]) -> tuple[TurnFields, dict[str, str]]:
    """Return what messages call role and text, where not ``role`` and ``content``, and which roles mean another."""
    role = next(iter(named(messages, ("role", "from", "speaker", "author", "sender"))), None)
    text = next((path for path in named(messages, ("content", "value", "text", "utterance")) if path != role), None)
    if role is None or text is None:
        return TurnFields(), {}
    usual = (role, text) == (("role",), ("content",))
    return TurnFields() if usual else TurnFields(role=role, text=text), role_words(column(messages, role))


def _left_out_of_prompt(records: Sequence[Record], taken: Sequence[JsonPath | None]) -> dict[str, tuple[str, ...]]:
    """Return what stands beside an instruction, as Alpaca's ``input`` does, and is no part of the prompt."""
    for path in named(records, _QUERIES, taken):
        values = column(records, path)
        if are_texts(values):
            filled = share(values, bool, "are not empty")
            return {"preference": (f"to decide: {dotted(path)} is no part of the prompt here ({filled})",)}
    return {}


def pairs_of_messages(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a prompt and its answer, both lists of messages."""
    return _pair(samples, _are_messages)


def pairs(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a prompt and its answer, or a list of such pairs."""
    return _pair(samples, _are_mostly_texts) or _pairs_in_a_list(samples, records_of(samples))


def _pair(samples: Sequence[Sample], fit: Callable[[Sequence[Record], JsonPath], bool]) -> Guess | None:
    records = records_of(samples)
    for prompt_name, response_name in _PAIRS:
        paths = [*named(records, [prompt_name]), *named(records, [response_name])]
        if len(paths) == 2 and all(fit(records, path) for path in paths):
            break
    else:
        return None
    prompt, response = paths
    query = next((path for path in named(records, _QUERIES, paths) if _are_texts_or_empty(records, path)), None)
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
            begins = [str(value).startswith(tuple(markers)) for value in values if value]
            remarks = {**guess.remarks, "dialogue.text": share(begins, bool, "begin with a mark")}
            return replace(guess, dialogue=replace(guess.dialogue, text=path), markers=markers, remarks=remarks)
    return None


def _mostly_given(records: Sequence[Record], path: JsonPath, least: float = MOST) -> bool:
    return sum(value is not None for value in column(records, path)) >= least * len(records)


def _are_mostly_texts(records: Sequence[Record], path: JsonPath) -> bool:
    values = column(records, path)
    return are_texts(values) and sum(isinstance(value, str) for value in values) >= MOST * len(values)


def _are_texts_or_empty(records: Sequence[Record], path: JsonPath) -> bool:
    return all(isinstance(value, str | None) for value in column(records, path))


def _are_messages(records: Sequence[Record], path: JsonPath) -> bool:
    """Whether these are lists of messages with role and content, as TRL's conversational data have them."""
    values = column(records, path)
    messages = [message for value in values if isinstance(value, list) for message in value]
    are_lists = bool(messages) and all(isinstance(value, list) for value in values)
    return are_lists and all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in messages)


_MOST_MARKS = 8
_MOST_TEXTS = 500
_MOST_LETTERS = 100_000
"""Of a text: a mark that is not in the beginning is not proposed."""

# Tried only where a run of line ends begins, or behind a mark: tried at each of them, it would take their square.
_LINE_ENDS = r"(?!(?<=\r)\n)(?:\r?\n)++"
_NAMED = re.compile(
    rf"(?:\A[\r\n]*+|(?<!\n){_LINE_ENDS})"
    r"(?:#{1,4} ?|\*{2})?[A-Z\[][\w\]]{0,30}(?: [\w\]]{1,20}){0,2}:(?:\*{2})? ?"
)
_TOKEN = re.compile(rf"(?:(?:(?<!\n)|(?<=[\w>]\n)){_LINE_ENDS})?+" r"<\|(?:im_start\|>)?\w{1,20}(?:\|>)?\n?")
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
