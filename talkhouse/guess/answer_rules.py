"""Rules for records of a prompt and its answers: preference, answers that are compared, and pairs, also in lists."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from talkhouse.guess.evidence import NAMES, PAIRS, Guess, dotted, share, words
from talkhouse.guess.field_meanings import with_dialogue
from talkhouse.guess.record_values import ALMOST_ALL, Records, are_texts, column
from talkhouse.guess.sample import Samples
from talkhouse.guess.text_rules import markers_of
from talkhouse.guess.who_speaks import role_words
from talkhouse.ingest.declared.declaration.model import JsonPath, PairFields, PreferenceFields, TurnFields
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.declaration.toml_text import toml_string

_MOST_ITEMS = 5_000
"""Pairs in lists that are looked at."""

_WINNER_WORDS = {"model_a": "1", "a": "1", "model_b": "2", "b": "2", "tie": '"all"', "both_bad": '"none"'}
_WINNER_WORDS |= {"tie (bothbad)": '"none"', "tie_bothbad": '"none"', "bothbad": '"none"'}


def preference(samples: Samples) -> Guess | None:
    """Each record has an answer that was chosen, and one that was rejected."""
    records = samples.records
    for names in PAIRS["preference"]:
        paths = [*_answers_named(records, names[:1]), *_answers_named(records, names[1:])]
        if len(paths) == 2:
            break
    else:
        return None
    chosen, rejected = paths
    prompts = records.named(NAMES["prompt"], objects_too=True)
    prompt = next((path for path in prompts if _has_values(records, path, least=0.01)), None)
    texts = [text for path in ([prompt] if prompt else paths) for text in column(records, path)]
    texts = [text for text in texts if isinstance(text, str)]
    # A prompt may be a transcript that ends where the answer begins.
    markers = markers_of(texts) if len(texts) > len(records) * (0.5 if prompt else 1) else {}
    kind = "two transcripts with speaker marks, " if markers and prompt is None else ""
    reason = f"each record has {kind}{dotted(chosen)} and {dotted(rejected)}"
    guess = with_dialogue(samples, "preference", reason, [prompt, chosen, rejected])
    messages = Records(message for path in (prompt, *paths) if path for message in _messages_at(records, path))
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


def _answers_named(records: Records, names: Sequence[str]) -> list[JsonPath]:
    """Return the path of this name if at least half of the records have an answer there: text, message or list."""
    return [
        path
        for path in records.named(names, objects_too=True)
        if _has_values(records, path, least=0.5)
        and all(isinstance(value, str | list | dict | None) for value in column(records, path))
        and not any(isinstance(item, str) for value in records.lists.get(path, ()) for item in value)
    ]


def _messages_at(records: Records, path: JsonPath) -> list[dict[str, Any]]:
    found = (value if isinstance(value, list) else [value] for value in column(records, path))
    return list(islice((message for some in found for message in some if isinstance(message, dict)), _MOST_ITEMS))


def _of_messages(messages: Records) -> tuple[TurnFields, dict[str, str]]:
    """Return the fields of messages, where not ``role`` and ``content``, and the roles that mean another."""
    role = next(iter(messages.named(("role", "from", "speaker", "author", "sender"))), None)
    text = next(iter(messages.named(("content", "value", "text", "utterance"), [role])), None)
    if role is None or text is None:
        return TurnFields(), {}
    usual = (role, text) == (("role",), ("content",))
    return TurnFields() if usual else TurnFields(role=role, text=text), role_words(column(messages, role))


def _left_out_of_prompt(records: Records, taken: Sequence[JsonPath | None]) -> dict[str, tuple[str, ...]]:
    """Return a note on a text beside an instruction, as Alpaca's ``input`` is, which is no part of the prompt."""
    path = records.pick(NAMES["query"], are_texts, taken)
    if path is None:
        return {}
    filled = share(column(records, path), bool, "are not empty")
    return {"preference": (f"to decide: {dotted(path)} is no part of the prompt here ({filled})",)}


def pairs_of_messages(samples: Samples) -> Guess | None:
    """Each record has a prompt and its answer, both lists of messages."""
    return _pair(samples, _are_messages)


