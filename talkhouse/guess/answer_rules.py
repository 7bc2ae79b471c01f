"""Rules for answers that are compared, by a score each or by a word for the winner, and for two lists side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from talkhouse.guess.evidence import share, words
from talkhouse.guess.field_meanings import Guess, dotted, records_of, with_dialogue
from talkhouse.guess.record_values import Record, are_texts, column, lists, named
from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration.model import JsonPath, PreferenceFields
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.declaration.toml_text import toml_string

_TWO = (("conversation_a", "conversation_b"), ("answer_a", "answer_b"), ("response_a", "response_b"))
_SOURCES = (("model_a", "model_b"), ("source_a", "source_b"))
_WINNERS = ("winner", "preference", "better")
_WORDS = {"model_a": "1", "a": "1", "model_b": "2", "b": "2", "tie": '"all"', "both_bad": '"none"'}
_WORDS |= {"tie (bothbad)": '"none"', "tie_bothbad": '"none"', "bothbad": '"none"'}
_LISTS = ("completions", "responses", "answers", "candidates", "outputs", "generations")
_TEXTS = ("response", "text", "content", "completion", "answer", "output")
_SCORES = ("overall_score", "score", "rating", "reward")
_PROMPTS = ("prompt", "instruction", "question", "query", "input")
_ZIPPED = (("questions", "answers"), ("questions", "responses"), ("prompts", "responses"), ("queries", "responses"))
_IN_ITEMS = ("input_text", "text", "question", "answer", "content")


def compared(samples: Sequence[Sample]) -> Guess | None:
    """Each record has two answers and a word for the better one, or a list of answers with a score each."""
    records = records_of(samples)
    return _by_a_winner(samples, records) or _by_scores(samples, records)


def _by_a_winner(samples: Sequence[Sample], records: Sequence[Record]) -> Guess | None:
    paths = next((found for names in _TWO if len(found := named(records, names)) == len(names)), None)
    winner = next(iter(named(records, _WINNERS)), None)
    if paths is None or winner is None:
        return None
    given = [value for value in column(records, winner) if isinstance(value, str)]
    known = {word: _WORDS[word.lower()] for word in dict.fromkeys(given) if word.lower() in _WORDS}
    if not {"1", "2"} & {*known.values()}:
        return None
    source = next((found for names in _SOURCES if len(found := named(records, names)) == len(names)), [])
    also = {"answers": _listed(paths), "winner": toml_string(path_text(winner))}
    also |= {"source": _listed(source)} if source else {}
    unknown = sorted({*given} - known.keys())
    note = f"to decide: which answer is the best by {', '.join(unknown)}" if unknown else ""
    reason = f"each record has {' and '.join(map(dotted, paths))}, and {dotted(winner)} says which is better"
    prompt = None if isinstance(column(records, paths[0])[0], list) else _prompt(records)
    guess = _preference(samples, reason, prompt, [*paths, winner, *source])
    return replace(
        guess,
        also={"preference": also, "winners": known},
        remarks={**guess.remarks, "preference.winner": words(given)},
        notes={"preference": (note,)} if note else {},
    )


def _by_scores(samples: Sequence[Sample], records: Sequence[Record]) -> Guess | None:
    prompt = _prompt(records)
    for path, values in lists(records).items():
        items = [item for value in values for item in value if isinstance(item, dict)]
        if prompt is None or len(path) != 1 or path[0] not in _LISTS or len(items) < 2 * len(values):
            continue
        text = next((one for one in named(items, _TEXTS) if are_texts(column(items, one))), None)
        score = next((one for one in named(items, _SCORES) if _are_numbers(column(items, one))), None)
        rank = next((one for one in named(items, ("rank",)) if _are_numbers(column(items, one))), None)
        if text is None or (score is None and rank is None):
            continue
        source = next(iter(named(items, ("model", "source", "model_name"))), None)
        by = ("score", score) if score is not None else ("rank", rank)
        inside: Mapping[str, Any] = {"text": text, "source": source, by[0]: by[1]}
        also = {"answers": toml_string(f"{path_text(path)}[*]")}
        also |= {key: toml_string(path_text(one)) for key, one in inside.items() if one is not None}
        reason = f"each record has {dotted(prompt)} and a list {dotted(path)} of answers with a {by[0]}"
        guess = _preference(samples, reason, prompt, [path])
        remark = share(column(items, by[1] or ()), lambda value: isinstance(value, int | float), "are numbers")
        return replace(guess, also={"preference": also}, remarks={**guess.remarks, f"preference.{by[0]}": remark})
    return None


def _preference(samples: Sequence[Sample], reason: str, prompt: JsonPath | None, needs: Sequence[JsonPath]) -> Guess:
    guess = with_dialogue(samples, "preference", reason, [prompt, *needs])
    return replace(guess, preference=PreferenceFields(prompt), needs=tuple(needs))


def _prompt(records: Sequence[Record]) -> JsonPath | None:
    return next((path for path in named(records, _PROMPTS) if are_texts(column(records, path))), None)


def _are_numbers(values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)


def _listed(paths: Sequence[JsonPath]) -> str:
    return f"[{', '.join(toml_string(path_text(path)) for path in paths)}]"


def zipped(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a list of questions, and one of their answers."""
    records = records_of(samples)
    found = {path[0]: values for path, values in lists(records).items() if len(path) == 1}
    for names in _ZIPPED:
        if not all(len(found.get(name, ())) == len(records) for name in names):
            continue
        both = [found[name] for name in names]
        sizes = [len(asked) == len(answered) for asked, answered in zip(*both, strict=True)]
        items = [[item for value in values for item in value] for values in both]
        if not any(sizes) or not all(items):
            continue
        also = {"zip": f"[{', '.join(map(toml_string, names))}]"}
        if all(isinstance(item, dict) for item in (*items[0], *items[1])):
            inside = [next(iter(named(some, _IN_ITEMS)), None) for some in items]
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
