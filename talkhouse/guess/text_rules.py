"""Rules for texts: with marks of who speaks, in records or files; files of dated, numbered or parted lines."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

from talkhouse.guess.evidence import PAIRS, Guess, dotted, share, words
from talkhouse.guess.field_meanings import with_dialogue
from talkhouse.guess.record_values import ALMOST_ALL, are_texts, column
from talkhouse.guess.sample import Samples
from talkhouse.guess.who_speaks import BOTS, NOBODY_SPEAKS, ROLE_WORDS, USERS, role_words
from talkhouse.ingest.declared.declaration.model import (
    NO_PATH,
    DialogueFields,
    HalfDays,
    JsonPath,
    SpeakerFields,
    TurnFields,
)
from talkhouse.ingest.declared.declaration.toml_text import toml_string
from talkhouse.ingest.declared.documents.transcript import Markers
from talkhouse.ingest.declared.times import read_time

_TRANSCRIPTS = ("text", "transcript", "dialogue", "dialog", "conversation", "chat", "content", "log")

_HALVES = [[half.split() for half in pair] for pair in PAIRS["halves"]]
"""Words for the halves of the day, before noon and after."""
_LATIN = r"[AaPp]\.?[ \x{a0}\x{202f}]?[Mm]\.?"
_DAY = r"(?:[\d./-]{6,}|\d{4}\. ?\d+\. ?\d+\.)"
_NICK = r"<[ @+%&~]?(?<who>[^>]+)>"


def _patterns(halves: str) -> tuple[str, ...]:
    """Return the patterns of lines that begin with a time; ``halves``: that of words for the halves of the day."""
    half = rf"(?:[ \x{{a0}}\x{{202f}}]?(?:{halves}))?"
    at = rf"{_DAY},?[ T](?:(?:{halves}) ?)?[\d:]+{half}"
    clock = rf"\d+:[\d:]+{half}"
    return (
        # WhatsApp on an iPhone and on Android
        rf"\x{{200e}}?\[(?<at>{at})\] (?:(?<who>[^:]+): )?(?<said>.*)",
        rf"(?<at>{at}) - (?:(?<who>[^:]+): )?(?<said>.*)",
        # IRC, with the day, or with the time of day alone
        rf"\[?(?<at>{at})\]? {_NICK} (?<said>.*)",
        rf"\[(?<at>{clock})\] (?:{_NICK} )?(?<said>.*)",
        rf"(?<at>{clock}) (?:{_NICK} )?(?<said>.*)",
        # WeeChat, and others whose columns are told apart by tabs
        rf"(?<at>{at})\t(?:-->|<--|--|=!=| \*|[@+%]?(?<who>[^\t]*))\t(?<said>.*)",
    )


_SEPARATORS = ("__eou__", "<eos>", "<|endofturn|>", "[SEP]", "</s>", " ||| ")
_LEAST_SHARE = 0.5
"""Of the lines: others go on with what a line before says."""
_MOST_LINES = 2_000
_DAYS = ("%d{0}%m{0}", "%m{0}%d{0}")


def transcript(samples: Samples) -> Guess | None:
    """Each record has a text with marks of who speaks."""
    records = samples.records
    known = records.named(_TRANSCRIPTS)
    for path in (*known, *(path for path in records.leaves if path not in known)):
        values = column(records, path)
        if not are_texts(values):
            continue
        texts = [value for value in values if isinstance(value, str)]
        markers = markers_of(texts)
        rare = rare_marks(texts, markers)
        is_open = not markers or len(rare) * 2 > len({*markers.values()}) or _differ(texts, markers)
        if is_open and (lines := _lines_in(texts)) is not None:
            return of_text(samples, path, f"each record has a text {dotted(path)} of lines", lines)
        if not markers and (parted := _parted(texts)) is not None:
            return of_text(samples, path, f"each record has a text {dotted(path)} of turns", parted)
        if markers:
            begins = [str(value).startswith(tuple(markers)) for value in values if value]
            remarks = {"dialogue.text": share(begins, bool, "begin with a mark")}
            fields = {"markers": markers, "remarks": remarks, "notes": {"markers": _to_decide(rare)}}
            return of_text(samples, path, f"each record has a text {dotted(path)} with speaker marks", fields)
    return None


def of_text(samples: Samples, path: JsonPath, reason: str, fields: Mapping[str, Any]) -> Guess:
    """Return the guess of records whose text is at a path, with these fields."""
    guess = with_dialogue(samples, "transcript", reason, [path])
    remarks = {**guess.remarks, **fields["remarks"]}
    return replace(guess, dialogue=replace(guess.dialogue, text=path), **{**fields, "remarks": remarks})


def _differ(texts: Sequence[str], markers: Mapping[str, str]) -> bool:
    """Whether most texts have other speakers than most, so that nobody can list all of them."""
    words = {_word(mark) for mark in markers}
    there = sum(f"{word}:" in text for text in texts for word in words)
    return there * 2 < len(texts) * len(words)


def _lines_in(texts: Sequence[str]) -> dict[str, Any] | None:
    """Return the fields of a guess for texts of lines, where each text begins with who speaks, and most lines do."""
    lines = [line for text in texts for line in text.splitlines()[:_MOST_LINES] if line.strip()][:_MOST_LINES]
    several = sum(len(text.splitlines()) > 1 for text in texts)
    firsts = lines_of([text.lstrip().split("\n", 1)[0].rstrip("\r") for text in texts if text.strip()])
    return lines_of(lines, least=_LEAST_SHARE) if firsts is not None and several * 2 > len(texts) else None


_NAMES = (r"(?<who>[\p{Lu}][^:]{0,40}):(?: (?<said>.*))?", r"(?<who>[^\s:][^:]{0,40}):(?: (?<said>.*))?")


_TAGGED = r"(?:.*?\s)?(?<who>[\p{Lu}]\w*):(?: (?<said>.*))?"
_OF_PIECES = (_NAMES[0], _TAGGED, _NAMES[1])
_OPENING, _OPENED = "<|", r"(?<who>\w+)\|>(?<said>(?s:.*))"


def lines_of(
    lines: Sequence[str], patterns: Sequence[str] = _NAMES, least: float = ALMOST_ALL
) -> dict[str, Any] | None:
    """Return the fields of a guess by lines of names and what they say; None where too few lines are like that."""
    for pattern in patterns:
        found = [match for line in lines if (match := _python(pattern).fullmatch(line))]
        names = Counter(match["who"] for match in found)
        if len(found) < max(2, least * len(lines)) or not any(match["said"] for match in found):
            continue
        key = "role" if {name.lower() for name in names} <= ROLE_WORDS else "speaker"
        remarks = {
            f"turn.{key}": words([match["who"] for match in found]),
            "lines.pattern": f"{len(found):,} of {len(lines):,} lines; the others belong to the turn before",
        }
        if pattern == _TAGGED:
            remarks["lines.pattern"] = "to decide: what stands before a name is left out, what stands behind is a text"
        turn = (
            TurnFields(text=("said",), role=("who",)) if key == "role" else TurnFields(text=("said",), speaker=("who",))
        )
        others = [line for line in lines if not _python(pattern).fullmatch(line)]
        return {
            "lines": {"pattern": pattern},
            "turn": turn,
            "speaker": SpeakerFields("dialogue"),
            "remarks": remarks,
            "roles": role_words(list(names)) if key == "role" else {},
            "notes": {"lines": _to_decide(rare_marks(others, {}))} if rare_marks(others, {}) else {},
        }
    return None


def rare_marks(texts: Sequence[str], markers: Mapping[str, str]) -> Counter[str]:
    """Count what begins a line like a mark, and is none of these."""
    known = {_word(mark) for mark in markers}
    sampled = [text[:_MOST_LETTERS] for text in texts[:_MOST_TEXTS]]
    found = [_word(match[0]) for text in sampled for match in _TOKEN.finditer(text)]
    found += [_word(match[1]) for text in sampled for match in _LIKE_A_MARK.finditer(text)]
    return Counter(word for word in found if word not in known | _ENDS and any(map(str.isalpha, word)))


def _to_decide(rare: Counter[str]) -> tuple[str, ...]:
    return tuple(
        f"to decide: {count:,} line{'s' * (count > 1)} begin{'s' * (count == 1)} like a mark that is none: {word}"
        for word, count in rare.most_common(_MOST_MARKS)
    )


def text_file(samples: Samples) -> Guess | None:
    """Each file is a text."""
    if not all(sample.is_text for sample in samples):
        return None
    texts = [str(record[""]) for record in samples.records]
    lines = list(islice((line for text in texts for line in text.splitlines() if line.strip()), _MOST_LINES))
    if not lines:
        return None
    rules = (
        _mail(lines),
        _dated(lines),
        _separated(lines),
        _marked(texts),
        _script(lines),
        _numbered(lines),
        _in_columns(lines),
    )
    return next((guessed for guessed in rules if guessed is not None), None)


_MAIL = r"From (?<who>.+?) {1,2}(?<at>\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})(?<said>.*)"


def _mail(lines: Sequence[str]) -> Guess | None:
    """Return the messages of a mailbox (mbox), each with its headers."""
    found = [match for line in lines if (match := _python(_MAIL).fullmatch(line))]
    if not found or not _python(_MAIL).fullmatch(lines[0]):
        return None
    turn = TurnFields(text=("said",), speaker=("who",), said_at=("at",))
    remarks = {
        "turn.text": "to decide: a message with its headers, which end at its first empty line",
        "turn.speaker": words([match["who"] for match in found]),
        "dialogue.id": "to decide: a file is a dialogue; threads are not told apart",
    }
    times = {"said_at": "%a %b %d %H:%M:%S %Y"}
    return _of_lines(_MAIL, "its lines are those of a mailbox (mbox)", turn, remarks=remarks, times=times)


def _dated(lines: Sequence[str]) -> Guess | None:
    text = "\n".join(lines)
    words_here = (re.escape(word) for pair in _HALVES for half in pair for word in half if word in text)
    halves = "|".join([_LATIN, *(word for word in words_here if re.search(rf"\d ?{word}|{word} ?\d", text))])
    for pattern in _patterns(halves):
        found = [match for line in lines if (match := _python(pattern).fullmatch(line))]
        speakers = [match["who"] for match in found if match["who"]]
        if len(found) < max(2, _LEAST_SHARE * len(lines)) or len(speakers) < len(found) / 2:
            continue
        times = [match["at"] for match in found]
        words_of_halves = _halves(times, halves)
        forms = list(_forms(times, words_of_halves, halves))
        others = [line for line in lines if _NOBODYS.match(line)]
        rest = {"skip": _NOBODYS.pattern} if others else {}
        remark = f"{len(found):,} of {len(lines):,} lines; the others belong to the turn before"
        turn = TurnFields(text=("said",), speaker=("who",), said_at=("at",) if len(forms) == 1 else None)
        notes = {"turn": _time_notes(times, forms)} if len(forms) != 1 else {}
        remarks = {"turn.speaker": words(speakers), "lines.pattern": remark, "dialogue.id": "a file is a dialogue"}
        reason = "most lines begin with a time, and say who speaks"
        settings = {"times": {"said_at": forms[0]} if len(forms) == 1 else {}, "remarks": remarks, "notes": notes}
        settings |= {"lines": {"pattern": pattern, **rest}} if rest else {}
        if words_of_halves and len(forms) == 1:
            of_day = {half.lower(): [word for word, own in words_of_halves.items() if own == half] for half in _AM_PM}
            settings["also"] = {"times": {key: _listed(some) for key, some in of_day.items() if some}}
        return _of_lines(pattern, reason, turn, **settings)
    return None


_NOBODYS = re.compile(r"(?:---|-!-|===|\*{3,4}|Session \w+:) ")
"""What lines of a log begin with that nobody says, such as the day that has begun."""
_AM_PM = ("AM", "PM")


def _halves(times: Sequence[str], halves: str) -> dict[str, str]:
    """Return the words for the halves of the day, with AM or PM: those of some times, and all that go with them."""
    found: dict[str, str] = {}
    pattern = _python(halves)
    for word in sorted({match[0] for time in times if (match := pattern.search(time))}):
        pair = next((pair for pair in _HALVES if any(word in half for half in pair)), None)
        pair = pair or [[letter + word[1:]] for letter in ("AP" if word[0].isupper() else "ap")]
        for half, own in zip(pair, _AM_PM, strict=True):
            found |= dict.fromkeys(half, own)
    return {} if {word.upper() for word in found} <= {*_AM_PM} else found


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(toml_string, words))}]"


def _of_lines(pattern: str, reason: str, turn: TurnFields, **more: object) -> Guess:
    values: dict[str, object] = {"turn": turn, "speaker": SpeakerFields("dialogue"), "lines": {"pattern": pattern}}
    return Guess("turns", reason, **(values | more))  # type: ignore[arg-type]


def _python(pattern: str) -> re.Pattern[str]:
    """Return a pattern as Python has it; those here are ours, and take time in proportion to a line."""
    pattern = re.sub(r"\\x\{(\w+)\}", lambda match: f"\\u{match[1]:>04}", pattern)
    return re.compile(pattern.replace("(?<", "(?P<").replace(r"[\p{Lu}]", "[A-ZÀ-ÖØ-Þ]"))


def _forms(times: Sequence[str], of_halves: Mapping[str, str], halves: str) -> Iterator[str]:
    """Yield the forms that all of some times have; none where one has no day."""
    first = re.fullmatch(rf"({_DAY})(,?[ T])(.*)", times[0])
    if first is None:
        return
    sign = next((letter for letter in first[1] if not letter.isdigit()), "")
    if first[1].count(sign or "0") != 2 and ". " not in first[1]:
        return
    years = ["%Y" if len(first[1].rpartition(sign)[2]) == 4 else "%y"]
    days = [f"%Y{sign}%m{sign}%d"] if first[1].index(sign) == 4 else [form.format(sign) + years[0] for form in _DAYS]
    if ". " in first[1]:
        days = ["%Y. %m. %d."]
    seconds = ":%S" if first[3].count(":") == 2 else ""
    clock, is_half = _python(halves).subn("%p", first[3])
    clock = re.sub(r"(?<!\d)\d+:[\d:]+", f"%{'I' if is_half else 'H'}:%M{seconds}", clock)
    for day in days:
        form = f"{day}{first[2]}{clock}"
        if all(read_time(time, HalfDays(form, of_halves)).value for time in times):
            yield form


def _time_notes(times: Sequence[str], forms: Sequence[str]) -> tuple[str, ...]:
    if not forms:
        return (f'said_at = "at"  # to do: {times[0]} has no day, or no form that is known; it is kept in extra',)
    choices = " or ".join(f'said_at = "{form}"' for form in forms)
    return (f'said_at = "at"  # to decide: with [times] {choices}: no day here is beyond the 12th',)


def _separated(lines: Sequence[str]) -> Guess | None:
    parted = _parted(lines)
    if parted is None:
        return None
    reason = f"each line is a dialogue, its turns told apart by {parted['separators'][0].strip()}"
    return Guess("transcript", reason, DialogueFields(text=NO_PATH), **parted)


def _parted(texts: Sequence[str]) -> dict[str, Any] | None:
    """Return the fields of a guess for texts with a separator between turns, and perhaps with who says each."""
    ends = sorted(end for end in _ENDS if any(f"{_OPENING}{end}|>" in text for text in texts))
    used = (*(f"{_OPENING}{end}|>{more}" for end in ends for more in (_OPENING, "")), _OPENING)
    pieces = [piece for text in texts if text.startswith(_OPENING) for piece in _pieces(text, used)]
    if len(texts) > 1 and (named := lines_of(pieces, [_OPENED])) is not None:
        return {**named, "separators": used}
    for separator in _SEPARATORS:
        if sum(separator in text for text in texts) < ALMOST_ALL * len(texts):
            continue
        around = (f" {separator} ", f" {separator}", separator)
        is_word = separator.strip() == separator
        used = tuple(form for form in around if is_word and any(form in text for text in texts)) or (separator,)
        named = lines_of([piece for text in texts for piece in _pieces(text, used)], _OF_PIECES)
        named = named or {"notes": {"dialogue": (NOBODY_SPEAKS,)}}
        has = {"dialogue.separator": f"{sum(separator in text for text in texts):,} of {len(texts):,} have it"}
        return {**named, "separators": used, "remarks": {**has, **named.get("remarks", {})}}
    return None


def _pieces(text: str, separators: Sequence[str]) -> list[str]:
    """Return the texts between separators, of which the first that fits counts, without those of blanks alone."""
    return [piece for piece in re.split("|".join(map(re.escape, separators)), text) if piece.strip()]


def _marked(texts: Sequence[str]) -> Guess | None:
    markers = markers_of(texts)
    if not markers:
        return None
    begins = [text.startswith(tuple(markers)) for text in texts]
    remarks = {"dialogue.text": share(begins, bool, "begin with a mark")}
    fields = DialogueFields(text=NO_PATH, record="file")
    reason = "each file is a text with speaker marks"
    notes = {"markers": _to_decide(rare_marks(texts, markers))}
    return Guess("transcript", reason, fields, markers=markers, remarks=remarks, notes=notes)


def _script(lines: Sequence[str]) -> Guess | None:
    named, names = lines_of(lines, _NAMES[:1]), {line.partition(":")[0] for line in lines}
    if named is None or len(names) * 2 > len(lines):
        return None
    which = "to decide: a file is a dialogue, unless [lines] begins says with which lines one begins"
    remarks = {**named["remarks"], "dialogue.id": which}
    return Guess("turns", "each line begins with who speaks", **{**named, "remarks": remarks})


_NUMBERED = r"(?<n>\d+) (?<said>.*)"


def _numbered(lines: Sequence[str]) -> Guess | None:
    found = [match for line in lines if (match := _python(_NUMBERED).fullmatch(line))]
    begun = sum(match["n"] == "1" for match in found)
    steps = sum(int(after["n"]) in (1, int(before["n"]) + 1) for before, after in pairwise(found))
    are_counted = 0 < begun * 2 <= len(found) and steps >= ALMOST_ALL * (len(found) - 1)
    if len(found) < ALMOST_ALL * len(lines) or not are_counted or lines[0][:2] != "1 ":
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
        longest = max(range(len(columns)), key=lambda place: sum(map(len, columns[place])))
        who = next((place for place in range(longest) if 1 < len(set(columns[place])) * 2 <= len(lines)), None)
        names = {longest: "said"} if who is None else {longest: "said", who: "who"}
        groups = [f"(?<{names.get(place, f'c{place + 1}')}>[^{sign}]*)" for place in range(len(columns))]
        remarks = {
            "turn.text": f"to decide: the longest texts, those of column {longest + 1}",
            "dialogue.id": "to decide: a file is a dialogue, unless [lines] begins says with which lines one begins",
        }
        if who is not None:
            remarks["turn.speaker"] = f"to decide: {words(columns[who])}"
        pattern = re.escape(sign).replace("\\\t", r"\t").join(groups)
        turn = TurnFields(text=("said",), speaker=None if who is None else ("who",))
        return _of_lines(pattern, f"each line has {len(columns)} texts, told apart by {sign!r}", turn, remarks=remarks)
    return None


_FEWEST_ROWS = 4


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
_LIKE_A_MARK = re.compile(
    r"^[ \t]*(?:[#*]+ ?)?(\[?(?:[^\W\d_a-z][\w.'\]-]{0,20}(?: [\w.'\]-]{1,20}){0,2}|[^\W\d_]\w{0,20}):)", re.MULTILINE
)
"""Names in any script; those of several words begin with a capital, or with a letter that has none."""
_ENDS = {"im_end", "end", "eot_id", "endoftext", "end_of_text", "begin_of_text"}
"""Tokens with which nobody begins to speak."""
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
            if _word(match[0]) not in _ENDS:
                (later if match.start() else first)[match[0]] += 1
    counts = Counter[str]()
    for mark, count in (first + later).items():
        counts[_word(mark)] += count
    least = max(2, len(texts) // 50) if len(texts) > 1 and pattern is _NAMED else 1
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
    markers = Markers(dict.fromkeys(marks, ""))
    has_two = sum(markers.begin(text) and len(markers.cut(text, "")) > 1 for text in texts)
    almost_all = begins > 1 and begins == len(texts) - 1
    return (begins >= ALMOST_ALL * len(texts) or almost_all) and has_two >= len(texts) / 2


def _word(mark: str) -> str:
    return re.sub(r"im_start|[^\w ]", "", mark).strip()


def _role(mark: str) -> str:
    word = _word(mark).lower().replace(" ", "_")
    return "user" if word in USERS else "assistant" if word in BOTS else word
