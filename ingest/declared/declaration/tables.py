"""The head of a declaration, and its tables that say where in the data things are, and what words there mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from talkhouse.ingest.contract.definition import ADDRESS, LANGUAGE, STANDARD_SPLITS
from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.declaration.answers import OF_ANSWERS, answers_of, zipped_of
from talkhouse.ingest.declared.declaration.keys import ALPACA, FIELDS, FORMS, PAIR_ROLES, Form, head_keys, known_tables
from talkhouse.ingest.declared.declaration.table import DeclarationTable, one_of, read_path


def facts_of(whole: DeclarationTable) -> dict[str, Any]:
    """Return the values of the fields of Declaration that describe the corpus."""
    whole.check_keys((*head_keys(), *(name for name in known_tables() if name)))
    for key, expected in (("title", 'title = "..."'), ("format", f"one of: {', '.join(FORMS)}")):
        if key not in whole:
            whole.fail(key, f"the declaration has no {key}", expected=expected, next_step=_above_tables(whole, key))
    facts: dict[str, Any] = {}
    for key in (key for key in head_keys() if key in whole):
        facts[key] = whole.text(key) if known_tables()[""].keys[key].type == "address" else whole.get(key)
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
    """Return the next step for a top-level key that is missing, or stands below the head of a table."""
    below = [name for name, value in whole.values.items() for table in _tables_in(value) if key in table]
    if below:
        return f"it stands in [{below[0]}]: move it above the first table"
    return "write it above the first [table]"


def _tables_in(value: object) -> list[dict[str, object]]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


_LISTS = {("dialogue", "turns"), ("dialogue", "text"), ("turn", "replies"), ("pair", "each")}
_MAY_BE_ALL = {("turn", "text"), ("dialogue", "turns"), ("dialogue", "text"), ("pair", "each")}
"""What may be the thing itself: turns that are texts, and records that are a list, a message or a text."""
_NO_PATHS = {
    *(("dialogue", key) for key in ("record", "ids", "separator", "folder")),
    ("pair", "zip"),
    *(("preference", key) for key in OF_ANSWERS),
}

_OF_RECORDS = ("dialogue", "pair", "preference")
"""Tables whose paths begin at the record; those of pairs in a list, ``each``, begin at the pair."""

_RECORDS: Mapping[model.JsonPath, model.RecordForm] = {(): "file", (...,): "member", (None,): "item"}
_DIRECTIVE = re.compile(r"%(.?)", re.DOTALL)
_DIRECTIVES = frozenset("aAwdbBmyYHIpMSfzZjUWcxXGuV%")
"""Of ``datetime.strptime``."""
_YEARS = frozenset("YyGcx")


def fields_of(whole: DeclarationTable, format_: model.Format) -> dict[str, Any]:
    """Return the fields of Declaration that name places in the data, with the format's own where none is declared."""
    form = FORMS[format_]
    fields: dict[str, Any] = {}
    for name, kind in FIELDS.items():
        keys = form.fields.get(name, ())
        table = whole.table(name)
        advice = dict.fromkeys(head_keys(), "write it above the first [table]")
        advice |= {key: f"write it below [{other}]" for other in form.fields for key in form.fields[other]}
        table.check_keys(keys, format_, advice)
        paths: dict[str, Any] = {key: read_path(text).names for key, text in _defaults(form, table, name).items()}
        fallbacks: dict[str, tuple[model.JsonPath, ...]] = {}
        for key in (key for key in table.values if (name, key) not in _NO_PATHS):
            if name == "turn" and key in _BESIDE and not form.is_rows and (beside := _beside(table, key)) is not None:
                paths["beside"] = {**paths.get("beside", {}), key: beside}
                paths[key] = None
                continue
            is_none = (name, key) in form.may_be_none and table.values[key] == ""
            if key == "order" and table.values[key] == model.REVERSED:
                paths |= {"is_reversed": True}
                continue
            found = [] if is_none else paths_of(table, name, key, form)
            if (name, key) == ("dialogue", "id") and len(found) > 1:
                _check_id(table, found, form)
                paths |= {"id": None, "id_parts": tuple(found)}
                continue
            paths[key] = found[0] if found else None
            fallbacks |= {key: tuple(found[1:])} if len(found) > 1 else {}
        paths |= {"fallbacks": fallbacks} if fallbacks else {}
        if name == "pair" and "zip" in table:
            paths["zip"] = zipped_of(table)
        if name == "preference":
            paths["answers"] = answers_of(whole)
        if "record" in table:
            paths["record"] = _record_of(table)
        for needed in (key for of_table, key in form.needs if of_table == name and key not in paths):
            whole.fail(
                name if name in whole else "format",
                f"format = {format_!r} needs {needed!r} in [{name}]",
                expected=f'[{name}] {needed} = "what the data calls it"',
            )
        if "ids" in table:
            paths["ids"] = table.get("ids")
            if "id" not in table and not _has_names(paths.get("record")):
                table.fail("ids", "'ids' without 'id': nothing says what a dialogue's id is", expected="id = ...")
        if "folder" in table:
            paths["is_folder"] = table.flag("folder", default=False)
            if "id" in table or "begins" in whole.table("lines"):
                table.fail("folder", "dialogues are told apart twice: by folders and in the files")
        if (name, "id") in form.may_be_none and "id" not in table:
            paths |= {"may_lack_id": True} if paths.get("record") != "member" else {"id": None}
        fields[name] = kind(**paths)
    fields["speaker"] = _speaker_of(whole.table("speaker"), form)
    return fields if form.is_rows else _with_bare_records(fields)


