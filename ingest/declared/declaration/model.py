"""A declaration, as ``corpus.toml`` gives it, with the defaults of its format filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import EllipsisType
from typing import Any, Literal, Self, TypeAlias

from talkhouse.schema.errors import RegistryError

Format: TypeAlias = Literal[
    "chat", "sharegpt", "pairs", "preference", "transcript", "tree", "dialogue", "turns", "convokit"
]

FORMATS_VERSION = 7
"""Raised when the formats are read into other rows: corpora of a page of TOML are then loaded again."""

NOT_STATED = "not stated"
"""The licence and the citation of a declaration that has none."""

ISO = "iso"
ISO_UTC, ISO_OFFSET = "iso_utc", "iso_offset"
"""ISO 8601, stored in UTC where it has an offset; and its offset alone, since 1970. It is the times of a file that say
so, never a declaration (``offsets``)."""
UNIX = {"unix": 1_000_000, "unix_ms": 1_000}
"""Forms of a time that are no pattern; of numbers since 1970 also the microseconds of the unit."""

MOMENTS = ("start_ms", "end_ms")
"""Keys of moments in a recording."""

SECONDS = "seconds"
"""The form of a moment in a recording that is a number of seconds."""

JsonPath: TypeAlias = tuple[str | int | EllipsisType | None, ...]
"""Names to go down by, a number for one item of a list (``[0]``), None for every item of a list (``[*]``), and ``...``
for every member of an object (``.*``): ``labels.quality.value`` is three names.

Of rows it is one name, that of the column; of ConvoKit's utterances it may go down into their members."""

NO_PATH: JsonPath = ()
"""The thing itself: ``$``."""

REVERSED = "reversed"
"""As ``[turn] order``: the last turn stands first."""

WHOLE: JsonPath = ("",)
"""Where a record that is no object is the whole of it: a text file, or a line of one."""

Fallbacks: TypeAlias = Mapping[str, tuple[JsonPath, ...]]
"""Of keys that have a list of paths: those behind the first, which count in this order where it leads to nothing."""


class HalfDays(str):
    """A pattern of strftime with other words than AM and PM."""

    words: tuple[tuple[str, str], ...]

    def __new__(cls, pattern: str, words: Mapping[str, str] = {}) -> Self:
        """``words``: word -> AM or PM; the longest counts first."""
        form = super().__new__(cls, pattern)
        form.words = tuple(sorted(words.items(), key=lambda item: -len(item[0])))
        return form

    def as_english(self, text: str) -> tuple[str, str]:
        """Return a time with AM or PM, and the pattern of the text as it is."""
        for word, english in self.words:
            if word in text:
                return text.replace(word, english, 1), self.replace("%p", word.replace("%", "%%"))
        return text, str(self)


RecordForm: TypeAlias = Literal["item", "file", "member"] | JsonPath
"""What a record is in a JSON file: an item of its list, all of it (``$``), or a member of its object (``*``); or the
path of records further inside, which ends in every item or every member."""


Repair: TypeAlias = Literal["latin1-utf8", "windows1252-utf8"]
"""For what the UTF-8 of files was taken."""


@dataclass(frozen=True)
class Files:
    """A ``[[files]]``: which files, and what they are."""

    path: str
    """A pattern of paths inside the corpus's folder, archives as folders."""
    line: int
    """Line of the path in ``corpus.toml``; 0 where options declare it."""
    split: str | None = None
    release: str | None = None
    subset: str | None = None
    holds: Literal["dialogues", "annotations", "speakers"] = "dialogues"
    skip: str | None = None
    """Why these files are no data, or None if they are."""
    repair: Repair | None = None
    """What is wrong with their texts, and mended."""


