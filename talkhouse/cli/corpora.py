"""``talkhouse corpora``: the corpora that can be read here, and where each of them comes from."""

from rich import box
from rich.table import Table
from rich.text import Text

from talkhouse.cli.terminal.console import Printer, output
from talkhouse.cli.terminal.options import AsJson, CorpusFolders, Data
from talkhouse.settings import corpus_folders
from talkhouse.visible import visible, visible_json


def command(
    folders: CorpusFolders = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List the corpora that can be read here: id, where its code comes from, and title.

    They come with Talkhouse (built in), with packages that are installed (entry points of the group talkhouse.corpora),
    and from folders that are named by --corpora or TALKHOUSE_CORPORA. From a data folder, nothing is ever imported:
    there a page of TOML, corpus.toml, declares what a corpus is. Without --data, the folder corpora is looked into.

    All of them are imported for this list; one that is broken is in it with the reason, and stops only what needs it.

    Examples:
        talkhouse corpora

        talkhouse corpora --corpora ~/our-corpora --json
    """
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.settings import DATA

    found = all_corpora(corpus_folders(folders), data or DATA).described()
    if as_json:
        print(visible_json(found))
        return
    table = Table(box=box.SIMPLE, header_style="bold")
    for head in ("corpus", "from", "title"):
        table.add_column(head, overflow="fold")
    for corpus in found:
        table.add_row(*(Text(visible(corpus[name] or "")) for name in ("corpus_id", "origin")), _about(corpus))
    (output if output.is_terminal else Printer(width=10_000)).print(table)


def _about(corpus: dict[str, str | None]) -> Text:
    """Return the title of a corpus, or why it can't be read."""
    if corpus["problem"] is None:
        return Text(visible(corpus["title"] or ""))
    return Text(visible(corpus["problem"], lines=True), "red")