def paths_of(table: DeclarationTable, name: str, key: str, form: Form) -> list[model.JsonPath]:
    """Return the path of a key of one of these tables, or the paths where it may have several."""
    if known_tables()[name].keys[key].type == "paths":
        if form.is_rows:
            return list(table.columns(key))
        return [_checked(table, name, key, form, path.names) for path in table.json_paths(key)]
    return [table.column(key) if form.is_rows else _checked(table, name, key, form, table.json_path(key).names)]


_BESIDE = ("role", "speaker")


def _beside(table: DeclarationTable, key: str) -> model.JsonPath | None:
    """Return the path of who speaks in a list of the record that has an item for each turn; None for another.

    It is that of the items, ``$.speakers[*]``, or of their members, ``$.people[*].name``.
    """
    if not isinstance(table.values[key], str):
        return None
    names, from_record = table.json_path(key)
    if not from_record or not names:
        return None
    if names.count(None) != 1 or names[0] is None or not all(isinstance(name, str | None) for name in names):
        table.wrong(key, "a list next to the turns, such as '$.speakers[*]', or a path inside the turn")
    return names


def _checked(table: DeclarationTable, name: str, key: str, form: Form, names: model.JsonPath) -> model.JsonPath:
    is_list = (name, key) in _LISTS
    if is_list and names[-1:] == (None,):
        names = names[:-1]
    if not names and (name, key) not in _MAY_BE_ALL and "zip" not in table:
        table.wrong(key, "the path of a member, such as 'a' or 'a.b'")
    may_be_inside = key == "turns" and "replies" not in form.fields["turn"]  # only a flat list may lie in lists
    if not may_be_inside and (None in names or ... in names):
        table.wrong(key, f"a path to one {'list, with [*] at its end alone' if is_list else 'place, without [*]'}")
    if isinstance((*names, "")[0], int) and not _may_be_lists(table, name, form):
        table.wrong(key, "a path that begins with a name")
    return names


def _check_id(table: DeclarationTable, paths: Sequence[model.JsonPath], form: Form) -> None:
    """Refuse paths that can't be an id together."""
    if len(set(paths)) < len(paths):
        table.wrong("id", "paths that are the id together, each once")
    if "ids" not in form.fields["dialogue"]:
        table.wrong("id", "one path: the other files name a conversation by it")


def _may_be_lists(table: DeclarationTable, name: str, form: Form) -> bool:
    """Whether what a table is about may be a list, of which ``[0]`` is the first item."""
    match name:
        case "turn" | "speaker":
            return {"system", "turns"} <= {*form.fields["dialogue"]}
        case "pair":
            return "each" not in table
    return True


def _record_of(table: DeclarationTable) -> model.RecordForm:
    """Return the form of a record; a path that ends in a name leads to a list."""
    names = table.json_path("record").names
    if names in _RECORDS:
        return _RECORDS[names]
    return names if names[-1] in (None, ...) else (*names, None)


def _has_names(record: model.RecordForm | None) -> bool:
    """Whether records are members of an object, so that each has a name."""
    return record == "member" or (isinstance(record, tuple) and record[-1:] == (...,))


def _with_bare_records(fields: dict[str, Any]) -> dict[str, Any]:
    """Let all paths begin with the name "" where a record itself is a list, a text or a message."""
    pair: model.PairFields = fields["pair"]
    beginning = [
        path[:1]
        for name in _OF_RECORDS
        for key, path in vars(fields[name]).items()
        if isinstance(path, tuple)
        and key not in ("record", "id_parts")
        and ((pair.each is None and pair.zip is None) or name != "pair" or key == "each")
    ]
    if all(first and isinstance(first[0], str) for first in beginning):
        return fields
    inside = {name: _inside(fields[name]) for name in _OF_RECORDS if name != "pair" or pair.each is None}
    if pair.each is not None:
        inside["pair"] = replace(pair, each=("", *pair.each))
    inside["dialogue"] = replace(inside["dialogue"], are_bare=True)
    return fields | inside