@dataclass(frozen=True)
class DialogueFields:
    """``[dialogue]``: where a record or row says what it says of the dialogue."""

    id: JsonPath | None = None
    id_parts: tuple[JsonPath, ...] = ()
    """What is the id together, where that is in several places; ``id`` is None then."""
    ids: Literal["corpus", "file", "split"] = "corpus"
    """Where an id means one dialogue."""
    is_folder: bool = False
    """Whether all files of a folder are one dialogue, in their order."""
    title: JsonPath | None = None
    split: JsonPath | None = None
    domain: JsonPath | None = None
    language: JsonPath | None = None
    started_at: JsonPath | None = None
    system: JsonPath | None = None
    """A text that becomes the first turn."""
    turns: JsonPath | None = None
    """The list of turns, without ``[*]`` at its end, or the object whose members they are, with or without ``.*``; of
    a tree the first message; of pairs nothing."""
    text: JsonPath | None = None
    """Of a transcript: the whole text."""
    record: RecordForm = "item"
    fallbacks: Fallbacks = field(default_factory=dict)
    are_bare: bool = False
    """Whether a record may be no object: each is read as ``{"": record}``, and the paths begin with the name ""."""
    may_lack_id: bool = False
    """Whether only the format names the id, not the declaration: then a record may have none."""


@dataclass(frozen=True)
class TurnFields:
    """``[turn]``: the same of a turn."""

    id: JsonPath | None = None
    text: JsonPath | None = None
    role: JsonPath | None = None
    speaker: JsonPath | None = None
    said_at: JsonPath | None = None
    reply_to: JsonPath | None = None
    kind: JsonPath | None = None
    order: JsonPath | None = None
    """The place of a turn in its dialogue, a number; without it they stand in their order, those of ConvoKit and those
    that are members of an object behind what they reply to."""
    is_reversed: bool = False
    """Whether the last turn of a dialogue stands first."""
    replies: JsonPath | None = None
    start_ms: JsonPath | None = None
    end_ms: JsonPath | None = None
    fallbacks: Fallbacks = field(default_factory=dict)
    beside: Mapping[str, JsonPath] = field(default_factory=dict)
    """``role``, ``speaker``, where these stand in a list of the record: its item at a turn's place is the turn's."""


@dataclass(frozen=True)
class SpeakerFields:
    """``[speaker]``: the scope of a name, and the paths of the other facts about a speaker."""

    scope: Literal["corpus", "dialogue"] = "corpus"
    """Where a name means one speaker: in the corpus (``corpus:name``), or in a dialogue (``dialogue_id/name``)."""
    name: JsonPath | None = None
    is_bot: JsonPath | None = None
    fallbacks: Fallbacks = field(default_factory=dict)


@dataclass(frozen=True)
class SpeakersFile:
    """``[speakers]``: a file that says what speakers are called."""

    files: Files
    """Which it is; what ``[[files]]`` fits it too does not have it."""
    id: JsonPath | None = None
    """None: the name of the member that a record is."""
    names: tuple[JsonPath, ...] = ()
    """The first that is there and not empty counts."""
    is_bot: tuple[JsonPath, ...] = ()
    record: RecordForm = "item"


@dataclass(frozen=True)
class ZippedLists:
    """``[pair] zip``: two lists, of which the items at one place are a pair; without ``[*]`` at their ends."""

    prompts: JsonPath
    responses: JsonPath


@dataclass(frozen=True)
class PairFields:
    """``[pair]``: the members of an instruction and its answer."""

    system: JsonPath | None = None
    history: JsonPath | None = None
    prompt: JsonPath | None = None
    query: JsonPath | None = None
    response: JsonPath | None = None
    each: JsonPath | None = None
    """A list of which every item is a pair, one after the other; without ``[*]`` at its end."""
    zip: ZippedLists | None = None
    """Where prompts and responses are two lists; ``prompt`` and ``response`` are then inside their items."""
    fallbacks: Fallbacks = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerFields:
    """``[preference] answers``: several answers, and by what some of them are better."""

    paths: tuple[JsonPath, ...]
    """Of each answer; of a list of answers one, without ``[*]`` at its end."""
    is_list: bool
    """Whether the answers are the items of a list; then the other paths are inside these, else of the record."""
    text: JsonPath = NO_PATH
    """In an item: the answer."""
    source: tuple[JsonPath, ...] = ()
    """Who made it: for each of the paths one."""
    score: tuple[JsonPath, ...] = ()
    """A number, the largest of which is the best."""
    rank: tuple[JsonPath, ...] = ()
    """A number, the smallest of which is the best."""
    winner: JsonPath | None = None
    """The word of the record that says which answer is the best."""
    winners: Mapping[str, int | str] = field(default_factory=dict)
    """Word -> the number of the best answer, from 1, ``all`` or ``none``."""


