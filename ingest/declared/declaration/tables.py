"""The formats, and the head and tables of a declaration: which keys each format takes, and what they mean."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from talkhouse.ingest.contract.declaration import ADDRESS, LANGUAGE, STANDARD_SPLITS
from talkhouse.ingest.declared.declaration.keys import HEAD, TABLES
from talkhouse.ingest.declared.declaration.model import (
    EVERYTHING,
    PLACES,
    SECONDS,
    UNIX,
    Dialect,
    DialogueFields,
    Files,
    Format,
    JsonPath,
    PairFields,
    PreferenceFields,
    SpeakerFields,
    TurnFields,
    pattern_problem,
)
from talkhouse.ingest.declared.declaration.table import DeclarationTable, one_of, read_path


@dataclass(frozen=True)
class Form:
    """What a declaration of one format may say."""

    fields: Mapping[str, tuple[str, ...]]
    """Table -> the keys that it may have: ``[dialogue]``, ``[turn]``, ``[pair]``, ``[preference]``."""
    tables: frozenset[str]
    """The other tables that mean something."""
    defaults: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Table -> key -> the path that it has where none is declared."""
    needs: tuple[tuple[str, str], ...] = ()
    """Tables and keys without which nothing can be read."""
    may_be_none: tuple[tuple[str, str], ...] = ()
    """Tables and keys whose default a record may lack, and ``""`` takes away."""
    needs_markers: bool = False
    is_rows: bool = False
    """Whether paths are names of columns."""
    scope: Literal["corpus", "dialogue"] = "dialogue"
    """Where a speaker's name means somebody."""
    times: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    label_targets: tuple[str, ...] = ("turn", "dialogue", "record")
    """What labels may be about (``on``), the default first."""
    turns_are_objects: bool = True
    """Whether labels may stand in a turn."""
    has_label_files: bool = False
    """Whether labels may lie in files of their own (``from``)."""


_OF_DIALOGUE = ("id", "title", "split", "domain", "language", "started_at")
_OF_TURN = ("id", "text", "role", "speaker", "said_at", "reply_to", "kind", "start_ms", "end_ms")
_PEOPLE = frozenset({"speaker", "roles", "times", "dialect"})

_LIST_OF_TURNS: Mapping[str, tuple[str, ...]] = {
    "dialogue": (*_OF_DIALOGUE, "system", "turns", "record"),
    "turn": _OF_TURN,
}

ALPACA = {"system": "system", "history": "history", "prompt": "instruction", "query": "input", "response": "output"}
"""The names of pairs that are not declared (Alpaca; with history and system, LLaMA-Factory)."""

FORMS: Mapping[Format, Form] = {
    "chat": Form(
        fields=_LIST_OF_TURNS,
        tables=_PEOPLE,
        defaults={
            "dialogue": {"turns": "messages"},
            "turn": {"role": "role", "text": "content", "speaker": "name"},
        },
    ),
    "sharegpt": Form(
        fields=_LIST_OF_TURNS,
        tables=_PEOPLE,
        defaults={
            "dialogue": {"id": "id", "system": "system", "turns": "conversations"},
            "turn": {"role": "from", "text": "value"},
        },
        may_be_none=(("dialogue", "id"), ("dialogue", "system")),
        roles={
            "human": "user",
            **dict.fromkeys(("gpt", "chatgpt", "bing", "bard", "function_call"), "assistant"),
            "observation": "tool",
        },
    ),
    "pairs": Form(
        fields={
            "dialogue": (*_OF_DIALOGUE, "record"),
            "pair": ("system", "history", "prompt", "query", "response", "each"),
        },
        tables=frozenset({"times", "dialect"}),
        needs=(("pair", "prompt"), ("pair", "response")),
        label_targets=("response", "turn", "dialogue", "record"),
        turns_are_objects=False,
    ),
    "preference": Form(
        fields={
            "dialogue": (*_OF_DIALOGUE, "record"),
            "preference": ("prompt", "chosen", "rejected"),
            "turn": ("role", "text"),
        },
        tables=frozenset({"roles", "times", "dialect", "markers"}),
        defaults={
            "preference": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
            "turn": {"role": "role", "text": "content"},
        },
        label_targets=("response", "turn", "dialogue", "record"),
        turns_are_objects=False,
    ),
    "transcript": Form(
        fields={"dialogue": (*_OF_DIALOGUE, "text", "record")},
        tables=frozenset({"times", "dialect", "markers"}),
        defaults={"dialogue": {"text": "text"}},
        needs_markers=True,
        label_targets=("dialogue", "turn", "record"),
        turns_are_objects=False,
    ),
    "tree": Form(
        fields={"dialogue": (*_OF_DIALOGUE, "turns", "record"), "turn": (*_OF_TURN[:7], "replies")},
        tables=_PEOPLE,
        defaults={
            "dialogue": {"turns": "prompt"},
            "turn": {"id": "message_id", "text": "text", "role": "role", "replies": "replies"},
        },
        scope="corpus",
    ),
    "dialogue": Form(
        fields=_LIST_OF_TURNS,
        tables=_PEOPLE,
        needs=(("dialogue", "turns"), ("turn", "text")),
        scope="corpus",
    ),
    "turns": Form(
        fields={"dialogue": _OF_DIALOGUE, "turn": (*_OF_TURN, "order")},
        tables=_PEOPLE,
        needs=(("turn", "text"),),
        is_rows=True,
        scope="corpus",
        label_targets=("turn", "dialogue"),
        has_label_files=True,
    ),
    "convokit": Form(
        fields={"dialogue": _OF_DIALOGUE, "turn": (*_OF_TURN, "order")},
        tables=_PEOPLE - {"dialect"},
        defaults={
            "dialogue": {"id": "conversation_id"},
            "turn": {"id": "id", "text": "text", "speaker": "speaker", "said_at": "timestamp", "reply_to": "reply-to"},
        },
        scope="corpus",
        times={"said_at": "unix"},
    ),
}


