"""The tables of annotations, tasks and charts: where labels are in the data, what is made of them, and drawn."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from talkhouse.ingest.contract.definition import STANDARD_SPLITS
from talkhouse.ingest.declared.declaration.keys import FORMS, LONGEST_NAME, Form, fitting_keys, known_tables
from talkhouse.ingest.declared.declaration.model import Annotations, DeclaredChart, DeclaredTask, Files, Format, matches
from talkhouse.ingest.declared.declaration.table import DeclarationTable, one_of
from talkhouse.schema.contents import ID

_PATHS = ("label", "value", "annotator", "skip", "start", "end")
_MAY_BE_ALL = ("label", "value", "annotator")
_MAY_BE_SEVERAL = ("label", "value")
_POSITION = "#"
_ONLY = {"documents": "it is for labels inside JSON; here a label is a column", "rows": "it is for format = 'turns'"}


def annotations_of(whole: DeclarationTable, format_: Format, files: tuple[Files, ...]) -> tuple[Annotations, ...]:
    """Return the schemes of labels, each with a name of its own."""
    schemes: dict[str, Annotations] = {}
    form = FORMS[format_]
    if "pair" in whole and {"each", "zip"} & whole.table("pair").values.keys():
        form = replace(form, turns_are_objects=True)  # the first turn of each pair is the object, or each of both
    for table in whole.tables("annotations"):
        scheme = name_of(table, "scheme", schemes)
        schemes[scheme] = _annotations(whole, table, scheme, format_, form, files)
    read = [each.from_file for each in schemes.values() if each.from_file is not None]
    for index, each in enumerate(files):
        if each.holds == "annotations" and not any(_fit(each, pattern) for pattern in read):
            list(whole.tables("files"))[index].fail(
                "path", f"no [[annotations]] takes labels from {each.path!r}", expected=f"from = {each.path!r} in one"
            )
    return tuple(schemes.values())


def name_of(table: DeclarationTable, key: str, taken: Any) -> str:
    """Return the name of a scheme or task, which becomes part of a name in SQL."""
    if key not in table:
        table.fail(None, f"{table.name} without {key!r}", expected=f'{key} = "..."')
    name = table.text(key)
    if not ID.fullmatch(name) or len(name) > LONGEST_NAME:
        table.wrong(key, f"lower case letters, digits and '_', at most {LONGEST_NAME}, a letter first")
    if name in taken:
        table.fail(key, f"{key} = {name!r} is already in line {taken[name].line}", next_step="rename one of them")
    return name


def _annotations(
    whole: DeclarationTable, table: DeclarationTable, scheme: str, format_: Format, form: Form, files: tuple[Files, ...]
) -> Annotations:
    advice = {name: _ONLY[key.only] for name, key in known_tables()["annotations"].keys.items() if key.only}
    table.check_keys(fitting_keys("annotations", format_) or (), format_, advice)
    labels = Annotations(
        scheme=scheme,
        line=table.line("scheme"),
        description=table.text("description"),
        on=_target(table, form),
        labels=_labels(table),
        missing_values=table.texts("missingValues"),
        columns=table.texts("columns"),
        offsets=table.get("offsets") or "code points",
    )
    _check_labels(table, form)
    if "start" in table and labels.on not in ("turn", "response"):
        table.fail("start", "only labels on a turn have a place in its text", next_step="remove start and end")
    if form.is_rows:
        return _in_rows(whole, table, labels, files)
    return _in_documents(table, labels, form)


def _target(table: DeclarationTable, form: Form) -> Any:
    if "on" in table:
        return table.choice("on", form.label_targets)
    if "turn" in table:
        return "turn"
    return "dialogue" if "from" in table else form.label_targets[0]


def _labels(table: DeclarationTable) -> dict[str, str] | None:
    value = table.values.get("labels", "open")
    if value == "open":
        return None
    expected = 'labels = { calm = "what it means", cross = "..." }, or "open"'
    inner = table.table("labels", expected)
    if not all(isinstance(meaning, str) for meaning in inner.values.values()):
        table.wrong("labels", f"{expected}: meanings are texts")
    return dict(inner.values)


def _check_labels(table: DeclarationTable, form: Form) -> None:
    """Refuse what says not where the labels are, says it twice, or only half."""
    if "columns" in table:
        for key in ("label", "value", "annotator", "from", "start"):
            if key in table:
                table.fail(key, f"'columns' and {key!r} can't both be declared: a column is an annotator's labels")
        if not table.texts("columns") or len(set(table.texts("columns"))) < len(table.texts("columns")):
            table.wrong("columns", "names of columns, each once")
    elif "label" not in table and "value" not in table:
        what = "column" if form.is_rows else "path"
        expected = f"label, the {what} of a label, or value, that of a number{', or columns' if form.is_rows else ''}"
        table.fail("each" if "each" in table else "scheme", "nothing says where the labels are", expected=expected)
    for key, other in (("start", "end"), ("end", "start"), ("offsets", "start")):
        if key in table and other not in table:
            table.fail(key, f"{key!r} without {other!r}", expected="start and end, or neither")


def _in_rows(
    whole: DeclarationTable, table: DeclarationTable, labels: Annotations, files: tuple[Files, ...]
) -> Annotations:
    columns: dict[str, Any] = {key: table.column(key) for key in _PATHS if key in table}
    if "from" not in table:
        for key in ("dialogue", "turn"):
            if key in table:
                table.fail(key, f"{key!r} without 'from': the row says which it is", next_step=f"remove {key!r}")
        return replace(labels, **columns)
    pattern = table.word("from") or ""
    if not any(each.holds == "annotations" and _fit(each, pattern) for each in files):
        table.fail(
            "from",
            f"no [[files]] with holds = 'annotations' has {pattern!r:.80}",
            expected=f"[[files]], path = {pattern!r:.80}, holds = 'annotations'",
        )
    of_dialogue = whole.table("dialogue")
    if of_dialogue.values.get("ids") == "file":
        table.fail(
            "from",
            "ids begin again in each file, so no other file can say which dialogue it means",
            next_step="put the labels into columns, or give the files splits: ids = 'split'",
        )
    for key in ("dialogue", "turn"):
        if key not in table and (key == "dialogue" or labels.on == "turn"):
            table.fail(
                "from", f"nothing says of which {key} the labels are", expected=f"{key} = the column with its id"
            )
        if key == "turn" and key in table:
            columns[key] = table.column(key)
    columns |= _of_dialogue(table, of_dialogue)
    if labels.on != "turn" and "turn" in table:
        table.fail("turn", f"on = {labels.on!r}, so the labels are of no turn", next_step="remove 'turn' or 'on'")
    return replace(labels, from_file=pattern, **columns)


def _of_dialogue(table: DeclarationTable, of_dialogue: DeclarationTable) -> dict[str, Any]:
    """Return the columns that name the dialogue of a label, as many as ``[dialogue] id`` has."""
    columns, ids = table.values.get("dialogue"), of_dialogue.values.get("id")
    count, wanted = (len(value) if isinstance(value, list) else 1 for value in (columns, ids))
    if count != wanted:
        expected = f"{wanted} columns, in the order of 'id' in [dialogue]" if wanted > 1 else "a column"
        table.wrong("dialogue", expected)
    parts = table.columns("dialogue")
    if len(set(parts)) < len(parts):
        table.wrong("dialogue", "names of columns, each once")
    return {"dialogue": parts[0]} if len(parts) == 1 else {"dialogue_parts": parts}


def _in_documents(table: DeclarationTable, labels: Annotations, form: Form) -> Annotations:
    paths: dict[str, Any] = {}
    for key in ("by", "each"):
        if key in table:
            path = table.json_path(key)
            names = path.names if path.names[-1:] == (None,) else (*path.names, None)
            if names == (None,) and not (key == "each" and "by" in table):
                table.wrong(key, "the path of a list, such as 'a' or 'a[*].b'")
            paths |= {key: names, f"{key}_by_record" if key == "each" else "by_record": path.from_record}
    if paths.get("each_by_record") and "by" in paths:
        table.fail("each", "'each' is inside 'by', so it can't begin at the record", next_step="leave '$.' out")
    has_items = "by" in paths or "each" in paths
    for key in (key for key in _PATHS if key in table):
        paths[key] = _path_inside(table, key, is_of_record=labels.on != "turn" and not has_items)
    for key in ("skip", "only"):
        if key in table and not ("by" in paths or (key == "only" and has_items)):
            table.fail(key, f"{key!r} without {'by' if key == 'skip' else 'each'!r}: there are no items to choose from")
    is_of_record = bool(paths.get("by_record") or paths.get("each_by_record"))
    if labels.on == "turn":
        _check_turn(table, is_of_record=is_of_record, turns_are_objects=form.turns_are_objects)
    elif "turn" in table:
        table.fail("turn", f"on = {labels.on!r}, so the labels are of no turn", next_step="remove 'turn' or 'on'")
    if "turn" in table:
        is_position = table.text("turn") == _POSITION
        paths |= (
            {"turn_is_position": True} if is_position else {"turn": _path_inside(table, "turn", is_of_record=False)}
        )
    return replace(labels, only=_only(table), **paths)


def _check_turn(table: DeclarationTable, *, is_of_record: bool, turns_are_objects: bool) -> None:
    if is_of_record and "turn" not in table:
        key = "each" if "each" in table else "by"
        table.fail(
            key, "nothing says of which turn the labels are", expected="turn = the path of its id or index, or '#'"
        )
    if not is_of_record and "turn" in table:
        table.fail("turn", "the labels stand in their turn, so 'turn' can't say another", next_step="remove 'turn'")
    if not is_of_record and not turns_are_objects:
        table.fail("scheme", "in this format no turn is an object that a label could be in", next_step="add on = ...")


def _path_inside(table: DeclarationTable, key: str, *, is_of_record: bool) -> Any:
    path = table.json_path(key)
    if not path.names and key not in _MAY_BE_ALL:
        table.wrong(key, "the path of a member")
    if path.names and path.from_record and not is_of_record:
        table.wrong(key, "a path inside the turn or item; only 'by' and 'each' may begin at the record")
    if None in path.names and key not in _MAY_BE_SEVERAL:
        table.wrong(key, "a path to one place, without [*]")
    return path.names


def _only(table: DeclarationTable) -> dict[str, Any]:
    inner = table.table("only", 'only = { type = "..." }')
    for key, value in inner.values.items():
        if not isinstance(value, str | bool | int):
            inner.wrong(key, "a text, a whole number, true or false")
    return dict(inner.values)


def _fit(files: Files, pattern: str) -> bool:
    return files.path == pattern or matches(files.path, pattern) or matches(pattern, files.path)


_OF_SCHEMES = ("turn_label", "dialogue_label", "spans")
_TARGETS = {"turn_label": ("turn", "response"), "dialogue_label": ("dialogue", "record"), "spans": ("turn", "response")}


def tasks_of(
    whole: DeclarationTable, format_: Format, annotations: Iterable[Annotations], splits: Iterable[str]
) -> tuple[DeclaredTask, ...]:
    """Return the tasks, none of whose views would have the name of another's."""
    schemes = {each.scheme: each for each in annotations}
    tasks: dict[str, DeclaredTask] = {}
    suffixes = {*STANDARD_SPLITS, *splits}
    for table in whole.tables("tasks"):
        name = name_of(table, "name", tasks)
        table.check_keys(table.keys)
        if "kind" not in table:
            kinds = ", ".join(known_tables()["tasks"].keys["kind"].words)
            table.fail("name", f"the task {name!r} has no kind", expected=f"kind = one of: {kinds}")
        kind = table.get("kind")
        _check_kind(table, kind, format_, schemes)
        for other in tasks:
            if (view := _shared_view(min(name, other), max(name, other), suffixes)) is not None:
                table.fail("name", f"the tasks {other!r} and {name!r} would both have a view {view!r}")
        tasks[name] = DeclaredTask(
            name=name,
            kind=kind,
            line=table.line("name"),
            scheme=table.get("scheme"),
            role=table.get("role"),
            context=table.get("context"),
            description=table.text("description"),
        )
    return tuple(tasks.values())


