"""``corpus.toml``: what it may say, read strictly; a mistake is named with its line."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from talkhouse.ingest.contract.definition import id_problem
from talkhouse.ingest.declared.declaration import cells
from talkhouse.ingest.declared.declaration.keys import FIELDS, FORMS, OTHER_TABLES, fitting_keys, known_tables
from talkhouse.ingest.declared.declaration.label_tables import annotations_of, charts_of, tasks_of
from talkhouse.ingest.declared.declaration.model import EVERYTHING, Declaration, Format
from talkhouse.ingest.declared.declaration.table import DeclarationTable, one_of
from talkhouse.ingest.declared.declaration.tables import (
    facts_of,
    fields_of,
    files_of,
    roles_of,
    speakers_of,
    splits_of,
    times_of,
)
from talkhouse.ingest.declared.declaration.toml_text import KeyPath, decoded, parsed, toml_text
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.schema.errors import RegistryError, UsageError, check_unicode

LARGEST = 500_000
"""Bytes of a declaration, which is a page or two."""


def of_folder(folder: Path) -> Declaration:
    """Read the ``corpus.toml`` of a folder, whose name is the corpus's id; raises RegistryError."""
    place = f"{folder.name}/{DECLARATION}"
    if problem := id_problem(folder.name):
        raise RegistryError(
            f"a corpus can't be called {folder.name!r}",
            where=folder / DECLARATION,
            expected=problem,
            next_step="rename the folder",
        )
    if not (folder / DECLARATION).is_file():
        raise RegistryError("there is no declaration", where=folder / DECLARATION, next_step=f"talkhouse new {folder}")
    try:
        with (folder / DECLARATION).open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise RegistryError(f"the declaration can't be read: {error.strerror}", where=folder / DECLARATION) from error
    if len(raw) > LARGEST:
        raise _too_long(place)
    return read_declaration(folder.name, decoded(raw, place), place, folder)


def read_declaration(corpus_id: str, text: str, place: str, folder: Path | None = None) -> Declaration:
    """Read a declaration, which messages call ``place``; raises RegistryError at ``place:LINE`` for a mistake in it."""
    if len(text) > LARGEST:
        raise _too_long(place)
    values, lines = parsed(text, place)
    return declaration_of(corpus_id, text, place, DeclarationTable(values, (), lines), folder)


def declaration_of(
    corpus_id: str, text: str, place: str, whole: DeclarationTable, folder: Path | None = None
) -> Declaration:
    """Make a declaration of a TOML text and its values; what is wrong is told as the values' origin does."""
    facts = facts_of(whole)
    format_: Format = facts["format"]
    form = FORMS[format_]
    _check_tables(whole, format_)
    fields = fields_of(whole, format_)
    files, splits = files_of(whole), splits_of(whole)
    annotations = annotations_of(whole, format_, files)
    dialect = cells.dialect_of(whole)
    if form.is_rows:
        cells.check_names(whole, dialect)
    of_files = [each.split for each in files if each.split is not None]
    return Declaration(
        corpus_id=corpus_id,
        text=text,
        place=place,
        files=files,
        **facts,
        **fields,
        dialect=dialect,
        lines=cells.text_lines_of(whole, form),
        speakers=speakers_of(whole),
        markers=cells.markers_of(whole, form),
        separators=cells.separators_of(whole),
        roles=roles_of(whole, form),
        splits=splits,
        times=times_of(whole, form, fields),
        annotations=annotations,
        tasks=tasks_of(whole, format_, annotations, (*splits, *of_files)),
        charts=charts_of(whole),
        folder=folder,
    )


def _check_tables(whole: DeclarationTable, format_: Format) -> None:
    """Refuse a table that means nothing in a format."""
    for name in (*FIELDS, *OTHER_TABLES):
        if name in whole and fitting_keys(name, format_) is None:
            fitting = [other for other in FORMS if fitting_keys(name, other) is not None]
            whole.fail(
                name,
                f"[{name}] means nothing in format = {format_!r}",
                expected=f"it is for {', '.join(fitting)}",
                next_step="remove the table, or check the format",
            )


