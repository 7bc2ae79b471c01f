"""``talkhouse corpora``: the corpora that can be read here, and where each of them comes from."""

from pathlib import Path

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import print_table, styled
from talkhouse.settings import corpus_folders
from talkhouse.visible import visible, visible_json


@options.command
@options.corpus_folders
@options.data
@options.as_json
def command(folders: tuple[Path, ...], data: Path | None, as_json: bool) -> None:
    """List the corpora that can be read here: id, where its code comes from, and title.

    They come with Talkhouse (built in), with installed packages (entry points of the group talkhouse.corpora), and from
    the folders in --corpora or TALKHOUSE_CORPORA. From a data folder, nothing is ever imported: there a page of TOML,
    corpus.toml, declares what a corpus is. Without --data, the folder corpora is used.

    All of them are imported for this list; one that can't be imported is listed with the reason, and stops only what
    needs it.

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
    rows = []
    for corpus in found:
        title = visible(corpus["title"] or "")
        about = styled(visible(corpus["problem"], lines=True), "red") if corpus["problem"] is not None else title
        rows.append([visible(corpus["corpus_id"] or ""), visible(corpus["origin"] or ""), about])
    print_table(("corpus", "from", "title"), rows)