def charts_of(whole: DeclarationTable) -> tuple[DeclaredChart, ...]:
    """Return the charts of one's own; what they name is there once the views are."""
    charts = []
    for table in whole.tables("charts"):
        table.check_keys(table.keys)
        for key, known in known_tables()["charts"].keys.items():
            if known.is_required and key not in table:
                table.fail(None, f"{table.name} without {key!r}", expected=f"{key} = ...")
        charts.append(DeclaredChart(table.line("title"), {key: table.get(key) for key in table.values}))
    return tuple(charts)


def _shared_view(name: str, longer: str, splits: set[str]) -> str | None:
    """Return the name that a view of both tasks would have: a task's own, or that of one of its splits."""
    if not longer.startswith(f"{name}_"):
        return None
    rest = longer.removeprefix(f"{name}_")
    if rest in splits:
        return longer
    split = next((split for split in splits if f"{rest}_{split}" in splits), None)
    return None if split is None else f"{longer}_{split}"


def _check_kind(table: DeclarationTable, kind: str, format_: Format, schemes: dict[str, Annotations]) -> None:
    with_context = ("next_turn", "turn_label", "preference")
    for key, fitting in (("scheme", _OF_SCHEMES), ("role", ("next_turn",)), ("context", with_context)):
        if key in table and kind not in fitting:
            table.fail(key, f"kind = {kind!r} takes no {key!r}", next_step=f"remove it; it is for {', '.join(fitting)}")
    if kind == "preference" and format_ != "preference":
        table.fail("kind", f"kind = 'preference' needs answers to compare, which format = {format_!r} has not")
    if kind in _OF_SCHEMES:
        _check_scheme(table, kind, schemes)


def _check_scheme(table: DeclarationTable, kind: str, schemes: dict[str, Annotations]) -> None:
    names = ", ".join(schemes) or "none is declared"
    if "scheme" not in table:
        table.fail("kind", f"kind = {kind!r} needs a scheme", expected=f"scheme = one of [[annotations]]: {names}")
    name = table.text("scheme")
    if name not in schemes:
        table.fail(
            "scheme",
            f"no [[annotations]] has the scheme {name!r:.80}",
            expected=one_of(name, schemes) if schemes else names,
        )
    scheme = schemes[name]
    if scheme.on not in _TARGETS[kind]:
        table.fail("kind", f"kind = {kind!r} does not fit the scheme {name!r}, which is on = {scheme.on!r}")
    if kind == "spans" and scheme.start is None:
        table.fail("kind", f"kind = 'spans' does not fit the scheme {name!r}, which has no start and end")
    if scheme.label is None and not scheme.columns:
        table.fail("scheme", f"the scheme {name!r} has numbers, no labels")