@dataclass(frozen=True)
class PreferenceFields:
    """``[preference]``: what was preferred to what."""

    prompt: JsonPath | None = None
    chosen: JsonPath | None = None
    rejected: JsonPath | None = None
    answers: AnswerFields | None = None
    """In place of chosen and rejected."""


@dataclass(frozen=True)
class Dialect:
    """``[dialect]``: how cells are told apart."""

    delimiter: str | None = None
    """None: by the ending, a tab for .tsv, else a comma."""
    quote_char: str = '"'
    """Empty: quotes are letters like others."""
    escape_char: str = ""
    """What stands before a quote inside of quotes; empty: another quote."""
    names: tuple[str, ...] = ()
    """The columns of files of dialogues that have no header; empty: they have one."""


@dataclass(frozen=True)
class Lines:
    """``[lines]``: how a line of a text file is a row, or a line of a record's text a turn."""

    pattern: str
    """A regular expression that fits a whole line; its named groups are the columns."""
    groups: tuple[str, ...]
    """Their names."""
    begins: str | None = None
    """One that fits the beginning of the lines with which a dialogue begins; None: a file is a dialogue."""
    turns: Literal["first", "each"] = "first"
    """Of several groups that may be a turn's text: the first that says something, or each that does is a turn."""
    skip: str | None = None
    """One that fits the beginning of lines that nobody says."""


@dataclass(frozen=True)
class Annotations:
    """An ``[[annotations]]``: a scheme, and where its labels are."""

    scheme: str
    """Without the corpus's name."""
    line: int
    description: str = ""
    on: Literal["turn", "dialogue", "response", "record"] = "turn"
    labels: Mapping[str, str] | None = None
    """Labels with their meanings; None: whatever occurs (``"open"``, or not declared)."""
    missing_values: tuple[str, ...] = ()
    """Values that are no label."""
    label: JsonPath | None = None
    value: JsonPath | None = None
    annotator: JsonPath | None = None
    columns: tuple[str, ...] = ()
    """Of rows: a column for each annotator, who are 0, 1 ..."""
    by: JsonPath | None = None
    """A list of which every item is an annotator's; other paths are inside it. ``$.`` begins at the record."""
    by_record: bool = False
    """Whether ``by`` begins at the record, not at the turn."""
    each: JsonPath | None = None
    """A list of which every item has a label, inside ``by`` if that is given."""
    each_by_record: bool = False
    """Whether ``each`` begins at the record (``$.``), not at the turn."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Members that an item must have with these values."""
    skip: JsonPath | None = None
    """Inside ``by``: a member that is true where the annotator's work does not count."""
    turn: JsonPath | None = None
    """Which turn is meant: its id where ids are mapped, else its index."""
    turn_is_position: bool = False
    """``turn = "#"``: the item's place in its list is the turn's index."""
    start: JsonPath | None = None
    end: JsonPath | None = None
    offsets: Literal["code points", "utf-16"] = "code points"
    from_file: str | None = None
    """A pattern of files of labels, a row a label: the paths are columns of theirs."""
    dialogue: JsonPath | None = None
    """In such files: the dialogue's id."""
    dialogue_parts: tuple[JsonPath, ...] = ()
    """The same where the id is in several columns."""


Context: TypeAlias = Literal["replies", "turns"]
"""What comes before a turn, to a task: its path through replies, up to the first message, or all turns."""


@dataclass(frozen=True)
class DeclaredTask:
    """A ``[[tasks]]``: examples made from a template."""

    name: str
    kind: Literal["next_turn", "turn_label", "dialogue_label", "spans", "preference"]
    line: int
    scheme: str | None = None
    """Without the corpus's name."""
    role: str | None = None
    context: Context | None = None
    """What comes before a turn; None: what ``Declaration.context`` says."""
    description: str = ""