def _inside(fields: Any) -> Any:
    paths: dict[str, Any] = {
        key: ("", *path)
        for key, path in vars(fields).items()
        if isinstance(path, tuple) and key not in ("record", "id_parts")
    }
    if parts := getattr(fields, "id_parts", ()):
        paths |= {"id_parts": tuple(("", *path) for path in parts)}
    if fallbacks := getattr(fields, "fallbacks", {}):
        paths |= {"fallbacks": {key: tuple(("", *path) for path in others) for key, others in fallbacks.items()}}
    return replace(fields, **paths)


def _defaults(form: Form, table: DeclarationTable, name: str) -> Mapping[str, str]:
    if name == "preference" and "answers" in table:
        return {"prompt": "prompt"}
    if name == "pair" and "zip" in table:
        return {"prompt": "$", "response": "$"}
    if name == "pair" and "pair" in form.fields:
        return {} if "prompt" in table or "response" in table else ALPACA
    return form.defaults.get(name, {})


def _speaker_of(table: DeclarationTable, form: Form) -> model.SpeakerFields:
    table.check_keys(table.keys)
    paths = {key: paths_of(table, "speaker", key, form) for key in ("name", "is_bot") if key in table}
    fallbacks = {key: tuple(others) for key, (_, *others) in paths.items() if others}
    first: dict[str, Any] = {key: path for key, (path, *_) in paths.items()}
    return model.SpeakerFields(scope=table.get("scope") or form.scope, fallbacks=fallbacks, **first)


def speakers_of(whole: DeclarationTable) -> model.SpeakersFile | None:
    """Return the file that names the speakers, if one does."""
    if "speakers" not in whole:
        return None
    table = whole.table("speakers")
    advice = dict.fromkeys(set(known_tables()["speaker"].keys) - set(table.keys), "write it below [speaker]")
    table.check_keys(table.keys, advice=advice)
    if "path" not in table:
        table.fail(None, "[speakers] without a path", expected='path = "users.json"')
    path = _pattern(table)
    record = _record_of(table) if "record" in table else "item"
    if "id" not in table and not _has_names(record):
        table.fail("path", "[speakers] without 'id': nothing says whom a record is about", expected='id = "id"')
    if "id" in table:
        table.text("id")
    paths = {key: _places(table, key) for key in ("id", "name", "is_bot") if key in table}
    return model.SpeakersFile(
        model.Files(path, table.line("path"), holds="speakers"),
        id=paths["id"][0] if "id" in paths else None,
        names=paths.get("name", ()),
        is_bot=paths.get("is_bot", ()),
        record=record,
    )


def _places(table: DeclarationTable, key: str) -> tuple[model.JsonPath, ...]:
    """Return the paths of a key, each to one place."""
    paths = tuple(path.names for path in table.json_paths(key))
    if any(not path or not isinstance(path[0], str) or None in path or ... in path for path in paths):
        table.wrong(key, "a path to one place, such as 'profile.name', or a list of them")
    return paths


def roles_of(whole: DeclarationTable, form: Form) -> dict[str, str]:
    """Return the roles of the file's words; declared ones come first, so that they are what is written back."""
    table = whole.table("roles")
    declared = {word: table.word(word) or "" for word in table.values}
    if "pair" in form.fields:
        table.check_keys(PAIR_ROLES)
        roles = {**PAIR_ROLES, **declared}
        if table.values and roles["prompt"] == roles["response"]:
            table.fail(None, "prompt and response have the same role", expected="a role each")
    return declared | {word: role for word, role in form.roles.items() if word not in declared}


def splits_of(whole: DeclarationTable) -> dict[str, str | None]:
    """Return the standard names of the publisher's splits; None: no standard name."""
    table = whole.table("splits")
    words = {split: table.text(split) for split in table.values}
    for split, word in words.items():
        if word and word not in STANDARD_SPLITS:
            table.wrong(split, f'{one_of(word, STANDARD_SPLITS)}; or "" for none')
    return {split: word or None for split, word in words.items()}