def _too_long(place: str) -> RegistryError:
    return RegistryError("the declaration is too long", where=place, expected=f"at most {LARGEST:,} bytes")


FORMAT, MAP, SPLIT = "--format", "--map", "--split"

_OTHER_TABLES = ("roles", "splits", "times", "markers", "dialect", "lines")
"""Tables that only ``table.key=value`` reaches."""


def from_options(
    corpus_id: str, format_: str, maps: Iterable[str] = (), split: str | None = None, title: str | None = None
) -> Declaration:
    """Make the declaration that the options say, of all files; its text is TOML, as a file's would be.

    ``maps``: ``id=chat_id``, ours = theirs. In front may be the table (``turn.id=...``); without it, the first of
    [dialogue], [turn], [pair], [preference] and [speaker] that has the key in this format is meant. Raises UsageError,
    which names the option.
    """
    if format_ not in FORMS:
        raise UsageError(f"no format {format_!r:.80}", where=FORMAT, expected=one_of(format_, FORMS))
    origin = _Options({("format",): f"{FORMAT} {format_}"})
    document: dict[str, Any] = {"title": title or corpus_id.replace("_", " ").strip().capitalize() or corpus_id}
    document["format"] = format_
    document["files"] = [{"path": EVERYTHING, **({} if split is None else {"split": split})}]
    origin.options["files", 0, "split"] = f"{SPLIT} {split}"
    for option in maps:
        check_unicode(option, MAP)
        name, has_sign, path = option.partition("=")
        if not has_sign:
            raise UsageError(f"{MAP} is ours=theirs", where=f"{MAP} {option:.80}", next_step=f"{MAP} id=chat_id, say")
        table, key = _mapped(name, format_)
        if not table:
            raise _unknown(option, name, format_)
        if key in document.setdefault(table, {}):
            raise UsageError(f"[{table}] {key} is mapped twice", where=f"{MAP} {option}")
        document[table][key] = path
        origin.options[table, key] = f"{MAP} {option}"
    check_unicode(split or "", SPLIT)
    text = toml_text(document)
    return declaration_of(
        corpus_id, text, f"the options of {corpus_id}", DeclarationTable(tomllib.loads(text), (), origin)
    )


@dataclass
class _Options:
    options: dict[KeyPath, str] = field(default_factory=dict)

    def line_of(self, path: KeyPath) -> int:  # noqa: ARG002 - options have none
        """Return 0: no line."""
        return 0

    def mistake(self, path: KeyPath, problem: str, **parts: str) -> UsageError:
        """Return the error of a mistake, at its option."""
        return UsageError(problem, where=self.options.get(path) or MAP, **parts)


def _keys(format_: Any) -> dict[str, tuple[str, ...]]:
    """Return the tables that an option reaches, each with the keys that it may have in a format."""
    form = FORMS[format_]
    speaker = {"speaker": tuple(known_tables()["speaker"].keys)} if "speaker" in form.tables else {}
    return {
        name: form.fields[name] for name in ("dialogue", "turn", "pair", "preference") if name in form.fields
    } | speaker


def _mapped(name: str, format_: str) -> tuple[str, str]:
    """Return the table and key that an option means; empty where there is none."""
    tables = _keys(format_)
    table, has_table, key = name.partition(".")
    if has_table and key and (table in tables or table in _OTHER_TABLES):
        return table, key
    return next(((table, name) for table, keys in tables.items() if name in keys), ("", ""))


def _unknown(option: str, name: str, format_: str) -> UsageError:
    tables = _keys(format_)
    keys = list(dict.fromkeys(key for keys in tables.values() for key in keys))
    return UsageError(
        f"there is no {name!r:.80} where format = {format_!r}",
        where=f"{MAP} {option:.80}",
        expected=f"{one_of(name, keys)}; or with its table, such as turn.id",
    )
