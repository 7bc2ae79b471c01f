"""The tables and keys of ``corpus.toml``: the type of each, what it says, and what holds without it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args, get_type_hints

from talkhouse.ingest.contract.declaration import STANDARD_SPLITS
from talkhouse.ingest.declared.declaration.model import (
    NOT_STATED,
    Annotations,
    Context,
    DeclaredTask,
    DialogueFields,
    Format,
    Lines,
)

Type: TypeAlias = Literal[
    "text",
    "word",
    "name",
    "list",
    "choice",
    "flag",
    "address",
    "languages",
    "pattern",
    "path",
    "paths",
    "sign",
    "time",
    "labels",
    "values",
    "winner",
    "texts",
    "regex",
]
"""Of a value: any text; one that is not empty; a name in SQL; a list of texts; one of some words; true or false. The
others are texts with a form of their own, a table of labels with their meanings, one of values to compare with, a text
or a list of texts, a regular expression, and which answer is the best."""


@dataclass(frozen=True)
class Key:
    """A key of a table."""

    type: Type
    meaning: str
    """A line of Markdown."""
    default: str = ""
    """What holds without it, in words; empty: nothing is said."""
    words: tuple[str, ...] = ()
    """Those of a choice."""
    is_required: bool = False
    only: Literal["", "documents", "rows"] = ""
    """Of labels: whether they lie inside JSON, or in columns."""


@dataclass(frozen=True)
class Table:
    """A table, or what stands above the first one."""

    meaning: str
    keys: Mapping[str, Key]
    is_list: bool = False
    """Whether there may be several: ``[[files]]``."""
    any_key: Key | None = None
    """What each key has, where the keys are words of the data."""


def _words(kind: type, name: str) -> tuple[str, ...]:
    return get_args(get_type_hints(kind)[name])


_SPLITS = (*STANDARD_SPLITS, "")

TABLES: Mapping[str, Table] = {
    "": Table(
        "The head: what stands above the first table.",
        {
            "title": Key("word", "What the corpus is called, on one line.", is_required=True),
            "description": Key("text", "What it is, in a sentence or two."),
            "homepage": Key("address", "Its page."),
            "licence": Key("word", "As the publisher says it, best as an SPDX identifier.", f'"{NOT_STATED}"'),
            "licence_url": Key("address", "Where the licence is to be read."),
            "terms": Key("text", "What else is asked of those who use it."),
            "version": Key("text", "The publisher's version."),
            "citation": Key("word", "What is to be cited.", f'"{NOT_STATED}"'),
            "languages": Key("languages", "Codes of ISO 639; a single one is the language of every dialogue."),
            "format": Key(
                "choice", "What a record is: [formats](formats/README.md).", words=get_args(Format), is_required=True
            ),
        },
    ),
    "files": Table(
        "Which files are data. A file that is in none is reported, one in two of them stops the build. Without any, "
        "all files are dialogues.",
        {
            "path": Key(
                "pattern",
                "A path in the corpus's folder, archives as folders; `*`: any letters of a name, `**/`: any folders.",
                is_required=True,
            ),
            "split": Key(
                "word",
                'The split of all their dialogues; of labels only where `[dialogue] ids = "split"`.',
                '`"all"`',
            ),
            "release": Key("word", "The publisher's release that they belong to."),
            "subset": Key("word", "The part of the corpus that they belong to."),
            "holds": Key(
                "choice",
                "What they have; files of `annotations` are taken by `from`.",
                '`"dialogues"`',
                ("dialogues", "annotations"),
            ),
            "skip": Key("word", "They are no data, and why."),
        },
        is_list=True,
    ),
    "dialogue": Table(
        "Where a record, or a row, says what it says of its dialogue.",
        {
            "id": Key(
                "paths",
                "Its id, or a list of what is the id together; the same id in several records is the same dialogue.",
                "path and place",
            ),
            "ids": Key(
                "choice",
                'Where an id means one dialogue; where ids begin again in each file or split, `"file"` or `"split"`.',
                '`"corpus"`',
                _words(DialogueFields, "ids"),
            ),
            "title": Key("paths", "Its title."),
            "split": Key("paths", "Its split, in place of that of the files."),
            "domain": Key("paths", "What it is about, such as the service that is talked to."),
            "language": Key("paths", "Its language.", "that of `languages`, if it is one"),
            "started_at": Key("paths", "When it began: [`[times]`](#times)."),
            "system": Key("paths", "A text that becomes the first turn, of the role `system`."),
            "turns": Key(
                "paths", "The list of its turns; `.*` where they are members of an object; of a tree its first message."
            ),
            "text": Key("paths", 'Of a transcript: the whole text; `"$"`: the text file, or a line of it.'),
            "separator": Key(
                "texts",
                "Of a transcript, in place of `[markers]`: what stands between two turns, letter by letter; of several "
                "the longest counts first.",
            ),
            "record": Key(
                "path",
                'What a record is in a JSON file: `"$"` the file, `"*"` each member of its object, `"data[*]"` each '
                "item of a list inside.",
                "an item of a list, a line or a row",
            ),
        },
    ),
    "turn": Table(
        "The same of a turn.",
        {
            "id": Key("paths", "Its id, which replies and labels name."),
            "text": Key("paths", "What was said."),
            "role": Key("paths", "The role of who said it: [`[roles]`](#roles).", 'the role `"speaker"`'),
            "speaker": Key("paths", "Who said it, by an id or a name: [`[speaker]`](#speaker)."),
            "said_at": Key("paths", "When it was said: [`[times]`](#times)."),
            "reply_to": Key("paths", "The id of the turn that it answers."),
            "kind": Key("paths", "What it is, if not everything is a message.", 'the kind `"message"`'),
            "start_ms": Key("paths", "Where it begins in a recording: [`[times]`](#times)."),
            "end_ms": Key("paths", "Where it ends there."),
            "order": Key(
                "paths",
                'Its place in the dialogue, a number or a time; `"reversed"` where the last turn stands first.',
                "the order in the file",
            ),
            "replies": Key("paths", "Of a tree: the list of the messages that answer it."),
        },
    ),
    "speaker": Table(
        "Whom the `speaker` of a turn means, and what else is known of them.",
        {
            "scope": Key(
                "choice",
                "Whether a name means the same person in the whole corpus, or only within one dialogue.",
                words=("corpus", "dialogue"),
            ),
            "name": Key("paths", "What they are called, beside their id."),
            "is_bot": Key("paths", "True where it is a program."),
        },
    ),
    "speakers": Table(
        "A file that names the speakers, by the ids that turns have. Whom it does not name keeps the id, or the name "
        "that `[speaker]` finds. It is in no `[[files]]`: a pattern that fits it too passes it over.",
        {
            "path": Key("pattern", "Which file, or files.", is_required=True),
            "record": Key("path", "What a record is, as in `[dialogue]`.", "an item of a list, a line or a row"),
            "id": Key("path", "The id of a speaker.", 'where `record = "*"`, the name of the member'),
            "name": Key("paths", "What they are called; of a list, the first that is there and not empty."),
            "is_bot": Key("paths", "True where it is a program."),
        },
    ),
    "pair": Table(
        "The members of an instruction and its answer. Where neither `prompt` nor `response` is named, all have "
        "the names of Alpaca.",
        {
            "system": Key("paths", "The system's text, said first."),
            "history": Key("paths", "A list of pairs of texts that were said before."),
            "prompt": Key("paths", "The instruction."),
            "query": Key("paths", "What it is to be done with."),
            "response": Key("paths", "The answer."),
            "each": Key("paths", "A list of which every item is a pair; the other paths are inside the items."),
            "zip": Key(
                "paths",
                "Two lists, of prompts and of responses: the items at one place are a pair. `prompt` and `response` "
                'are paths in the items, `"$"` of texts.',
            ),
        },
    ),
    "preference": Table(
        "What was preferred to what: texts, messages or lists of messages.",
        {
            "prompt": Key("path", "What was asked; where it is not there, what both begin with."),
            "chosen": Key("path", "The answer that was chosen."),
            "rejected": Key("path", "The one that was not."),
            "answers": Key(
                "paths", "In place of both: a list of answers, or the path of each. The best of them are gold."
            ),
            "text": Key("path", "In an item of the list: the answer.", "the item"),
            "source": Key("paths", "Who made the answer: in the item, or of each answer a path."),
            "score": Key("paths", "The same of a number by which the largest is the best; equal ones are a tie."),
            "rank": Key("paths", "The same of a number by which the smallest is the best."),
            "winner": Key("path", "The record's word for the best answer: [`[winners]`](#winners)."),
        },
    ),
    "winners": Table(
        "Which answer is the best by each word of `[preference] winner`; by any other word nobody knows (GF-26).",
        {},
        any_key=Key("winner", "The number of the best answer, from 1; `all` of a tie, `none` where all are bad."),
    ),
    "markers": Table(
        "What begins a turn in a transcript, letter by letter, and the role of who speaks; the longest counts first.",
        {},
        any_key=Key("word", "The role that speaks behind this marker."),
    ),
    "roles": Table(
        "What the data's words for roles mean; other words stay as they are.",
        {},
        any_key=Key("word", "The role that is meant by this word."),
    ),
    "splits": Table(
        "Which of the standard splits a publisher's split is; `train`, `valid`, `val`, `dev` and `test` need no line.",
        {},
        any_key=Key("choice", 'The standard split that this one is; `""`: none of them.', words=_SPLITS),
    ),
    "times": Table(
        "The form of times that are not ISO 8601: `unix` and `unix_ms` are numbers since 1970, in seconds and "
        "milliseconds; anything else is a pattern of "
        "[strftime](https://docs.python.org/3/library/datetime.html#format-codes). "
        "ISO 8601 is stored by its clock, without the offset from UTC; in UTC, where the times of a file have several "
        "offsets, none lacks one, and all can be read.",
        {
            "said_at": Key("time", "Of the turns.", "ISO 8601; `unix` in convokit"),
            "started_at": Key("time", "Of the dialogues.", "ISO 8601"),
            "start_ms": Key(
                "time",
                "`seconds`, or a pattern of `%H`, `%M`, `%S` and `%f`, whose hours may be more than 23.",
                "whole milliseconds",
            ),
            "end_ms": Key("time", "The same, of their ends.", "that of `start_ms`"),
        },
    ),
    "dialect": Table(
        "How the cells of CSV and TSV are told apart.",
        {
            "delimiter": Key("sign", "What stands between two cells.", "a comma; in `.tsv` a tab"),
            "quoteChar": Key("sign", 'What stands around a cell; `""`: quotes are letters like others.', "`'\"'`"),
            "escapeChar": Key("sign", "What stands before a quote inside of quotes.", "another quote"),
            "header": Key("flag", "`false`: files of dialogues begin with a row, not with the names.", "`true`"),
            "names": Key("list", "The names of their columns, in order, where `header = false`."),
        },
    ),
    "lines": Table(
        "How the lines of a text file (`.txt`, `.text`, `.log`) are rows. A line that the pattern does not fit belongs "
        "to the turn before. Patterns are those of [Rust](https://docs.rs/regex/latest/regex/#syntax), which has no "
        "look-ahead.",
        {
            "pattern": Key(
                "regex",
                "A regular expression that fits a whole line; its named groups, `(?<who>...)`, are the columns.",
                is_required=True,
            ),
            "begins": Key(
                "regex",
                "One that fits the beginning of the lines with which a dialogue begins; `^$` is an empty line.",
                "a file is a dialogue",
            ),
            "turns": Key(
                "choice",
                "Where `text` in `[turn]` is a list of groups: `first`, the first that says something is the turn; "
                "`each`, a line has several turns, and the groups before a text belong to it.",
                '`"first"`',
                _words(Lines, "turns"),
            ),
        },
    ),
    "annotations": Table(
        "A scheme of labels or numbers, and where in the data these are. In JSON they stand in the turn or record, in "
        "a list (`each`), or in a list for each annotator (`by`). In rows they are columns, or rows of a file of their "
        "own (`from`).",
        {
            "scheme": Key("name", "Its name; in the warehouse the corpus's id stands before it.", is_required=True),
            "description": Key("text", "What was asked of the annotators."),
            "on": Key("choice", "What the labels are about.", words=_words(Annotations, "on")),
            "labels": Key("labels", 'The labels with their meanings; `"open"`: whatever occurs.', '`"open"`'),
            "missingValues": Key("list", "Values that are no label."),
            "label": Key("path", "A label; behind `[*]` several."),
            "value": Key("path", "A number in place of a label, or beside it."),
            "annotator": Key("path", "Who gave it.", "the place in the list of `by`"),
            "start": Key("path", "Where the labelled words begin in the turn's text, counted from 0."),
            "end": Key("path", "Where they end: the place behind the last letter."),
            "offsets": Key(
                "choice",
                "What `start` and `end` count; browsers count `utf-16`.",
                '`"code points"`',
                _words(Annotations, "offsets"),
            ),
            "turn": Key(
                "path",
                'Of which turn: its id where `[turn] id` is declared, else its index; `"#"`: its place in the list.',
            ),
            "by": Key(
                "path", "A list of which every item is an annotator's; `$.` begins at the record.", only="documents"
            ),
            "each": Key(
                "path",
                "A list with a label in every item: inside the turn or the item of `by`; `$.` begins at the record.",
                only="documents",
            ),
            "only": Key("values", "Members that an item must have with these values.", only="documents"),
            "skip": Key(
                "path", "In the items of `by`: true where the annotator's work does not count.", only="documents"
            ),
            "columns": Key("list", "A column for each annotator, who are 0, 1 and so on.", only="rows"),
            "from": Key("pattern", "Files of labels, a row a label; the paths are columns of theirs.", only="rows"),
            "dialogue": Key("paths", "In such files: the dialogue's id, or a list as `[dialogue] id`.", only="rows"),
        },
        is_list=True,
    ),
    "tasks": Table(
        "A task: a view of its examples, and one for each split.",
        {
            "name": Key("name", "Its name, and that of its view.", is_required=True),
            "kind": Key(
                "choice",
                "What an example is: the next turn, a labelled turn or dialogue, a turn with labelled words, two "
                "answers. A lake has no view of `spans`.",
                words=_words(DeclaredTask, "kind"),
                is_required=True,
            ),
            "scheme": Key("word", "The scheme whose labels are asked for; not for `next_turn` and `preference`."),
            "role": Key("word", "Whose turns are asked for in `next_turn`.", "everybody's"),
            "context": Key(
                "choice",
                "What stands before the turn: `replies`, the turns that it answers, up to the first message; `turns`, "
                "all turns before it, as in a chat in which some messages quote others.",
                "`replies` in `tree` and `convokit`, where the turns are members of an object (`.*`), and in a "
                "dialogue in which all turns but one answer another; else `turns`",
                get_args(Context),
            ),
            "description": Key("text", "What is to be done, in a sentence."),
        },
        is_list=True,
    ),
}
"""The tables by their names; the head has none."""

HEAD = tuple(TABLES[""].keys)
"""What stands above the first table."""