def times_of(whole: DeclarationTable, form: Form, fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the forms of times that are not ISO 8601, and of moments in a recording that are no milliseconds."""
    table = whole.table("times")
    table.check_keys(table.keys)
    for key in (key for key in table.values if key not in _HALVES):
        of_table = "dialogue" if key == "started_at" else "turn"
        if getattr(fields[of_table], key) is None:
            table.fail(key, f"there is no {key!r} in [{of_table}] whose form this could be")
        if key in model.MOMENTS:
            _check_clock(table, key)
        else:
            _check_form(table, key)
    forms = {**form.times, **{key: table.text(key) for key in table.values if key not in _HALVES}}
    halves = {word: english for key, english in _HALVES.items() for word in table.words(key)}
    if halves and not any("%p" in pattern for pattern in forms.values()):
        table.fail(None, "words for the halves of a day, and no form has %p", expected="said_at = '%d/%m/%Y %I:%M %p'")
    forms = {key: model.HalfDays(text, halves) if halves and "%p" in text else text for key, text in forms.items()}
    start, end = model.MOMENTS
    if start in forms and fields["turn"].end_ms is not None:
        forms.setdefault(end, forms[start])
    return forms


_HALVES = {"am": "AM", "pm": "PM"}


def _check_form(table: DeclarationTable, key: str) -> None:
    form = table.text(key)
    directives = _DIRECTIVE.findall(form)
    if form not in model.UNIX and (not directives or not _DIRECTIVES.issuperset(directives)):
        table.wrong(key, f"{', '.join(model.UNIX)}, or a pattern of strftime such as '%d.%m.%Y %H:%M'")
    if form not in model.UNIX and _YEARS.isdisjoint(directives):
        table.fail(
            key,
            f"the form {form!r:.80} has no year, so that nobody knows the day",
            expected="a date and a time, such as '%d.%m.%Y %H:%M'",
            next_step=f"leave out {key!r}, here and above: what no key names is kept in 'extra'",
        )


def _check_clock(table: DeclarationTable, key: str) -> None:
    form = table.text(key)
    directives = _DIRECTIVE.findall(form)
    units = [directive for directive in directives if directive in "HMS"]
    is_fraction = "%S" in form and "%S%f" not in form and directives.count("f") == 1
    others = len(directives) - len(units) - directives.count("%")
    if form != model.SECONDS and (not units or len({*units}) < len(units) or others != is_fraction):
        table.wrong(key, f"{model.SECONDS}, or a pattern of %H, %M, %S and %f, such as '%H:%M:%S,%f'")


_OF_DIALOGUES = ("split", "release", "subset")


def files_of(whole: DeclarationTable) -> tuple[model.Files, ...]:
    """Return the files that are declared; without any, all that lie in the folder."""
    files: list[model.Files] = []
    patterns: dict[str, int] = {}
    labels_have_split = whole.table("dialogue").values.get("ids") == "split"
    for table in whole.tables("files"):
        each = _files_of(table, labels_have_split=labels_have_split)
        if each.path in patterns:
            table.fail("path", f"path = {each.path!r} is already in line {patterns[each.path]}")
        if each.path == whole.table("speakers").values.get("path"):
            problem = f"path = {each.path!r:.80} is that of [speakers]: such files have no dialogues or labels"
            table.fail("path", problem, next_step="remove one of the two")
        patterns[each.path] = each.line
        files.append(each)
    if "split" in whole.table("dialogue"):
        _check_one_split(whole, files)
    if files and not any(each.holds == "dialogues" and each.skip is None for each in files):
        whole.fail("files", "no [[files]] has dialogues", next_step="add one for the files with the dialogues")
    return tuple(files) or (model.Files(model.EVERYTHING, whole.line("files" if "files" in whole else "format")),)


def _files_of(table: DeclarationTable, *, labels_have_split: bool) -> model.Files:
    table.check_keys(table.keys)
    if "path" not in table:
        table.fail(None, "[[files]] without a path", expected='path = "train/*.jsonl"')
    path = _pattern(table)
    if "holds" in table and "skip" in table:
        table.fail("skip", "files with 'skip' hold nothing", next_step="remove 'holds' or 'skip'")
    holds: Any = table.get("holds") or "dialogues"
    has_split = holds == "annotations" and labels_have_split
    if has_split and "split" not in table:
        problem = "ids begin again in each split, and nothing says of which split these labels are"
        table.fail("path", problem, expected='split = "train", say')
    for key in _OF_DIALOGUES:
        if key in table and ("skip" in table or holds != "dialogues") and not (has_split and key == "split"):
            table.fail(key, f"only files of dialogues have a {key}", next_step=f"remove {key!r}")
    words = {key: table.get(key) for key in (*_OF_DIALOGUES, "skip", "repair")}
    return model.Files(path, table.line("path"), holds=holds, **words)


def _pattern(table: DeclarationTable) -> str:
    path = table.text("path")
    if problem := model.pattern_problem(path):
        table.fail("path", problem, expected="a path inside the corpus's folder, such as 'train/*.jsonl'")
    return path


def _check_one_split(whole: DeclarationTable, files: list[model.Files]) -> None:
    for each in files:
        if each.split is not None and each.holds == "dialogues":
            whole.table("dialogue").fail(
                "split",
                "the split is declared twice: by file and by record",
                found=f"split = {each.split!r:.100} for the files {each.path!r:.100} (line {each.line})",
                next_step="remove one of the two",
            )
