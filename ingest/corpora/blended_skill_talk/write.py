"""Records back to files, piece by piece: the episode of a dialogue, JSON lists and objects, lists of lines."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk import format as layout
from talkhouse.ingest.corpora.blended_skill_talk import other_files
from talkhouse.ingest.corpora.blended_skill_talk.human_annotations import write_human_annotations
from talkhouse.ingest.corpora.blended_skill_talk.records import extra_of
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Annotation, Candidate
from talkhouse.ingest.stored_record import StoredRecord, as_published, file_by_file


class _EnvelopeExtra(Struct):
    """The content of ``source_files.extra``: the facts about a file other than its records."""

    shape: str = ""
    head: str = ""
    tail: str = ""
    empty: list[int] = []
    lacks_final_newline: bool = False


def write_record(stored: StoredRecord) -> bytes:
    """Return one loaded record as its file has it: the JSON of a member of a list, or what stands between separators.

    Of text files these are line ends, of persona_list.txt ``||``; an episode of ConvAI2 is several lines.
    """
    return as_published(stored, _WRITERS[stored.loaded.subset or ""](stored))


def _file(envelope: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write a file as its envelope and its records say."""
    extra = decode.decoder(_EnvelopeExtra).decode(envelope.file.extra or "{}")
    pieces = (write_record(stored) if stored.raw is None else stored.raw for stored in records)
    return _SHAPES[extra.shape](extra, pieces)


write = file_by_file(_file)