def facts_of(whole: DeclarationTable) -> dict[str, Any]:
    """Return the values of the fields of Declaration that describe the corpus."""
    whole.check_keys((*HEAD, *(name for name in TABLES if name)))
    for key, expected in (("title", 'title = "..."'), ("format", f"one of: {', '.join(FORMS)}")):
        if key not in whole:
            whole.fail(key, f"the declaration has no {key}", expected=expected, next_step=_above_tables(whole, key))
    facts: dict[str, Any] = {}
    for key in (key for key in HEAD if key in whole):
        facts[key] = whole.text(key) if TABLES[""].keys[key].type == "address" else whole.get(key)
    if len(facts["title"].splitlines()) > 1:
        whole.wrong("title", "one line")
    for key in ("homepage", "licence_url"):
        if facts.get(key) and not ADDRESS.fullmatch(facts[key]):
            whole.wrong(key, "an address that begins with https://")
    for language in facts.get("languages", ()):
        if not LANGUAGE.fullmatch(language):
            whole.wrong("languages", f"codes of ISO 639, such as 'en'; {language!r:.50} is none")
    return facts


def _above_tables(whole: DeclarationTable, key: str) -> str:
    """Return where a key belongs, if it stands below the head of a table and so is that table's."""
    below = [name for name, value in whole.values.items() for table in _tables_in(value) if key in table]
    if below:
        return f"it stands in [{below[0]}]: move it above the first table"
    return "write it above the first [table]"


def _tables_in(value: object) -> list[dict[str, object]]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


_KINDS = {"dialogue": DialogueFields, "turn": TurnFields, "pair": PairFields, "preference": PreferenceFields}
_OTHERS = ("speaker", "roles", "times", "dialect", "markers")

_LISTS = {("dialogue", "turns"), ("turn", "replies"), ("pair", "each")}
_MAY_BE_ALL = {("turn", "text")}
"""What may be the thing itself: turns that are texts."""

_RECORDS = {"$": "file", "*": "member"}
_DIRECTIVE = re.compile(r"%(.?)", re.DOTALL)
_DIRECTIVES = frozenset("aAwdbBmyYHIpMSfzZjUWcxXGuV%")
"""Of ``datetime.strptime``."""


def fitting_keys(name: str, format_: Format) -> list[str] | None:
    """Return the keys that a table may have in a format; None where it means nothing there."""
    form = FORMS[format_]
    if name in form.fields:
        return list(form.fields[name])
    if name in _KINDS or (name in _OTHERS and name not in form.tables):
        return None
    here = "rows" if form.is_rows else "documents"
    return [key for key, known in TABLES[name].keys.items() if known.only in ("", here)]


def check_tables(whole: DeclarationTable, format_: Format) -> None:
    """Refuse a table that means nothing in a format."""
    for name in (*_KINDS, *_OTHERS):
        if name in whole and fitting_keys(name, format_) is None:
            fitting = [other for other in FORMS if fitting_keys(name, other) is not None]
            whole.fail(
                name,
                f"[{name}] means nothing in format = {format_!r}",
                expected=f"it is for {', '.join(fitting)}",
                next_step="remove the table, or check the format",
            )


