"""Writes the page of all tables and keys of ``corpus.toml`` from what reads them."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from tomllib import loads
from typing import Any, get_args

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.keys import ALPACA, FORMS, Form, Key, fitting_keys, known_tables
from talkhouse.ingest.declared.declaration.model import Format
from talkhouse.ingest.declared.declaration.toml_text import toml_key, toml_value
from talkhouse.schema.errors import RegistryError

EXAMPLES = tuple(
    (example["table"], example["text"])
    for example in loads(Path(__file__).with_name("corpus_toml_examples.toml").read_text(encoding="utf-8"))["examples"]
)
"""Whole declarations, each with the table that it is shown below; in all of them together every key occurs."""

REFUSED = (
    'title = "Kitchen chat"\nformat = "chat"\nlicens = "CC0-1.0"\n',
    'title = "Kitchen chat"\nformat = "chat"\n\n[pair]\nprompt = "ask"\n',
    'title = "Logs"\nformat = "pairs"\n\n[pair]\neach = "days[*].log[*]"\nprompt = "ask"\nresponse = "reply"\n',
    'title = "Museum turns"\nformat = "turns"\n\n[turn]\ntext = "said"\n\n[times]\nsaid_at = "unix"\n',
    'title = "Export"\nformat = "turns"\n\n[lines]\npattern = "(?<who>[^:]+: (?<said>.*)"\n\n[turn]\ntext = "said"\n',
    'title = "Export"\nformat = "turns"\n\n[lines]\npattern = "(?<who>[^:]+): (?<said>.*)"\n\n[turn]\ntext = "text"\n',
    'title = "Chat"\nformat = "chat"\n\n[[tasks]]\nname = "rating"\nkind = "dialogue_label"\nscheme = "rating"\n',
)
"""Declarations with a mistake."""

_TYPES = {
    "text": "text",
    "word": "text, not empty",
    "name": "name: lower case letters, digits, `_`",
    "list": "list of texts",
    "flag": "`true` or `false`",
    "address": "URL",
    "languages": "list of codes",
    "pattern": "pattern of paths",
    "path": "path",
    "paths": "path or paths",
    "winner": 'number, `"all"` or `"none"`',
    "sign": "one sign",
    "time": "form of a time",
    "labels": 'table of texts, or `"open"`',
    "values": "table of texts, whole numbers, true, false",
    "texts": "text, or list of texts",
    "regex": "regular expression",
    "count": "whole number, from 1",
}

_HEAD = """\
# Reference of corpus.toml

Every table and key of a declaration. This page is generated from the code that reads them, and every example is tested.
From a folder to a chart: [Your own data](your-own-data.md); a page with files for each format:
[Formats](formats/README.md).

A *path* leads to a place in a record: names with `.` between them, `['a name']` for a name with other signs, `[0]` for
the first item of a list, `[*]` for every item, `.*` for every member of an object, `$.` in front for the record itself
([Paths](paths.md)). In rows (`format = "turns"`) it is the name of a column, and in text files that of a group of the
pattern. Of a list of paths the first counts that leads to something; those of a dialogue's id are joined.

A declaration is read before any file is. A mistake stops there, and is named with its line.