def pairs(samples: Samples) -> Guess | None:
    """Each record has a prompt and its answer, or a list of such pairs."""
    return _pair(samples, _are_mostly_texts) or _pairs_in_a_list(samples)


def _pair(samples: Samples, fit: Callable[[Records, JsonPath], bool]) -> Guess | None:
    records = samples.records
    names, paths = _pair_of(records, fit)
    if names is None:
        return None
    prompt, response = paths
    query = next((path for path in records.named(NAMES["query"], paths) if _are_texts_or_empty(records, path)), None)
    system = records.pick(("system", "system_prompt"), are_texts)
    history = next((path for path in records.named(["history"]) if _are_pairs(records.lists.get(path, []))), None)
    fields = PairFields(system, history, prompt, query if names[0] == "instruction" else None, response)
    reason = f"each record has {dotted(prompt)} and {dotted(response)}"
    guess = replace(with_dialogue(samples, "pairs", reason, [*paths, query, system, history]), pair=fields)
    others = records.named(NAMES["beside_a_pair"], [*paths, query, system, history])
    notes = tuple(f"to decide: {dotted(path)} next to them may be the dialogue, and is not read" for path in others)
    return replace(guess, notes={**guess.notes, "pair": notes}) if notes else guess


def _are_pairs(values: Sequence[Sequence[Any]]) -> bool:
    return bool(values) and all(isinstance(item, list) for value in values for item in value)


def _pairs_in_a_list(samples: Samples) -> Guess | None:
    for path, values in samples.records.lists.items():
        items = islice((item for value in values for item in value if isinstance(item, dict)), _MOST_ITEMS)
        names, paths = _pair_of(Records(items), _are_mostly_texts)
        if names is not None:
            reason = f"each record has a list {dotted(path)} of objects with {' and '.join(map(dotted, paths))}"
            fields = PairFields(prompt=paths[0], response=paths[1], each=(*path, None))
            return replace(with_dialogue(samples, "pairs", reason, [path]), pair=fields)
    return None


def _pair_of(
    records: Records, fit: Callable[[Records, JsonPath], bool]
) -> tuple[tuple[str, str] | None, list[JsonPath]]:
    """Return the first names of a prompt and its answer that records have, as words, and their paths."""
    for names in PAIRS["pair"]:
        paths = records.named(names)
        if len(paths) == 2 and all(fit(records, path) for path in paths):
            return names, paths
    return None, []


def _has_values(records: Records, path: JsonPath, least: float = ALMOST_ALL) -> bool:
    return sum(value is not None for value in column(records, path)) >= least * len(records)


def _are_mostly_texts(records: Records, path: JsonPath) -> bool:
    values = column(records, path)
    return are_texts(values) and sum(isinstance(value, str) for value in values) >= ALMOST_ALL * len(values)


def _are_texts_or_empty(records: Records, path: JsonPath) -> bool:
    return all(isinstance(value, str | None) for value in column(records, path))


def _are_messages(records: Records, path: JsonPath) -> bool:
    """Whether these are lists of messages with role and content, as TRL's conversational data have them."""
    values = column(records, path)
    messages = [message for value in values if isinstance(value, list) for message in value]
    are_lists = bool(messages) and all(isinstance(value, list) for value in values)
    return are_lists and all(isinstance(item, dict) and {"role", "content"} <= item.keys() for item in messages)


def compared(samples: Samples) -> Guess | None:
    """Each record has two answers and a word for the better one, or a list of answers with a score each."""
    return _by_a_winner(samples, samples.records) or _by_scores(samples, samples.records)


