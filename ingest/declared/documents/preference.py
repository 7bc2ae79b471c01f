"""The format ``preference``: answers to compare, one chosen and one rejected, or several of which some are the best."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import AnswerFields, Declaration, JsonPath
from talkhouse.ingest.declared.documents.document_format import own_keys
from talkhouse.ingest.declared.documents.messages import items_of, required
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.transcript import (
    Answers,
    ParsedAnswer,
    has_same_words,
    is_written_the_same,
    open_prompt,
)
from talkhouse.ingest.declared.parsed_dialogue import ParsedCandidate, ParsedDialogue, ParsedTurn
from talkhouse.ingest.declared.shapes import (
    EMPTY,
    KnownShapes,
    SplitObject,
    is_null,
    kind_of,
    members_of,
    text_of,
    wanted,
    write_text,
)
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Candidate
from talkhouse.ingest.stored_record import StoredRecord

_TWO = ("chosen", "rejected")
_LIST = "answers"
_SOURCE = "source"
_WHOLE = "[0:]"


Judgement = list[bool | None]
"""Of each answer: whether it is one of the best; None if unstated."""


class _Compared:
    """The answers of a record on their way in."""

    def __init__(self, answers: list[ParsedAnswer], places: list[str], judgement: Judgement) -> None:
        self.answers, self.places, self.judgement = answers, places, judgement
        self.best = next((place for place, is_best in enumerate(judgement) if is_best and answers[place].turns), None)
        """The first of the best that is not empty, whose messages are turns, or None if none is."""

    @property
    def base(self) -> ParsedAnswer:
        """The one that the others are compared with."""
        return self.answers[self.best or 0]

    def shared(self) -> int:
        """Count the messages that all begin with, before the last of each."""
        return min(_shared(self.base.turns, answer.turns) for answer in self.answers)


class Preference:
    """Reads and writes the records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        fields = declaration.preference
        several = self._several = fields.answers
        self._prompt_path: JsonPath = fields.prompt or ()
        self._judge = None if several is None else Judge(several)
        if several is None:
            self._paths: Mapping[str, JsonPath] = {"chosen": fields.chosen or (), "rejected": fields.rejected or ()}
        elif several.is_list:
            self._paths = {_LIST: several.paths[0]}
        else:
            self._paths = {f"answer{place}": path for place, path in enumerate(several.paths)}
        sources = () if several is None or several.is_list else several.source
        self._sources = {f"{_SOURCE}{place}": path for place, path in enumerate(sources)}
        item = {"text": several.text, _SOURCE: (*several.source, None)[0]} if several is not None else {}
        self._of_item = wanted(item)
        self._answers = Answers(declaration)
        self.wanted = wanted({"prompt": self._prompt_path, **self._paths, **self._sources})
        self.columns = None if several or declaration.markers else own_keys((self._prompt_path, *self._paths.values()))

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Make the turns and candidates; BadRecord GF-01 where an answer is missing or no answer, GF-10 by a marker."""
        dialogue = ParsedDialogue([])
        prompt = self._prompt(record, dialogue)
        if _LIST in self._paths:
            compared, items = self._read_list(record, dialogue, is_part=prompt is not None)
        else:
            compared, items = self._read_each(record, dialogue, is_part=prompt is not None), None
        if not compared.answers:
            dialogue.turns = prompt.turns if prompt is not None else []
            if prompt is not None:
                dialogue.taken |= {_LIST: _LIST, "prompt": f"prompt:{prompt.form}"}
            dialogue.findings.append(
                ReaderFinding("GF-03", "there are no answers", pointer=pointer(*self._paths[_LIST]))
            )
            return dialogue
        is_open = prompt is not None and _is_open(prompt, compared.answers)
        if prompt is not None and is_open:
            open_prompt(prompt, compared.answers)
        base, context = compared.base, prompt.turns if prompt is not None else []
        shared = compared.shared()
        is_inside = len(context) <= shared and all(map(has_same_words, context, base.turns))
        shared = shared if is_inside else 0
        answer = base.turns if compared.best is not None else base.turns[:shared]
        dialogue.turns = answer if is_inside else context + answer
        first = shared if is_inside else len(context)
        dialogue.response = first if first < len(dialogue.turns) else None
        if prompt is not None and not (is_open and compared.best is None):  # then no turn has the mark of an answer
            _take_prompt(prompt, base, dialogue, is_inside=is_inside)
        if items is None:
            self._offer_each(record, compared, shared, dialogue)
        else:
            self._offer_items(compared, shared, items, dialogue)
        self._note(compared, shared, dialogue)
        return dialogue

    def _prompt(self, record: SplitObject, dialogue: ParsedDialogue) -> ParsedAnswer | None:
        raw = record.find(self._prompt_path)
        if raw is None:
            return None
        if is_null(raw) or bytes(raw) == b'""':
            dialogue.taken["prompt"] = None if is_null(raw) else "prompt" + EMPTY
            return None
        return self._answers.read(raw, pointer(*self._prompt_path), "user", dialogue.findings, is_part=True)

    def _read_each(self, record: SplitObject, dialogue: ParsedDialogue, *, is_part: bool) -> _Compared:
        places = [pointer(*path) for path in self._paths.values()]
        answers = [
            self._answers.read(required(record, path), at, "assistant", dialogue.findings, is_part=is_part)
            for path, at in zip(self._paths.values(), places, strict=True)
        ]
        judgement: Judgement = [True, False]
        if self._judge is not None:
            judgement = self._judge.read(record, [(record, "")] * len(answers), dialogue.findings)
        return _Compared(answers, places, judgement)

    def _read_list(
        self, record: SplitObject, dialogue: ParsedDialogue, *, is_part: bool
    ) -> tuple[_Compared, list[SplitObject | None]]:
        """Read a list of answers; return its items too, None for one that is the answer itself."""
        path, text = self._paths[_LIST], self._several.text if self._several else ()
        at, answers = pointer(*path), list[ParsedAnswer]()
        items: list[SplitObject | None] = []
        for place, raw in enumerate(items_of(required(record, path), at, "the list of answers")):
            here, item = f"{at}/{place}", None
            if bytes(raw)[:1] == b"{":
                item = SplitObject(members_of(raw), self._of_item)
            elif text:
                raise BadRecord("GF-01", f"an answer is {kind_of(raw)}, not an object", here)
            answer = required(item, text, here) if item is not None and text else raw
            items.append(item)
            answers.append(
                self._answers.read(answer, here + pointer(*text), "assistant", dialogue.findings, is_part=is_part)
            )
        places = [f"{at}/{place}" for place in range(len(items))]
        judged = list(zip(items, places, strict=True))
        judgement = [] if self._judge is None else self._judge.read(record, judged, dialogue.findings)
        return _Compared(answers, [place + pointer(*text) for place in places], judgement), items

    def _offer_each(self, record: SplitObject, compared: _Compared, shared: int, dialogue: ParsedDialogue) -> None:
        """Add the messages of answers with paths of their own; those of the best are turns, the others held here."""
        suffix = _WHOLE if shared else ""
        for position, (name, answer) in enumerate(zip(self._paths, compared.answers, strict=True)):
            is_turns = position == compared.best
            is_held = is_turns or all(map(is_written_the_same, compared.base.turns[:shared], answer.turns))
            if is_held:
                dialogue.taken[name] = f"{name}:{answer.form}{suffix}"
            source = self._source(record, position, dialogue, is_held=len(answer.turns) > shared)
            for index, turn in enumerate(answer.turns[shared:]):
                candidate = self._candidate(compared, position, index, turn, dialogue)
                candidate.source = source
                is_whole = is_held and not is_turns
                dialogue.candidates.append(self._answers.offer(answer, shared + index, candidate, is_whole=is_whole))

    def _candidate(
        self, compared: _Compared, position: int, index: int, turn: ParsedTurn, dialogue: ParsedDialogue
    ) -> ParsedCandidate:
        return ParsedCandidate(
            dialogue.response, position, index, turn.text, compared.judgement[position], turn.pointer
        )

    def _source(self, record: SplitObject, position: int, dialogue: ParsedDialogue, *, is_held: bool) -> str | None:
        """Return the source of an answer; ``is_held``: whether there is a row that has it."""
        name = f"{_SOURCE}{position}"
        raw = record.find(self._sources.get(name))
        if raw is None or is_null(raw):
            return None
        text, suffix = text_of(raw, pointer(*self._sources[name]), "the source")
        if is_held:
            dialogue.taken[name] = name + suffix
        return text

    def _offer_items(
        self, compared: _Compared, shared: int, items: Sequence[SplitObject | None], dialogue: ParsedDialogue
    ) -> None:
        """Add the messages of the answers in a list; where each is a text, its row holds the item, else the record."""
        are_bare = {item is None for item in items}
        is_held = len(are_bare) == 1 and not shared and all(answer.form == "text" for answer in compared.answers)
        if is_held:
            dialogue.taken[_LIST] = f"{_LIST}:text" if items[0] is None else _LIST
        for position, (answer, item) in enumerate(zip(compared.answers, items, strict=True)):
            taken: dict[str, str | None] = {"text": "text"}
            source = None if item is None else self._source_of_item(item, compared.places[position], taken)
            for index, turn in enumerate(answer.turns[shared:]):
                candidate = self._candidate(compared, position, index, turn, dialogue)
                candidate.source = source
                self._answers.offer(answer, shared + index, candidate, is_whole=False)
                if is_held and item is not None:
                    rest: dict[str, Raw] = {}
                    candidate.shape = item.shape(taken, rest)
                    self._answers.keep(candidate, rest)
                dialogue.candidates.append(candidate)

    def _source_of_item(self, item: SplitObject, at: str, taken: dict[str, str | None]) -> str | None:
        path = self._several.source[0] if self._several and self._several.source else None
        raw = item.find(path)
        if raw is None or is_null(raw):
            return None
        text, suffix = text_of(raw, at + pointer(*path or ()), "the source")
        taken[_SOURCE] = _SOURCE + suffix
        return text

    def _note(self, compared: _Compared, shared: int, dialogue: ParsedDialogue) -> None:
        """Add findings for empty answers, and for one of the best that is the same as another that is not."""
        names = _TWO if self._several is None else [f"answer {place + 1}" for place in range(len(compared.answers))]
        own = [answer.turns[shared:] for answer in compared.answers]
        for name, turns, at in zip(names, own, compared.places, strict=True):
            if not any(turn.text or turn.parts for turn in turns):
                what = f"the {name} answer" if self._several is None else name
                dialogue.findings.append(ReaderFinding("GF-03", f"{what} is empty", pointer=at))
        if compared.best is None:
            return
        best = own[compared.best]
        for turns, at, is_best in zip(own, compared.places, compared.judgement, strict=True):
            if is_best is False and len(turns) == len(best) and all(map(has_same_words, best, turns)):
                detail = "the chosen and the rejected answer are the same"
                dialogue.findings.append(ReaderFinding("GF-11", detail, pointer=at))
                return

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the prompt or an answer: the best of turns, the others of candidates; or all of a list."""
        name, _, how = placeholder.partition(":")
        form, bracket, count = how.partition("[")
        best = next((row for row in stored.candidates if row.is_gold), None)
        first = best.turn_index if best is not None else None
        if name == _LIST:
            return write_list(
                [self._answers.write_item(row, stored, shapes, is_bare=bool(form)) for row in stored.candidates]
            )
        if name.startswith(_SOURCE):
            position = int(name.removesuffix("#").removeprefix(_SOURCE))
            return write_text(name, next(row.source or "" for row in stored.candidates if row.position == position))
        if name == "prompt":
            if form == "open":
                return self._answers.write_open(stored.turns[: (first or 0) + 1])
            return self._answers.write(form, stored.turns[: int(count[1:-1]) if bracket else first], stored, shapes)
        if name not in self._paths:
            return b'""'  # EMPTY
        return self._write_answer(list(self._paths).index(name), form, stored, shapes, best, is_whole=bool(bracket))

    def _write_answer(
        self,
        position: int,
        form: str,
        stored: StoredRecord,
        shapes: KnownShapes,
        best: Candidate | None,
        *,
        is_whole: bool,
    ) -> bytes:
        first = best.turn_index if best is not None else None
        if position == (0 if best is None and self._several is None else best.position if best is not None else None):
            start = 0 if is_whole else len(stored.turns) if first is None else first
            return self._answers.write(form, stored.turns[start:], stored, shapes)
        candidates = [row for row in stored.candidates if row.position == position]
        return self._answers.write(form, stored.turns[:first] if is_whole else [], stored, shapes, candidates)