Editors with [Taplo](https://taplo.tamasfe.dev/), such as Even Better TOML, complete and check a `corpus.toml` by a
[JSON Schema](corpus.schema.json). `talkhouse new` writes it next to the declaration, as `.corpus.schema.json`, and
`#:schema ./.corpus.schema.json` as the first line; do the same for a declaration that you write yourself. It says
less than a build, which also compares keys with one another.
"""


def corpus_toml_page() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD.rstrip("\n")]
    for name in known_tables():
        parts += _table(name)
    parts += ["## What is refused", "Some mistakes, and what is said of them:"]
    for text in REFUSED:
        parts += [_block("toml", text), _block("text", refusal(text))]
    return "\n\n".join(parts) + "\n"


def refusal(text: str) -> str:
    """Return what reading says of a declaration with a mistake; ValueError where it has none."""
    try:
        read_declaration("kitchen_chat", text, "kitchen_chat/corpus.toml")
    except RegistryError as error:
        return f"error: {error}\n"
    raise ValueError("there is no mistake in it")


def examples(table: str = "") -> Iterator[str]:
    """Yield the declarations that are shown, those below a table first."""
    for _, text in sorted(EXAMPLES, key=lambda example: example[0] != table):
        yield _toml(text)


def _toml(text: str) -> str:
    return dedent(text).strip() + "\n"


def example_of(table: str, key: str) -> Any:
    """Return the value of a key in the first example that has it; LookupError where none has."""
    for values in map(loads, examples(table)):
        of_table = values.get(table, {}) if table else values
        for one in of_table if isinstance(of_table, list) else [of_table]:
            if key in one:
                return one[key]
    raise LookupError(f"no example has {key} in [{table}]")


def _table(name: str) -> Iterator[str]:
    table = known_tables()[name]
    yield f"## `[[{name}]]`" if table.is_list else f"## `[{name}]`" if name else "## Head"
    yield table.meaning
    formats = [format_ for format_ in get_args(Format) if name and fitting_keys(name, format_) is not None]
    if formats and len(formats) < len(FORMS):
        yield f"For {_formats(formats)}."
    if table.any_key is None:
        rows = [_row(name, key_name, key) for key_name, key in table.keys.items()]
    else:
        words = next(values[name] for values in map(loads, examples(name)) if name in values)
        word = next(iter(words))
        rows = [f"| any word | {_type(table.any_key)} |  | {table.any_key.meaning} | {_shown(word, words[word])} |"]
    yield "\n".join(["| key | type | without it | what it says | example |", "|---|---|---|---|---|", *rows])
    for of_table, text in EXAMPLES:
        if of_table == name:
            yield _block("toml", _toml(text))


def _row(table: str, name: str, key: Key) -> str:
    formats = [format_ for format_ in get_args(Format) if table and name in (fitting_keys(table, format_) or ())]
    of_table = [format_ for format_ in get_args(Format) if table and fitting_keys(table, format_) is not None]
    missing = [format_ for format_ in of_table if format_ not in formats]
    only = f" Not in {', '.join(missing)}." if len(missing) < len(formats) else f" Only in {', '.join(formats)}."
    what = key.meaning + only * bool(missing)
    return (
        f"| `{name}` | {_type(key)} | {_default(table, name, key)} | {what} | {_shown(name, example_of(table, name))} |"
    )


def _shown(key: str, value: Any) -> str:
    """Return a line of TOML for a cell of a table."""
    line = f"{toml_key(key)} = {toml_value(value)}"
    if "|" in line or "`" in line:
        raise ValueError(f"{line} would end its cell")
    return f"`{line}`"


def _type(key: Key) -> str:
    return ", ".join(f'`"{word}"`' for word in key.words) if key.type == "choice" else _TYPES[key.type]


def _default(table: str, name: str, key: Key) -> str:
    if key.is_required:
        return "required"
    by_value: dict[str, list[str]] = {}
    for format_, form in FORMS.items():
        if (value := _default_in(form, table, name)) is not None:
            by_value.setdefault(value, []).append(format_)
    if sum(fitting_keys(table, format_) is not None for format_ in FORMS if table) == 1:
        return "; ".join(by_value)
    said = [f"{value} in {_formats(formats)}" for value, formats in by_value.items()]
    return "; ".join([*said, *([f"{'else ' * bool(said)}{key.default}"] if key.default else [])])


def _default_in(form: Form, table: str, name: str) -> str | None:
    """Return what a key has in a format without being declared; None where nothing is said of this format."""
    if (table, name) == ("speaker", "scope"):
        return f"`{toml_value(form.scope)}`"
    if (table, name) == ("annotations", "on"):
        return f"`{toml_value(form.label_targets[0])}`"
    if table == "pair" and table in form.fields and name in ALPACA:
        return f"`{toml_value(ALPACA[name])}`"
    if name in (paths := form.defaults.get(table, {})):
        return f"`{toml_value(paths[name])}`"
    return "required" if (table, name) in form.needs else None


def _formats(names: list[str]) -> str:
    """Name formats; more than half of them by those that are missing."""
    missing = [format_ for format_ in get_args(Format) if format_ not in names]
    return f"all formats but {', '.join(missing)}" if len(missing) < len(names) - 2 else ", ".join(names)


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}```"
