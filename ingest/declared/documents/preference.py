"""Format ``preference``: a record has two answers, one of which was preferred, and mostly what they answer.

The dialogue is the context and the chosen answer. The context is the prompt; where both answers begin with the prompt,
or there is none, it is what both begin with, turn by turn, at most all but the last of either. A hole's name in the
shape says what the member is and which turns it is filled from: ``prompt:list``, ``prompt:list[:2]`` (the first two
turns, with which the answers begin too), ``rejected:marks[0:]`` (it begins with the context).
"""

from collections.abc import Mapping
from itertools import takewhile

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.answers import (
    Answer,
    Answers,
    has_same_words,
    is_written_the_same,
    open_prompt,
)
from talkhouse.ingest.declared.documents.message_fields import required
from talkhouse.ingest.declared.documents.talk import Offered, Said, Talk
from talkhouse.ingest.declared.shapes import EMPTY, KnownShapes, Split, is_null, wanted
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.stored_record import StoredRecord

CHOSEN, REJECTED = 0, 1
_WHOLE = "[0:]"


class Preference:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        fields = declaration.preference
        self._paths: Mapping[str, JsonPath] = {
            "prompt": fields.prompt or (),
            "chosen": fields.chosen or (),
            "rejected": fields.rejected or (),
        }
        self._places = {name: pointer(*path) for name, path in self._paths.items()}
        self._answers = Answers(declaration)
        self.wanted = wanted(self._paths)

    def read(self, record: Split) -> Talk:
        """Make the turns and candidates; BadRecord GF-01 where an answer is missing or no answer, GF-10 by a marker."""
        talk = Talk([])
        prompt = self._prompt(record, talk)
        chosen = self._answer(record, "chosen", talk, is_part=prompt is not None)
        rejected = self._answer(record, "rejected", talk, is_part=prompt is not None)
        if prompt is not None and _is_open(prompt, chosen, rejected):
            open_prompt(prompt, (chosen, rejected))
        given = prompt.said if prompt is not None else []
        shared = _shared(chosen.said, rejected.said)
        is_inside = len(given) <= shared and all(map(has_same_words, given, chosen.said))
        if not is_inside:
            shared = 0
        talk.said = chosen.said if is_inside else given + chosen.said
        first = shared if is_inside else len(given)
        talk.response = first if first < len(talk.said) else None
        suffix = _WHOLE if shared else ""
        talk.taken["chosen"] = f"chosen:{chosen.form}{suffix}"
        is_held = all(map(is_written_the_same, chosen.said[:shared], rejected.said))
        if is_held:
            talk.taken["rejected"] = f"rejected:{rejected.form}{suffix}"
        if prompt is not None:
            _take_prompt(prompt, chosen, talk, is_inside=is_inside)
        self._offer(chosen, rejected, shared, talk, is_held=is_held)
        self._judge(chosen.said[shared:], rejected.said[shared:], talk)
        return talk

    def _prompt(self, record: Split, talk: Talk) -> Answer | None:
        """Read the prompt; None where there is none, and why is noted."""
        raw = record.find(self._paths["prompt"])
        if raw is None:
            return None
        if is_null(raw) or bytes(raw) == b'""':
            talk.taken["prompt"] = None if is_null(raw) else "prompt" + EMPTY
            return None
        return self._answers.read(raw, self._places["prompt"], "user", talk.findings, is_part=True)

    def _answer(self, record: Split, name: str, talk: Talk, *, is_part: bool) -> Answer:
        raw = required(record, self._paths[name])
        return self._answers.read(raw, self._places[name], "assistant", talk.findings, is_part=is_part)

    def _offer(self, chosen: Answer, rejected: Answer, shared: int, talk: Talk, *, is_held: bool) -> None:
        """Add the candidates; those of the rejected answer hold it, unless it stays as it is."""
        for position, answer in ((CHOSEN, chosen), (REJECTED, rejected)):
            for index, said in enumerate(answer.said[shared:]):
                offered = Offered(talk.response, position, index, said.text, position == CHOSEN)
                is_whole = position == REJECTED and is_held
                talk.offered.append(self._answers.offer(answer, shared + index, offered, is_whole=is_whole))

    def _judge(self, chosen: list[Said], rejected: list[Said], talk: Talk) -> None:
        for name, said in (("chosen", chosen), ("rejected", rejected)):
            if not any(turn.text or turn.parts for turn in said):
                talk.findings.append(ReaderFinding("GF-03", f"the {name} answer is empty", pointer=self._places[name]))
        if len(chosen) == len(rejected) and all(map(has_same_words, chosen, rejected)):
            detail = "the chosen and the rejected answer are the same"
            talk.findings.append(ReaderFinding("GF-11", detail, pointer=self._places["rejected"]))

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the prompt or an answer: of turns, and what was rejected of candidates."""
        name, _, how = hole.partition(":")
        form, bracket, count = how.partition("[")
        first = next((row.turn_index for row in stored.candidates if row.position == CHOSEN), None)
        match name:
            case "prompt" if form == "open":
                return self._answers.write_open(stored.turns[: (first or 0) + 1])
            case "prompt":
                end = int(count[1:-1]) if bracket else first
                return self._answers.write(form, stored.turns[:end], stored, shapes)
            case "chosen":
                start = 0 if bracket else len(stored.turns) if first is None else first
                return self._answers.write(form, stored.turns[start:], stored, shapes)
            case "rejected":
                context = stored.turns[:first] if bracket else []
                offered = [row for row in stored.candidates if row.position == REJECTED]
                return self._answers.write(form, context, stored, shapes, offered)
        return b'""'  # EMPTY


def _is_open(prompt: Answer, chosen: Answer, rejected: Answer) -> bool:
    """Whether a prompt ends with the mark of its answers."""
    return prompt.form == "marks" and chosen.form == rejected.form == "text" and not prompt.said[-1].text


def _shared(chosen: list[Said], rejected: list[Said]) -> int:
    """Count the turns with which both begin, at most all but the last of either."""
    before_last = zip(chosen[:-1], rejected[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda both: has_same_words(*both), before_last))


def _take_prompt(prompt: Answer, chosen: Answer, talk: Talk, *, is_inside: bool) -> None:
    """Note which turns give the prompt back, if they do."""
    if not is_inside or prompt.form == "open":
        talk.taken["prompt"] = f"prompt:{prompt.form}"
    elif prompt.form == "text" or all(map(is_written_the_same, prompt.said, chosen.said)):
        talk.taken["prompt"] = f"prompt:{prompt.form}[:{len(prompt.said)}]"