DrawnKind: TypeAlias = Literal["number", "table", "bar", "line", "heatmap"]
DrawnGrain: TypeAlias = Literal["year", "month", "week", "day", "hour", "weekday"]
"""Kinds of charts, and units of a time along one."""


@dataclass(frozen=True)
class DeclaredChart:
    """A ``[[charts]]``: what it says stands in the dashboard of the corpus, and is checked there."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Declaration:
    """A corpus as ``corpus.toml`` declares it."""

    corpus_id: str
    text: str
    """The declaration, verbatim; it is kept in ``main.corpora``."""
    place: str
    """What messages call it: ``kitchen_chat/corpus.toml``."""
    title: str
    format: Format
    files: tuple[Files, ...]
    dialogue: DialogueFields = DialogueFields()
    turn: TurnFields = TurnFields()
    speaker: SpeakerFields = SpeakerFields()
    speakers: SpeakersFile | None = None
    pair: PairFields = PairFields()
    preference: PreferenceFields = PreferenceFields()
    dialect: Dialect = Dialect()
    lines: Lines | None = None
    markers: Mapping[str, str] = field(default_factory=dict)
    """Literal text -> role."""
    separators: tuple[str, ...] = ()
    """Of a transcript: what stands between two turns, in place of marks; the first is the usual one."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """The file's word -> ours."""
    splits: Mapping[str, str | None] = field(default_factory=dict)
    """The publisher's split -> train, validation or test, or None if it is none of these."""
    times: Mapping[str, str] = field(default_factory=dict)
    """said_at, started_at -> ``unix``, ``unix_ms`` or a pattern of strftime; else they are ISO 8601.

    start_ms, end_ms -> ``seconds`` or a pattern of a clock; else they are whole milliseconds."""
    annotations: tuple[Annotations, ...] = ()
    tasks: tuple[DeclaredTask, ...] = ()
    charts: tuple[DeclaredChart, ...] = ()
    description: str = ""
    homepage: str = ""
    licence: str = NOT_STATED
    licence_url: str | None = None
    terms: str = ""
    version: str = ""
    citation: str = NOT_STATED
    languages: tuple[str, ...] = ()
    folder: Path | None = None
    """Where it lies; None for one that a warehouse holds, or that a command's options make."""

    @property
    def context(self) -> Context | None:
        """What comes before a turn, where no task says it; None: its path where the dialogue is one tree, or else all.

        A format of trees means paths. Elsewhere a reply may be a quotation in a chat, which goes on by time.
        """
        if self.turn.reply_to is None and self.turn.replies is None:
            return "turns"
        are_nodes = self.dialogue.turns is not None and self.dialogue.turns[-1:] == (...,)
        return "replies" if are_nodes or self.format in ("tree", "convokit") else None

    def scheme(self, name: str) -> str:
        """Return the full name of a scheme, which begins with the corpus's."""
        return f"{self.corpus_id}.{name}"


def beside(declaration: Declaration) -> Declaration:
    """Return the declaration for files other than those of dialogues, which have a header of their own."""
    return replace(declaration, dialect=replace(declaration.dialect, names=()))


_LONGEST_PATTERN = 1_000

EVERYTHING = "**"
"""The pattern of all files: ``**`` stands for any folders, at the end for whatever is in them."""