def fields_of(whole: DeclarationTable, format_: Format) -> dict[str, Any]:
    """Return the fields of Declaration that name places in the data, with the format's own where none is declared."""
    form = FORMS[format_]
    fields: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        keys = form.fields.get(name, ())
        table = whole.table(name)
        advice = dict.fromkeys(HEAD, "write it above the first [table]")
        advice |= {key: f"write it below [{other}]" for other in form.fields for key in form.fields[other]}
        table.check_keys(keys, format_, advice)
        paths: dict[str, Any] = {key: read_path(text).names for key, text in _defaults(form, table, name).items()}
        for key in (key for key in table.values if key != "record"):
            is_none = (name, key) in form.may_be_none and table.values[key] == ""
            paths[key] = None if is_none else path_of(table, name, key, form)
        if "record" in table:
            paths["record"] = _RECORDS[table.get("record")]
        for needed in (key for of_table, key in form.needs if of_table == name and key not in paths):
            whole.fail(
                name if name in whole else "format",
                f"format = {format_!r} needs {needed!r} in [{name}]",
                expected=f'[{name}] {needed} = "what the data calls it"',
            )
        if (name, "id") in form.may_be_none and "id" not in table:
            paths |= {"may_lack_id": True} if paths.get("record") != "member" else {"id": None}
        fields[name] = kind(**paths)
    fields["speaker"] = _speaker_of(whole.table("speaker"), form)
    return fields


def path_of(table: DeclarationTable, name: str, key: str, form: Form) -> JsonPath:
    """Return the path of a key of one of these tables."""
    if form.is_rows:
        return table.column(key)
    names, is_list = table.json_path(key).names, (name, key) in _LISTS
    if is_list and names[-1:] == (None,):
        names = names[:-1]
    if not names and (name, key) not in _MAY_BE_ALL:
        table.wrong(key, "the path of a member, such as 'a' or 'a.b'")
    if None in names and (key != "turns" or "replies" in form.fields["turn"]):  # only a flat list may lie in lists
        table.wrong(key, f"a path to one {'list, with [*] at its end alone' if is_list else 'place, without [*]'}")
    return names


def _defaults(form: Form, table: DeclarationTable, name: str) -> Mapping[str, str]:
    if name == "pair" and "pair" in form.fields:
        return {} if "prompt" in table or "response" in table else ALPACA
    return form.defaults.get(name, {})


def _speaker_of(table: DeclarationTable, form: Form) -> SpeakerFields:
    table.check_keys(table.keys)
    paths = {key: path_of(table, "speaker", key, form) for key in ("name", "is_bot") if key in table}
    return SpeakerFields(scope=table.get("scope") or form.scope, **paths)


def dialect_of(whole: DeclarationTable) -> Dialect:
    """Return how cells are told apart."""
    table = whole.table("dialect")
    table.check_keys(table.keys)
    delimiter, quote = table.text("delimiter") if "delimiter" in table else None, table.text("quoteChar", '"')
    if delimiter is not None and not _is_sign(delimiter):
        table.wrong("delimiter", 'one sign of ASCII, such as ";" or "\\t"')
    if quote and not _is_sign(quote):
        table.wrong("quoteChar", 'one sign of ASCII, or "" where quotes are letters like others')
    if quote and quote == delimiter:
        table.wrong("delimiter", "another sign than quoteChar")
    escape = table.text("escapeChar", "")
    if escape and not (_is_sign(escape) and quote and escape != delimiter):
        table.wrong("escapeChar", 'one sign of ASCII, such as "\\\\", for a quoteChar that is not ""')
    return Dialect(delimiter, quote, "" if escape == quote else escape)


def markers_of(whole: DeclarationTable, form: Form) -> dict[str, str]:
    """Return the marks of a transcript with their roles."""
    table = whole.table("markers")
    markers = {mark: table.word(mark) or "" for mark in table.values}
    if "" in markers:
        table.fail("", "an empty marker would begin a turn everywhere", expected='a text such as "\\n\\nUser: "')
    if form.needs_markers and not markers:
        whole.fail(
            "markers" if "markers" in whole else "format",
            "format = 'transcript' needs [markers]: nobody knows who speaks",
            expected='[markers] and below it lines such as "\\n\\nUser: " = "user"',
        )
    return markers


