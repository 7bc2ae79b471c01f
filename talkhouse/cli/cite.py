"""``talkhouse cite`` and ``licences``: how corpora are cited, and under which licences installed packages are."""

from dataclasses import asdict
from pathlib import Path

import click

from talkhouse.citation import CitationFormat
from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.completion import corpora
from talkhouse.cli.terminal.console import print_table
from talkhouse.escaping import escaped_json, visible, visible_json
from talkhouse.settings import database


@options.command
@click.argument(
    "name",
    metavar="CORPUS|VIEW|EXPORT|RELEASE",
    shell_complete=corpora,
    help="A corpus, a view or table, what talkhouse export wrote (a file or a folder), or a release.",
)
@click.option(
    "--format",
    "citation_format",
    type=options.OneOf(CitationFormat),
    default=CitationFormat.BIBTEX.value,
    help="bibtex, csl (CSL JSON, for reference managers and Pandoc), or text.",
)
@options.flag("--with-talkhouse", help="Also Talkhouse itself, with its version and the build.")
@click.option("--release", metavar="NAME", help="As in this Talkhouse release, which is cited too.")
@options.db
def cite_command(
    name: str, citation_format: CitationFormat, with_talkhouse: bool, release: str | None, db: Path | None
) -> None:
    r"""Print how to cite a corpus, or all corpora with rows in a view, table or export: BibTeX, CSL JSON or text.

    A release is cited with its content id and the SHA-256 of its manifest, which identify its state.

    For an export, its manifest is used, and no warehouse is needed. BibTeX is in UTF-8; its keys are the ids of the
    corpora. A corpus whose authors and publication are not declared is @misc, with its reference as note. Control
    characters and invisible ones are written as \x1b, \u202e.

    Examples:
        talkhouse cite dbdc3
        talkhouse cite bi.turns --format text
        talkhouse cite breakdown.parquet --with-talkhouse
        talkhouse cite 2026-11
        talkhouse cite dbdc3 --release 2026-11
    """
    from talkhouse.releases.cite import cite
    from talkhouse.releases.store import store_of
    from talkhouse.warehouse.opened import opened

    text = cite(
        name,
        citation_format,
        store_of(db=db),
        lambda: opened(database(db)),
        release=release,
        with_talkhouse=with_talkhouse,
    )
    print(escaped_json(text) if citation_format is CitationFormat.CSL else visible(text, lines=True), end="")


@options.command
@options.as_json
def licences_command(as_json: bool) -> None:
    """List the licences of the packages that Talkhouse needs on this machine, with the extras that they come with.

    Each is what the installed package declares: an SPDX expression, or a name. For an extra that is not installed, only
    the packages that it names itself are listed. Corpora have licences of their own: see talkhouse status.

    Examples:
        talkhouse licences

        talkhouse licences --json
    """
    from talkhouse.installed_packages import packages

    found = packages()
    if as_json:
        print(visible_json([asdict(item) for item in found]))
        return
    rows = (
        (item.name, item.version or "not installed", item.licence or "", ", ".join(item.extras) or "talkhouse")
        for item in found
    )
    print_table(("package", "version", "licence", "comes with"), (list(map(visible, row)) for row in rows))
