"""Rules for text files: dated, numbered or parted lines, turns between separators, and marks of who speaks."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from talkhouse.guess.evidence import share, words
from talkhouse.guess.field_meanings import Guess
from talkhouse.guess.record_values import MOST
from talkhouse.guess.sample import TEXT, Sample
from talkhouse.guess.text_rules import markers_of
from talkhouse.ingest.declared.declaration.model import NO_PATH, DialogueFields, SpeakerFields, TurnFields
from talkhouse.ingest.declared.times import read_time

_HALF = r"(?:[ \x{202f}]?[AaPp][Mm])?"
_AT = rf"[\d./-]{{6,}},?[ T][\d:]+{_HALF}"
_CLOCK = rf"\d+:[\d:]+{_HALF}"
_PATTERNS = (
    # WhatsApp on an iPhone and on Android
    rf"\x{{200e}}?\[(?<at>{_AT})\] (?:(?<who>[^:]+): )?(?<said>.*)",
    rf"(?<at>{_AT}) - (?:(?<who>[^:]+): )?(?<said>.*)",
    # IRC, with the day, or with the time of day alone
    rf"\[?(?<at>{_AT})\]? <(?<who>[^>]+)> (?<said>.*)",
    rf"\[(?<at>{_CLOCK})\] (?:<(?<who>[^>]+)> )?(?<said>.*)",
    rf"(?<at>{_CLOCK}) (?:<(?<who>[^>]+)> )?(?<said>.*)",
    # WeeChat, and others whose columns are told apart by tabs
    rf"(?<at>{_AT})\t(?<who>[^\t]*)\t(?<said>.*)",
)
_SCRIPT = r"(?<who>[\p{Lu}][^:]{0,40}): (?<said>.*)"
_SEPARATORS = ("__eou__", "<|endofturn|>", "[SEP]", "</s>", " ||| ")
_LEAST_SHARE = 0.5
"""Of the lines: others go on with what a line before says."""
_MOST_LINES = 2_000
_DAYS = ("%d{0}%m{0}", "%m{0}%d{0}")


def text_file(samples: Sequence[Sample]) -> Guess | None:
    """Each file is a text."""
    if any(sample.form.partition(",")[0] != TEXT for sample in samples):
        return None
    texts = [str(record[""]) for sample in samples for record in sample.records]
    lines = list(islice((line for text in texts for line in text.splitlines() if line.strip()), _MOST_LINES))
    if not lines:
        return None
    rules = (_dated(lines), _separated(lines), _marked(texts), _script(lines), _numbered(lines), _in_columns(lines))
    return next((guessed for guessed in rules if guessed is not None), None)


def _dated(lines: Sequence[str]) -> Guess | None:
    for pattern in _PATTERNS:
        found = [match for line in lines if (match := _python(pattern).fullmatch(line))]
        speakers = [match["who"] for match in found if match["who"]]
        if len(found) < max(2, _LEAST_SHARE * len(lines)) or len(speakers) < len(found) / 2:
            continue
        times = [match["at"] for match in found]
        forms = list(_forms(times))
        remark = f"{len(found):,} of {len(lines):,} lines; the others belong to the turn before"
        turn = TurnFields(text=("said",), speaker=("who",), said_at=("at",) if len(forms) == 1 else None)
        notes = {"turn": _time_notes(times, forms)} if len(forms) != 1 else {}
        remarks = {"turn.speaker": words(speakers), "lines.pattern": remark, "dialogue.id": "a file is a dialogue"}
        reason = "most lines begin with a time, and say who speaks"
        settings = {"times": {"said_at": forms[0]} if len(forms) == 1 else {}, "remarks": remarks, "notes": notes}
        return _of_lines(pattern, reason, turn, **settings)
    return None


def _of_lines(pattern: str, reason: str, turn: TurnFields, **more: object) -> Guess:
    values: dict[str, object] = {"turn": turn, "speaker": SpeakerFields("dialogue"), "lines": {"pattern": pattern}}
    return Guess("turns", reason, **(values | more))  # type: ignore[arg-type]


def _python(pattern: str) -> re.Pattern[str]:
    """Return a pattern as Python has it; those here are ours, and take time in proportion to a line."""
    pattern = re.sub(r"\\x\{(\w+)\}", lambda match: f"\\u{match[1]:>04}", pattern)
    return re.compile(pattern.replace("(?<", "(?P<").replace(r"[\p{Lu}]", "[A-ZÀ-ÖØ-Þ]"))


def _forms(times: Sequence[str]) -> Iterator[str]:
    """Yield the forms that all of some times have; none where one has no day."""
    first = re.fullmatch(r"([\d./-]{6,})(,?[ T])(.*)", times[0])
    if first is None:
        return
    sign = next((letter for letter in first[1] if not letter.isdigit()), "")
    if first[1].count(sign or "0") != 2:
        return
    years = ["%Y" if len(first[1].rpartition(sign)[2]) == 4 else "%y"]
    days = [f"%Y{sign}%m{sign}%d"] if first[1].index(sign) == 4 else [form.format(sign) + years[0] for form in _DAYS]
    seconds = ":%S" if first[3].count(":") == 2 else ""
    half = re.search(r"([ \u00a0\u202f]?)[AaPp][Mm]", first[3])
    clock = f"%I:%M{seconds}{half[1]}%p" if half else f"%H:%M{seconds}"
    for day in days:
        form = f"{day}{first[2]}{clock}"
        if all(read_time(time, form).value for time in times):
            yield form


def _time_notes(times: Sequence[str], forms: Sequence[str]) -> tuple[str, ...]:
    if not forms:
        return (f'said_at = "at"  # to do: {times[0]} has no day, or no form that is known; it is kept in extra',)
    choices = " or ".join(f'said_at = "{form}"' for form in forms)
    return (f'said_at = "at"  # to decide: with [times] {choices}: no day here is beyond the 12th',)


def _separated(lines: Sequence[str]) -> Guess | None:
    for separator in _SEPARATORS:
        has = share(lines, lambda line: separator in line, "lines have it")  # noqa: B023 - called at once
        if sum(separator in line for line in lines) < MOST * len(lines):
            continue
        around = (f" {separator} ", f" {separator}", separator)
        used = (
            tuple(one for one in around if any(one in line for line in lines)) if separator.strip() == separator else ()
        )
        fields = DialogueFields(text=NO_PATH)
        reason = f"each line is a dialogue, its turns told apart by {separator.strip()}"
        return Guess("transcript", reason, fields, separators=used or (separator,), remarks={"dialogue.separator": has})
    return None


def _marked(texts: Sequence[str]) -> Guess | None:
    markers = markers_of(texts)
    if not markers:
        return None
    begins = [text.startswith(tuple(markers)) for text in texts]
    remarks = {"dialogue.text": share(begins, bool, "begin with a mark")}
    fields = DialogueFields(text=NO_PATH, record="file")
    reason = "each file is a text with speaker marks"
    return Guess("transcript", reason, fields, markers=markers, remarks=remarks)


def _script(lines: Sequence[str]) -> Guess | None:
    found = [match for line in lines if (match := _python(_SCRIPT).fullmatch(line))]
    speakers = [match["who"] for match in found]
    if len(found) < MOST * len(lines) or len(set(speakers)) * 2 > len(found):
        return None
    remarks = {
        "turn.speaker": words(speakers),
        "lines.pattern": f"{len(found):,} of {len(lines):,} lines",
        "dialogue.id": "to decide: a file is a dialogue, unless [lines] begins says with which lines one begins",
    }
    turn = TurnFields(text=("said",), speaker=("who",))
    return _of_lines(_SCRIPT, "each line begins with who speaks", turn, remarks=remarks)


_NUMBERED = r"(?<n>\d+) (?<said>.*)"


def _numbered(lines: Sequence[str]) -> Guess | None:
    found = [match for line in lines if (match := _python(_NUMBERED).fullmatch(line))]
    begun = sum(match["n"] == "1" for match in found)
    if len(found) < MOST * len(lines) or not begun or lines[0][:2] != "1 ":
        return None
    remarks = {"lines.pattern": f"{len(found):,} of {len(lines):,} lines", "lines.begins": f"{begun:,} lines"}
    notes: dict[str, tuple[str, ...]] = {}
    if any("\t" in match["said"] for match in found):
        notes["lines"] = ('to decide: lines have several texts between tabs; a group for each, and turns = "each"',)
    settings = {"lines": {"pattern": _NUMBERED, "begins": "1 "}, "remarks": remarks, "notes": notes}
    return _of_lines(_NUMBERED, "each line has a number, which begins again", TurnFields(text=("said",)), **settings)


def _in_columns(lines: Sequence[str]) -> Guess | None:
    """Return lines of as many texts, told apart by one sign: the longest are what was said."""
    for sign in "|\t":
        counts = {line.count(sign) for line in lines}
        if len(counts) != 1 or counts == {0} or len(lines) < _FEWEST_ROWS:
            continue
        columns = list(zip(*(line.split(sign) for line in lines), strict=True))
        said = max(range(len(columns)), key=lambda place: sum(map(len, columns[place])))
        who = next((place for place in range(said) if 1 < len(set(columns[place])) * 2 <= len(lines)), None)
        names = {said: "said"} if who is None else {said: "said", who: "who"}
        groups = [f"(?<{names.get(place, f'c{place + 1}')}>[^{sign}]*)" for place in range(len(columns))]
        remarks = {
            "turn.text": f"to decide: the longest texts, those of column {said + 1}",
            "dialogue.id": "to decide: a file is a dialogue, unless [lines] begins says with which lines one begins",
        }
        if who is not None:
            remarks["turn.speaker"] = f"to decide: {words(columns[who])}"
        pattern = re.escape(sign).replace("\\\t", r"\t").join(groups)
        turn = TurnFields(text=("said",), speaker=None if who is None else ("who",))
        return _of_lines(pattern, f"each line has {len(columns)} texts, told apart by {sign!r}", turn, remarks=remarks)
    return None


_FEWEST_ROWS = 4
