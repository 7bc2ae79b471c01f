"""``talkhouse new``: begin something of your own."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from talkhouse.cli.terminal.show_text import put
from talkhouse.scaffold.templates import Like
from talkhouse.visible import visible

_WIDTH = 13
_PARTS = {
    "__init__.py": "what it is: title, licence, citation, splits, schemes, rules",
    "format.py": "the published files, in types",
    "read.py": "files to rows",
    "write.py": "rows back to files",
    "queries": "a task with its examples, its view, what it scores, and a chart",
    "sample": "invented files, which show every split and scheme",
    "README.md": "how raw becomes rows",
    "tests": "golden and broken files, clauses, and one test file: all of it passes",
    "pyproject.toml": "the package, with the entry point that Talkhouse finds it by",
}


def corpus(
    corpus_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the new corpus.", show_default=False)],
    parent: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that gets it.", show_default="this folder")
    ] = Path(),
    *,
    like: Annotated[Like, typer.Option(help="What the publisher's files are like.", show_default=False)],
    package: Annotated[
        bool, typer.Option("--package", metavar="", help="Make a package, which others can install.")
    ] = False,
) -> None:
    """Begin a corpus with code of its own: reader, writer, declaration, a task and its chart, a sample, and tests.

    What is written is a whole corpus of invented data, which builds and whose tests pass; bend it to the files that you
    have. Nothing is ever overwritten.

    json-list: a file is a list of dialogues; csv-rows: a dialogue is some rows of a file; file-per-dialogue: a file, of
    text or whatever else, is a dialogue.

    Examples:
        talkhouse new corpus tea_talks --like file-per-dialogue

        talkhouse new corpus film_scenes ~/src --like json-list --package
    """
    from talkhouse.scaffold.new_corpus import new_corpus

    folder = new_corpus(corpus_id, like, parent, is_package=package)
    put(Text("wrote "), Text(f"{visible(str(folder))}: a corpus of invented data, like {like}"))
    width = _WIDTH + (len(f"talkhouse_{corpus_id}/") if package else 0)
    for path in sorted(folder.rglob("*")):
        if path.name in _PARTS and len(path.relative_to(folder).parts) <= 1 + package:
            name = path.relative_to(folder).as_posix() + "/" * path.is_dir()
            put(Text(f"  {name:<{width}}"), Text(_PARTS[path.name]))
    where = visible(str(folder))
    steps = f"pip install --editable {where}, then: talkhouse conform {corpus_id}"
    put(Text("next: "), Text(steps if package else f"talkhouse conform {corpus_id} --corpora {where}"))


COMMANDS = {"corpus": corpus}