def _list(_: _EnvelopeExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write a JSON list."""
    yield from chain((b"[",), _between(b", ", pieces), (b"]",))


def _data(extra: _EnvelopeExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write the object whose one member is a list."""
    yield from chain((b'{"data": ',), _list(extra, pieces), (b"}",))


def _personas(extra: _EnvelopeExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write the persona list, with its empty places."""
    filled = _with_empty(pieces, set(extra.empty))
    yield from chain((extra.head.encode(),), _between(other_files.SEPARATOR.encode(), filled), (extra.tail.encode(),))


def _with_empty(pieces: Iterator[bytes], empty: set[int]) -> Iterator[bytes]:
    position = 0
    for piece in chain(pieces, (None,)):
        while position in empty:
            yield b""
            position += 1
        if piece is not None:
            yield piece
            position += 1


def _lines(extra: _EnvelopeExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write lines; a file without any has no line end either."""
    is_empty = True
    for piece in _between(b"\n", pieces):
        is_empty = False
        yield piece
    yield b"" if is_empty or extra.lacks_final_newline else b"\n"


def _between(separator: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Put a separator between pieces, at the beginning of all but the first."""
    yield from islice(pieces, 1)
    yield from (separator + piece for piece in pieces)


_SHAPES: dict[str, Callable[[_EnvelopeExtra, Iterator[bytes]], Iterator[bytes]]] = {
    "list": _list,
    "data": _data,
    "personas": _personas,
    "lines": _lines,
}


class _EpisodeExtra(Struct):
    """What ``records.extra`` of an episode holds."""

    fields: list[str]
    carried: dict[str, Raw] = {}
    differs: dict[str, Raw] = {}
    unknown: dict[str, Raw] = {}
    beyond: dict[str, Raw] = {}
    lists: dict[str, int] = {}


def write_dialogue(stored: StoredRecord) -> bytes:
    """Return the JSON of one episode: first as the tables have it, then with what this record states differently."""
    extra = extra_of(stored, _EpisodeExtra)
    value: dict[str, Any] = {
        "personas": _persona_lists(stored, extra),
        **_of_dialogue(stored),
        "suggestions": _suggestions(stored),
        **_chosen(stored),
        "label_candidates": _label_candidates(stored, extra),
        **extra.carried,
    }
    for at, piece in extra.differs.items():
        _put(value, at, piece)
    known = {key: value[key] if key in value else extra.unknown[pointer(key)] for key in extra.fields}
    return msgspec.json.encode(known)


def _persona_lists(stored: StoredRecord, extra: _EpisodeExtra) -> list[list[str]]:
    persona_sets: defaultdict[str, list[str]] = defaultdict(list)
    for use in stored.persona_uses:
        persona_sets[use.persona_set].append(stored.personas[use.persona_id].text)
    others = [int(name.rpartition("_")[2]) for name in persona_sets if name not in layout.WORKERS]
    size = extra.lists.get(pointer("personas"), max(others, default=len(layout.WORKERS) - 1) + 1)
    return [
        persona_sets[name]
        for name in (*layout.WORKERS, *(f"persona_{number}" for number in range(len(layout.WORKERS), size)))
    ]


def _of_dialogue(stored: StoredRecord) -> dict[str, Any]:
    dialogue, turns = stored.dialogue, stored.turns
    assert dialogue is not None  # noqa: S101 - an episode is a dialogue
    dialog = [
        [literals(turn.extra).get("who", index % 2), turn.text] for index, turn in enumerate(turns[layout.SEEDS :])
    ]
    return {
        "context_dataset": dialogue.domain,
        "additional_context": literals(dialogue.extra).get("additional_context"),
        "free_turker_utterance": turns[0].text,
        "guided_turker_utterance": turns[1].text,
        "dialog": dialog,
    }


def _suggestions(stored: StoredRecord) -> list[Any]:
    by_turn = _by_turn(stored, layout.SUGGESTIONS)
    suggestions = []
    for turn in stored.turns[layout.SEEDS :]:
        texts = {row.source: stored.texts[row.text_id or ""] for row in by_turn[turn.turn_index]}
        suggestions.append({model: texts[model] for model in layout.MODELS} if texts else {})
    return suggestions


def _chosen(stored: StoredRecord) -> dict[str, list[Any]]:
    rows: dict[int | None, Annotation] = {
        row.turn_index: row for row in stored.annotations if row.scheme == layout.CHOSEN
    }
    labels: list[str] = []
    texts: list[Raw | str] = []
    for turn in stored.turns[layout.SEEDS :]:
        row = rows.get(turn.turn_index)
        labels.append(row.label or "" if row else "")
        texts.append(literals(row.extra if row else None).get("text", ""))
    return {"chosen_suggestions": labels, "chosen_suggestion_texts": texts}


def _label_candidates(stored: StoredRecord, extra: _EpisodeExtra) -> list[Any]:
    by_turn = _by_turn(stored, layout.LABELS)
    answers = [turn.turn_index for turn in stored.turns[layout.SEEDS + 1 :: 2]]
    lists: list[Any] = [[stored.texts[row.text_id or ""] for row in by_turn[turn]] for turn in answers]
    return [*lists, *extra.beyond.values()]


def _by_turn(stored: StoredRecord, name: str) -> defaultdict[int | None, list[Candidate]]:
    by_turn: defaultdict[int | None, list[Candidate]] = defaultdict(list)
    for row in stored.candidates:
        if row.candidate_set == name:
            by_turn[row.turn_index].append(row)
    return by_turn


def _put(value: dict[str, Any], at: str, piece: Raw) -> None:
    """Put a piece at its pointer; the keys and positions of an episode need no unescaping."""
    *path, last = at.split("/")[1:]
    parent: Any = value
    for token in path:
        parent = parent[int(token)] if isinstance(parent, list) else parent[token]
    parent[int(last) if isinstance(parent, list) else last] = piece


_WRITERS: dict[str, Callable[[StoredRecord], bytes]] = {
    layout.EPISODES: write_dialogue,
    layout.PERSONA_LIST: other_files.write_persona,
    layout.TOPICS: other_files.write_topic,
    layout.SAFE_PERSONAS: other_files.write_safe_persona,
    layout.ED: other_files.write_ed,
    layout.HUMAN_ANNOTATIONS: write_human_annotations,
    layout.CONVAI2: other_files.write_convai2,
    layout.WIZARD: other_files.write_wow,
}