def roles_of(whole: DeclarationTable, form: Form) -> dict[str, str]:
    """Return what the file's words for roles mean; what is declared comes first, so that it is what is written back."""
    table = whole.table("roles")
    declared = {word: table.word(word) or "" for word in table.values}
    return declared | {word: role for word, role in form.roles.items() if word not in declared}


def splits_of(whole: DeclarationTable) -> dict[str, str | None]:
    """Return what the publisher's splits are called elsewhere; None: nothing."""
    table = whole.table("splits")
    return {split: _standard_split(table, split) for split in table.values}


def _standard_split(table: DeclarationTable, split: str) -> str | None:
    word = table.text(split)
    if word and word not in STANDARD_SPLITS:
        table.wrong(split, f'{one_of(word, STANDARD_SPLITS)}; or "" for none')
    return word or None


def times_of(whole: DeclarationTable, form: Form, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the forms of times that are not ISO 8601, and of places in a recording that are no milliseconds."""
    table = whole.table("times")
    table.check_keys(table.keys)
    for key in table.values:
        of_table = "dialogue" if key == "started_at" else "turn"
        if getattr(fields[of_table], key) is None:
            table.fail(key, f"there is no {key!r} in [{of_table}] whose form this could be")
        if key in PLACES:
            _check_clock(table, key)
        else:
            _check_form(table, key)
    return {**form.times, **{key: table.text(key) for key in table.values}}


def _check_form(table: DeclarationTable, key: str) -> None:
    form = table.text(key)
    directives = _DIRECTIVE.findall(form)
    if form not in UNIX and (not directives or not _DIRECTIVES.issuperset(directives)):
        table.wrong(key, f"{', '.join(UNIX)}, or a pattern of strftime such as '%d.%m.%Y %H:%M'")


def _check_clock(table: DeclarationTable, key: str) -> None:
    form = table.text(key)
    directives = _DIRECTIVE.findall(form)
    units = [directive for directive in directives if directive in "HMS"]
    is_fraction = "%S" in form and "%S%f" not in form and directives.count("f") == 1
    others = len(directives) - len(units) - directives.count("%")
    if form != SECONDS and (not units or len({*units}) < len(units) or others != is_fraction):
        table.wrong(key, f"{SECONDS}, or a pattern of %H, %M, %S and %f, such as '%H:%M:%S,%f'")


def _is_sign(text: str) -> bool:
    return len(text) == 1 and text.isascii() and (text.isprintable() or text == "\t")


_OF_DIALOGUES = ("split", "release", "subset")


def files_of(whole: DeclarationTable) -> tuple[Files, ...]:
    """Return the files that are declared; without any, all that lie in the folder."""
    files: list[Files] = []
    patterns: dict[str, int] = {}
    for table in whole.tables("files"):
        each = _files_of(table)
        if each.path in patterns:
            table.fail("path", f"path = {each.path!r} is already in line {patterns[each.path]}")
        patterns[each.path] = each.line
        files.append(each)
    if "split" in whole.table("dialogue"):
        _check_one_split(whole, files)
    if files and not any(each.holds == "dialogues" and each.skip is None for each in files):
        whole.fail("files", "no [[files]] has dialogues", next_step="add one for the files with the dialogues")
    return tuple(files) or (Files(EVERYTHING, whole.line("files" if "files" in whole else "format")),)


def _files_of(table: DeclarationTable) -> Files:
    table.check_keys(table.keys)
    if "path" not in table:
        table.fail(None, "[[files]] without a path", expected='path = "train/*.jsonl"')
    path = table.text("path")
    if problem := pattern_problem(path):
        table.fail("path", problem, expected="a path inside the corpus's folder, such as 'train/*.jsonl'")
    if "holds" in table and "skip" in table:
        table.fail("skip", "files with 'skip' hold nothing", next_step="remove 'holds' or 'skip'")
    holds: Any = table.get("holds") or "dialogues"
    for key in _OF_DIALOGUES:
        if key in table and ("skip" in table or holds != "dialogues"):
            table.fail(key, f"only files of dialogues have a {key}", next_step=f"remove {key!r}")
    words = {key: table.get(key) for key in (*_OF_DIALOGUES, "skip")}
    return Files(path, table.line("path"), holds=holds, **words)


def _check_one_split(whole: DeclarationTable, files: list[Files]) -> None:
    for each in files:
        if each.split is not None:
            whole.table("dialogue").fail(
                "split",
                "the split is declared twice: by file and by record",
                found=f"split = {each.split!r:.100} for the files {each.path!r:.100} (line {each.line})",
                next_step="remove one of the two",
            )