def _is_open(prompt: ParsedAnswer, answers: Sequence[ParsedAnswer]) -> bool:
    is_text = all(answer.form == "text" for answer in answers)
    return prompt.form == "marks" and is_text and not prompt.turns[-1].text


def _shared(turns: list[ParsedTurn], others: list[ParsedTurn]) -> int:
    before_last = zip(turns[:-1], others[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda both: has_same_words(*both), before_last))


def _take_prompt(prompt: ParsedAnswer, base: ParsedAnswer, dialogue: ParsedDialogue, *, is_inside: bool) -> None:
    if not is_inside or prompt.form == "open":
        dialogue.taken["prompt"] = f"prompt:{prompt.form}"
    elif prompt.form == "text" or all(map(is_written_the_same, prompt.turns, base.turns)):
        dialogue.taken["prompt"] = f"prompt:{prompt.form}[:{len(prompt.turns)}]"


class Judge:
    """Reads the judgements of one corpus."""

    def __init__(self, fields: AnswerFields) -> None:
        self._winner, self._winners = fields.winner, fields.winners
        self._numbers = fields.score or fields.rank
        self._best: Callable[[Sequence[float]], float] = max if fields.score else min

    def read(
        self, record: SplitObject, answers: Sequence[tuple[SplitObject | None, str]], findings: list[ReaderFinding]
    ) -> Judgement:
        """Return whether each answer is one of the best; ``answers``: the object of each one's number, and its pointer.

        GF-26 for a word or number by which that can't be told.
        """
        if self._winner is not None:
            return self._by_word(record, len(answers), findings)
        if not self._numbers:
            return [None] * len(answers)
        paths = self._numbers * len(answers) if len(self._numbers) == 1 else self._numbers
        numbers: list[float | None] = []
        for (inside, at), path in zip(answers, paths, strict=True):
            raw = None if inside is None else inside.find(path)
            numbers.append(_number(raw, at + pointer(*path), findings))
        known = [number for number in numbers if number is not None]
        return [None if number is None else number == self._best(known) for number in numbers]

    def _by_word(self, record: SplitObject, count: int, findings: list[ReaderFinding]) -> Judgement:
        path = self._winner or ()
        raw, at = record.find(path), pointer(*path)
        if raw is None or is_null(raw):
            return [None] * count
        word = _word(raw, at)
        best = self._winners.get(word)
        if best is None or (type(best) is int and best > count):
            found = "means nothing in [winners]" if best is None else f"is the answer {best}, of {count}"
            findings.append(ReaderFinding("GF-26", f"{word!r:.100} {found}", pointer=at))
            return [None] * count
        return [best == "all" or best == number for number in range(1, count + 1)]


def _word(raw: Raw, at: str) -> str:
    try:
        return text_of(raw, at, "the winner")[0]
    except BadRecord:
        return bytes(raw).decode()


def _number(raw: Raw | None, at: str, findings: list[ReaderFinding]) -> float | None:
    """Return a number, also one in quotes, or None if there is none."""
    if raw is None or is_null(raw):
        return None
    word = _word(raw, at)
    try:
        number = float(word) if raw and bytes(raw)[:1] not in b"[{" else math.nan
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    findings.append(ReaderFinding("GF-26", f"{word!r:.100} is not a number", pointer=at))
    return None