def pattern_problem(pattern: str) -> str | None:
    """Return why a pattern can be none, or None."""
    parts = pattern.split("/")
    if not pattern or len(pattern) > _LONGEST_PATTERN:
        return f"a pattern has 1 to {_LONGEST_PATTERN:,} letters, not {len(pattern):,}"
    if pattern.startswith("/") or ".." in parts or (parts[0][1:] == ":" and parts[0][0].isalpha()):
        return f"{pattern!r} leads out of the corpus's folder"
    if "\\" in pattern:
        return f"{pattern!r}: folders are told apart by '/', not by a backslash"
    if parts[-1] == "":
        return f"{pattern!r} names a folder; all that is in it is '{pattern}**'"
    if "." in parts or "" in parts:
        return f"{pattern!r} has a part without a name"
    if any("**" in part and part != "**" for part in parts):
        return f"{pattern!r}: '**' stands for folders, so it stands alone between '/'"
    return None


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern fits the whole of a path inside the corpus's folder, archives as folders.

    ``*`` is any letters of one name, ``**`` any folders; everything else is itself. Takes time in proportion to both.
    """
    if "*" not in pattern:
        return pattern == path
    first, *others = _groups(pattern)
    parts = path.split("/")
    if not others:
        return len(first) == len(parts) and _fit(first, parts, 0)
    *middle, last = others
    end = len(parts) - max(len(last), 1)
    if end < len(first) or not _fit(first, parts, 0) or not _fit(last, parts, len(parts) - len(last)):
        return False
    at = len(first)
    for group in middle:
        while at + len(group) <= end and not _fit(group, parts, at):
            at += 1
        at += len(group)
        if at > end:
            return False
    return True


def which(declaration: Declaration, path: str) -> Files | None:
    """Return the ``[[files]]`` that a file belongs to, None for a file in none.

    Raises RegistryError, with the lines of both, where there are two.
    """
    if declaration.speakers is not None and matches(declaration.speakers.files.path, path):
        return declaration.speakers.files
    fitting = [files for files in declaration.files if matches(files.path, path)]
    if len(fitting) > 1:
        first, second = fitting[:2]
        raise RegistryError(
            f"the file {path!r} is in two [[files]]",
            where=_place(declaration, second),
            expected="each file in exactly one",
            found=" and ".join(f"path = {files.path!r} ({_place(declaration, files)})" for files in (first, second)),
            next_step="narrow one of the patterns, or remove one of the two",
        )
    return fitting[0] if fitting else None


def _place(declaration: Declaration, files: Files) -> str:
    return f"{declaration.place}:{files.line}" if files.line else declaration.place


@lru_cache(maxsize=4096)
def _groups(pattern: str) -> list[list[list[str]]]:
    """Split a pattern at each ``**`` into groups of names, and each name at each ``*``."""
    groups: list[list[list[str]]] = [[]]
    for part in pattern.split("/"):
        if part == EVERYTHING:
            groups.append([])
        else:
            groups[-1].append(part.split("*"))
    return groups


def _fit(group: list[list[str]], parts: list[str], at: int) -> bool:
    return all(_fits(pieces, part) for pieces, part in zip(group, parts[at : at + len(group)], strict=True))


def _fits(pieces: list[str], name: str) -> bool:
    first, *others = pieces
    if not others:
        return name == first
    *middle, last = others
    end = len(name) - len(last)
    if not name.startswith(first) or not name.endswith(last) or end < len(first):
        return False
    at = len(first)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


ALL = "all"
"""The split of a corpus that has none."""

_WORDS = {
    "train": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
}
"""The Hub's words in the names of files and splits (Hugging Face, "Structure your repository")."""


class Splits(dict[str, str | None]):
    """The splits that a declaration names, each with its standard split; with a column of splits, any other is one."""

    def __init__(self, declaration: Declaration) -> None:
        self._meanings = declaration.splits
        self._is_open = declaration.dialogue.split is not None
        named = [files.split or ALL for files in declaration.files if files.holds == "dialogues" and not files.skip]
        super().__init__({split: self.standard(split) for split in named or [ALL]})

    def standard(self, split: str) -> str | None:
        """Return the standard split that a publisher's split means, by ``[splits]`` or the Hub's words."""
        return standard_split(split, self._meanings)

    def __contains__(self, split: object) -> bool:
        return self._is_open or super().__contains__(split)

    def __missing__(self, split: str) -> str | None:
        if not self._is_open:
            raise KeyError(split)
        return self.standard(split)


def standard_split(word: str, meanings: Mapping[str, str | None]) -> str | None:
    """Return train, validation or test where a word means that, else None."""
    return meanings.get(word, _WORDS.get(word.lower()))