def _by_a_winner(samples: Samples, records: Records) -> Guess | None:
    paths = next((found for names in PAIRS["two_answers"] if len(found := records.named(names)) == len(names)), None)
    winner = next(iter(records.named(NAMES["better_answer"])), None)
    if paths is None or winner is None:
        return None
    winners = [value for value in column(records, winner) if isinstance(value, str)]
    known = {word: _WINNER_WORDS[word.lower()] for word in dict.fromkeys(winners) if word.lower() in _WINNER_WORDS}
    if not {"1", "2"} & {*known.values()}:
        return None
    source = next(
        (found for names in PAIRS["sources_of_answers"] if len(found := records.named(names)) == len(names)), []
    )
    also = {"answers": _listed(paths), "winner": toml_string(path_text(winner))}
    also |= {"source": _listed(source)} if source else {}
    unknown = sorted({*winners} - known.keys())
    note = f"to decide: which answer is the best by {', '.join(unknown)}" if unknown else ""
    reason = f"each record has {' and '.join(map(dotted, paths))}, and {dotted(winner)} says which is better"
    prompt = None if isinstance(column(records, paths[0])[0], list) else records.pick(NAMES["question"], are_texts)
    guess = _preference(samples, reason, prompt, [*paths, winner, *source])
    return replace(
        guess,
        also={"preference": also, "winners": known},
        remarks={**guess.remarks, "preference.winner": words(winners)},
        notes={"preference": (note,)} if note else {},
    )


def _by_scores(samples: Samples, records: Records) -> Guess | None:
    prompt = records.pick(NAMES["question"], are_texts)
    for path, values in records.lists.items():
        items = Records(item for value in values for item in value if isinstance(item, dict))
        if prompt is None or len(path) != 1 or path[0] not in NAMES["answers"] or len(items) < 2 * len(values):
            continue
        text = items.pick(NAMES["answer"], are_texts)
        score, rank = items.pick(NAMES["score"], _are_numbers), items.pick(("rank",), _are_numbers)
        if text is None or (score is None and rank is None):
            continue
        source = next(iter(items.named(("model", "source", "model_name"))), None)
        key, by = ("score", score) if score is not None else ("rank", rank)
        inside = {"text": text, "source": source, key: by}
        also = {"answers": toml_string(f"{path_text(path)}[*]")}
        also |= {name: toml_string(path_text(member)) for name, member in inside.items() if member is not None}
        reason = f"each record has {dotted(prompt)} and a list {dotted(path)} of answers with a {key}"
        guess = _preference(samples, reason, prompt, [path])
        remark = share(column(items, by or ()), lambda value: isinstance(value, int | float), "are numbers")
        return replace(guess, also={"preference": also}, remarks={**guess.remarks, f"preference.{key}": remark})
    return None


def _preference(samples: Samples, reason: str, prompt: JsonPath | None, needs: Sequence[JsonPath]) -> Guess:
    guess = with_dialogue(samples, "preference", reason, [prompt, *needs])
    return replace(guess, preference=PreferenceFields(prompt), needs=tuple(needs))


def _are_numbers(values: Sequence[Any]) -> bool:
    numbers = [value for value in values if value is not None]
    return bool(numbers) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers)


def _listed(paths: Sequence[JsonPath]) -> str:
    return f"[{', '.join(toml_string(path_text(path)) for path in paths)}]"


def zipped(samples: Samples) -> Guess | None:
    """Each record has a list of questions, and one of their answers."""
    records = samples.records
    found = {path[0]: values for path, values in records.lists.items() if len(path) == 1}
    for names in PAIRS["zipped"]:
        if not all(len(found.get(name, ())) == len(records) for name in names):
            continue
        both = [found[name] for name in names]
        sizes = [len(asked) == len(answered) for asked, answered in zip(*both, strict=True)]
        items = [[item for value in values for item in value] for values in both]
        if not any(sizes) or not all(items):
            continue
        also = {"zip": f"[{', '.join(map(toml_string, names))}]"}
        if all(isinstance(item, dict) for item in (*items[0], *items[1])):
            inside = [next(iter(Records(some).named(NAMES["in_a_zipped_list"])), None) for some in items]
            if None in inside:
                continue
            also |= {
                key: toml_string(path_text(path or ()))
                for key, path in zip(("prompt", "response"), inside, strict=True)
            }
        elif not all(isinstance(item, str) for item in (*items[0], *items[1])):
            continue
        needs: list[JsonPath] = [(name,) for name in names]
        guess = with_dialogue(samples, "pairs", f"each record has lists {' and '.join(names)} side by side", needs)
        remark = share(sizes, bool, "records have as many of both")
        return replace(guess, also={"pair": also}, needs=tuple(needs), remarks={**guess.remarks, "pair.zip": remark})
    return None
