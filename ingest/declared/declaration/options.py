"""A declaration from a command's options: ``--format chat --map turns=conversation --split train``."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from talkhouse.ingest.declared.declaration.forms import FORMS
from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.declaration.patterns import EVERYTHING
from talkhouse.ingest.declared.declaration.read import declaration_of
from talkhouse.ingest.declared.declaration.table import Table, one_of
from talkhouse.ingest.declared.declaration.toml_text import KeyPath, toml_text
from talkhouse.schema.errors import UsageError, check_unicode

FORMAT, MAP, SPLIT = "--format", "--map", "--split"

_SPEAKER = ("scope", "name", "is_bot")
_OTHER_TABLES = ("roles", "splits", "times", "markers", "dialect")
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
    document: dict[str, Any] = {"title": title or _title(corpus_id), "format": format_}
    document["files"] = [{"path": EVERYTHING, **({} if split is None else {"split": split})}]
    origin.options["files", 0, "split"] = f"{SPLIT} {split}"
    for option in maps:
        check_unicode(option, MAP)
        name, has_sign, theirs = option.partition("=")
        if not has_sign:
            raise UsageError(f"{MAP} is ours=theirs", where=f"{MAP} {option:.80}", next_step=f"{MAP} id=chat_id, say")
        table, key = _ours(name, format_)
        if not table:
            raise _unknown(option, name, format_)
        if key in document.setdefault(table, {}):
            raise UsageError(f"[{table}] {key} is mapped twice", where=f"{MAP} {option}")
        document[table][key] = theirs
        origin.options[table, key] = f"{MAP} {option}"
    check_unicode(split or "", SPLIT)
    text = toml_text(document)
    return declaration_of(corpus_id, text, f"the options of {corpus_id}", Table(tomllib.loads(text), (), origin))


@dataclass
class _Options:
    """Options instead of lines."""

    options: dict[KeyPath, str] = field(default_factory=dict)

    def line_of(self, path: KeyPath) -> int:  # noqa: ARG002 - options have none
        """Return 0: no line."""
        return 0

    def mistake(self, path: KeyPath, problem: str, **parts: str) -> UsageError:
        """Return the error of a mistake, at its option."""
        return UsageError(problem, where=self.options.get(path) or MAP, **parts)


def _title(corpus_id: str) -> str:
    """Make a title of an id: ``kitchen_chat`` is 'Kitchen chat'."""
    return corpus_id.replace("_", " ").strip().capitalize() or corpus_id


def _keys(format_: Any) -> dict[str, tuple[str, ...]]:
    """Return the tables that an option reaches, each with the keys that it may have in a format."""
    form = FORMS[format_]
    speaker = {"speaker": _SPEAKER} if "speaker" in form.tables else {}
    return {
        name: form.fields[name] for name in ("dialogue", "turn", "pair", "preference") if name in form.fields
    } | speaker


def _ours(name: str, format_: str) -> tuple[str, str]:
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
