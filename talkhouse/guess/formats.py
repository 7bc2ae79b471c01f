"""The formats, by rules: the first that fits wins, and each says why in words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from talkhouse.guess import nested, rows, texts
from talkhouse.guess.fields import names_of, scheme_word
from talkhouse.guess.guess import Guess, Labels, paths_of
from talkhouse.guess.profile import MOST_WORDS, Field, fields_of
from talkhouse.guess.sample import Sample

_RULES: tuple[Callable[[Sequence[Sample]], Guess | None], ...] = (
    rows.convokit,
    texts.preference,
    nested.chat,
    nested.sharegpt,
    nested.tree,
    texts.pairs,
    nested.dialogue,
    texts.transcript,
    rows.turns,
)
_MOST_LABELS = 4
_LEAST_LABELS = 2


def guess(samples: Sequence[Sample]) -> Guess | None:
    """Return what files of one kind look like, with what else their records have; None where no rule fits."""
    guessed = fitting(samples)
    return _with_rest(guessed, samples) if guessed is not None else None


def fitting(samples: Sequence[Sample]) -> Guess | None:
    """Return what the first rule that fits makes of files."""
    with_records = [sample for sample in samples if sample.records]
    guesses = (rule(with_records) for rule in _RULES) if with_records else ()
    return next((guessed for guessed in guesses if guessed is not None), None)


def _with_rest(guessed: Guess, samples: Sequence[Sample]) -> Guess:
    """Name the fields that nothing takes, and those of them that seem to be labels."""
    if guessed.format == "convokit":
        return guessed
    mapped = (guessed.dialogue, guessed.turn, guessed.speaker, guessed.pair, guessed.preference)
    taken_of = (
        mapped if guessed.format in ("turns", "transcript") else (guessed.dialogue, guessed.pair, guessed.preference)
    )
    taken = names_of([path for fields in taken_of for path in paths_of(fields).values()])
    fields = fields_of(record for sample in samples for record in sample.records)
    rest = [field for field in fields if field.name not in taken]
    return replace(guessed, extra=tuple(field.name for field in rest), labels=tuple(_labels(guessed, rest)))


def _labels(guessed: Guess, rest: Iterable[Field]) -> list[Labels]:
    """Take fields of a few short texts, or of true and false, for labels; ``rater_1``, ``rater_2`` for one scheme."""
    on = {"turns": "turn", "pairs": "response"}.get(guessed.format, "dialogue")
    schemes: dict[str, list[Field]] = {}
    for field in rest:
        is_label = _LEAST_LABELS <= field.distinct <= MOST_WORDS and field.distinct < field.count
        are_words = len(field.words) >= _LEAST_LABELS and not any(word.isdecimal() for word in field.words)
        if is_label and (are_words or set(field.types) <= {"boolean", "null"}):
            schemes.setdefault(scheme_word(field.name).rstrip("0123456789").rstrip("_"), []).append(field)
    return [
        Labels(scheme, on, tuple(field.name for field in fields), _words(fields))
        for scheme, fields in list(schemes.items())[:_MOST_LABELS]
    ]


def _words(fields: Iterable[Field]) -> tuple[str, ...]:
    """Return what occurs as a label, true and false as they are written in JSON."""
    words = [word for field in fields for word in (("true", "false") if field.types["boolean"] else field.words)]
    return tuple(dict.fromkeys(word for word in words if word))
