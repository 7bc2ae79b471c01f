"""Writes the page of all tables and keys of ``corpus.toml`` from what reads them."""

from collections.abc import Iterator
from textwrap import dedent
from tomllib import loads
from typing import Any, get_args

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.forms import ALPACA, FORMS, Form, fitting_keys
from talkhouse.ingest.declared.declaration.keys import TABLES, Key
from talkhouse.ingest.declared.declaration.model import Format
from talkhouse.ingest.declared.declaration.toml_text import toml_key, toml_value
from talkhouse.schema.errors import RegistryError

EXAMPLES = (
    (
        "",
        """
        title = "Museum talks"
        description = "Visitors ask, a guide answers."
        homepage = "https://museum.example/talks"
        licence = "CC-BY-4.0"
        licence_url = "https://creativecommons.org/licenses/by/4.0/"
        terms = "Ask the museum before you publish recordings."
        version = "1.2"
        citation = "The museum (2026): Museum talks."
        languages = ["en"]
        format = "chat"
        """,
    ),
    (
        "files",
        """
        title = "Museum turns"
        format = "turns"

        [[files]]
        path = "2026/train-*.csv"
        split = "train"
        release = "2026"
        subset = "guided"

        [[files]]
        path = "2026/labels.csv"
        holds = "annotations"

        [[files]]
        path = "**/*.png"
        skip = "pictures"

        [dialogue]
        id = "conv"

        [turn]
        id = "utt"
        text = "said"

        [[annotations]]
        scheme = "place"
        from = "2026/labels.csv"
        dialogue = "conv"
        turn = "utt"
        label = "label"
        annotator = "student"
        start = "begin"
        end = "end"
        """,
    ),
    (
        "dialogue",
        """
        title = "Chat room"
        format = "dialogue"

        [[files]]
        path = "rooms/*.json"

        [dialogue]
        record = "$"
        id = "channel.id"
        title = "channel.name"
        split = "part"
        domain = "channel.topic"
        language = "channel.language"
        started_at = "channel.created"
        system = "greeting"
        turns = "messages"

        [splits]
        fold3 = "test"
        feedback = ""

        [times]
        started_at = "%d.%m.%Y %H:%M"

        [turn]
        text = "content"
        """,
    ),
    (
        "dialogue",
        """
        title = "Export of chats"
        format = "dialogue"

        [dialogue]
        record = "chats.list"
        turns = "messages.*"

        [turn]
        text = ["content", "caption"]
        speaker = ["user.id", "bot"]
        said_at = "at"
        order = "reversed"

        [times]
        said_at = "unix_ms"
        """,
    ),
    (
        "dialogue",
        """
        title = "Scenes"
        format = "turns"

        [[files]]
        path = "train.csv"
        split = "train"

        [[files]]
        path = "test.csv"
        split = "test"

        [dialogue]
        id = ["season", "episode", "scene"]
        ids = "split"

        [turn]
        text = "line"
        """,
    ),
    (
        "turn",
        """
        title = "Chat room"
        format = "dialogue"

        [dialogue]
        turns = "days[*].messages[*]"

        [turn]
        id = "id"
        text = "content"
        role = "author.role"
        speaker = "author.id"
        said_at = "at"
        reply_to = "answers"
        kind = "type"
        start_ms = "audio.from"
        end_ms = "audio.to"

        [speaker]
        scope = "dialogue"
        name = "author.name"
        is_bot = "author.bot"

        [roles]
        visitor = "user"
        guide = "assistant"

        [times]
        said_at = "unix_ms"
        start_ms = "seconds"
        end_ms = "%H:%M:%S,%f"
        """,
    ),
    (
        "turn",
        """
        title = "Forum"
        format = "tree"

        [dialogue]
        turns = "thread.first"

        [turn]
        id = "post"
        text = "body"
        replies = "answers"
        """,
    ),
    (
        "speakers",
        """
        title = "Team chat"
        format = "turns"

        [[files]]
        path = "**/*.json"

        [turn]
        text = "text"
        speaker = "user"

        [speakers]
        path = "users.json"
        id = "id"
        name = ["profile.display_name", "real_name"]
        is_bot = "is_bot"
        """,
    ),
    (
        "speakers",
        """
        title = "Two people, by what each is called in the file"
        format = "dialogue"

        [dialogue]
        turns = "messages"

        [turn]
        text = "text"
        speaker = "from"

        [speakers]
        path = "people.json"
        record = "*"
        name = "full_name"
        """,
    ),
    (
        "pair",
        """
        title = "Logs of a helper"
        format = "pairs"

        [dialogue]
        id = "session"

        [pair]
        each = "log[*]"
        system = "instructions"
        history = "before"
        prompt = "ask"
        query = "with"
        response = "reply"
        """,
    ),
    (
        "pair",
        """
        title = "Questions about stories, in two lists"
        format = "pairs"

        [pair]
        system = "story"
        zip = ["questions", "answers"]
        prompt = "input_text"
        response = "input_text"
        """,
    ),
    (
        "preference",
        """
        title = "Answers with scores"
        format = "preference"

        [preference]
        prompt = "instruction"
        answers = "completions[*]"
        text = "response"
        source = "model"
        score = "overall_score"
        """,
    ),
    (
        "preference",
        """
        title = "Answers with ranks"
        format = "preference"

        [preference]
        prompt = "prompt"
        answers = ["answer_a", "answer_b", "answer_c"]
        rank = ["rank_a", "rank_b", "rank_c"]
        """,
    ),
    (
        "winners",
        """
        title = "Battles"
        format = "preference"

        [preference]
        answers = ["conversation_a", "conversation_b"]
        source = ["model_a", "model_b"]
        winner = "winner"

        [winners]
        model_a = 1
        model_b = 2
        tie = "all"
        "tie (bothbad)" = "none"
        """,
    ),
    (
        "preference",
        """
        title = "Two answers"
        format = "preference"

        [preference]
        prompt = "input.messages"
        chosen = "preferred_output"
        rejected = "non_preferred_output"
        """,
    ),
    (
        "markers",
        """
        title = "Calls"
        format = "transcript"

        [dialogue]
        id = "call"
        text = "log"

        [markers]
        "\\nCaller: " = "user"
        "\\nDesk: " = "assistant"
        """,
    ),
    (
        "dialogue",
        """
        title = "Small talk, a dialogue a line"
        format = "transcript"

        [[files]]
        path = "dialogues.txt"

        [dialogue]
        text = "$"
        separator = "__eou__"
        """,
    ),
    (
        "lines",
        """
        title = "A chat program's export"
        format = "turns"

        [[files]]
        path = "*.txt"

        [lines]
        pattern = '(?<at>[\\d.]+, [\\d:]+) - (?:(?<who>[^:]+): )?(?<said>.*)'

        [turn]
        text = "said"
        speaker = "who"
        said_at = "at"

        [times]
        said_at = "%d.%m.%y, %H:%M"
        """,
    ),
    (
        "lines",
        """
        title = "Scenes, between empty lines"
        format = "turns"

        [[files]]
        path = "play.txt"

        [lines]
        pattern = '(?<who>[A-Z ]+): (?<said>.*)'
        begins = '^$'

        [turn]
        text = "said"
        speaker = "who"
        """,
    ),
    (
        "lines",
        """
        title = "Numbered lines, two turns each"
        format = "turns"

        [[files]]
        path = "train.txt"

        [lines]
        pattern = '(?<n>\\d+) (?<said>[^\\t]*)(?:\\t(?<answer>[^\\t]*)(?:\\t.*)?)?'
        begins = '1 '
        turns = "each"

        [turn]
        text = ["said", "answer"]
        """,
    ),
    (
        "dialect",
        """
        title = "Museum turns"
        format = "turns"

        [dialogue]
        id = "conv"

        [turn]
        text = "said"
        order = "n"

        [dialect]
        delimiter = ";"
        quoteChar = "'"
        escapeChar = "\\\\"
        header = false
        names = ["conv", "n", "said"]
        """,
    ),
    (
        "annotations",
        """
        title = "Moods by two raters, a column each"
        format = "turns"

        [dialogue]
        id = "conv"

        [turn]
        text = "said"

        [[annotations]]
        scheme = "mood"
        description = "How the speaker sounds."
        on = "turn"
        columns = ["rater_1", "rater_2"]
        labels = { calm = "Calm.", cross = "Cross." }
        missingValues = ["", "NA"]
        """,
    ),
    (
        "annotations",
        """
        title = "Names of things, in a list in each turn"
        format = "dialogue"

        [dialogue]
        turns = "turns"

        [turn]
        text = "utterance"

        [[annotations]]
        scheme = "thing"
        each = "frames[*].slots[*]"
        only = { type = "span" }
        label = "slot"
        start = "from"
        end = "to"
        offsets = "utf-16"

        [[tasks]]
        name = "things"
        kind = "spans"
        scheme = "thing"
        """,
    ),
    (
        "tasks",
        """
        title = "Threads in which every message answers the first, and goes on from the one before"
        format = "turns"

        [dialogue]
        id = "thread"

        [turn]
        id = "id"
        text = "text"
        reply_to = "first"

        [[tasks]]
        name = "reply"
        kind = "next_turn"
        context = "turns"
        """,
    ),
    (
        "annotations",
        """
        title = "Stars by several raters, in a list beside the turns"
        format = "chat"

        [turn]
        id = "id"

        [[annotations]]
        scheme = "stars"
        by = "$.raters[*]"
        skip = "was_cancelled"
        annotator = "person"
        each = "given[*]"
        turn = "message"
        value = "stars"
        """,
    ),
    (
        "tasks",
        """
        title = "Kitchen chat"
        format = "chat"

        [[annotations]]
        scheme = "rating"
        on = "dialogue"
        label = "rating"

        [[tasks]]
        name = "reply"
        kind = "next_turn"
        role = "assistant"
        description = "Write what the assistant says next."

        [[tasks]]
        name = "rating"
        kind = "dialogue_label"
        scheme = "rating"
        """,
    ),
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
[JSON Schema](corpus.schema.json). `talkhouse new` writes it beside the declaration, as `.corpus.schema.json`, and
`#:schema ./.corpus.schema.json` as the first line; do the same for a declaration that you write yourself. It says
less than a build, which also compares keys with one another.
"""


def corpus_toml_page() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD.rstrip("\n")]
    for name in TABLES:
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
    table = TABLES[name]
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
