"""``talkhouse cite``: how to cite a corpus, or the corpora whose rows a view, table or export has."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.citation import CitationFormat
from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.completion import corpora
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database
from talkhouse.visible import escaped_json, visible

if TYPE_CHECKING:
    from talkhouse.query.manifest import Cited


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
@click.option("--release", metavar="NAME", help="As it is in this Talkhouse release, which is cited too.")
@options.db
def command(
    name: str, citation_format: CitationFormat, with_talkhouse: bool, release: str | None, db: Path | None
) -> None:
    r"""Print how to cite a corpus, or all corpora whose rows a view, table or export has: BibTeX, CSL JSON or text.

    A release is cited with its content id and the SHA-256 of its manifest, by which its state is found again.

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
    from talkhouse.citation import formats

    cited = _of_release(name, release, db) or _cited(name, database(db))
    if not cited.corpora:
        raise UsageError(f"nothing to cite: {name} has no rows of a corpus", next_step="name a corpus or another view")
    made = getattr(formats, citation_format)([*cited.corpora, *([cited.talkhouse] if with_talkhouse else [])])
    print(escaped_json(made) if citation_format is CitationFormat.CSL else visible(made, lines=True), end="")


def _of_release(name: str, release: str | None, db: Path | None) -> "Cited | None":
    """Return what to cite of a release: ``name``, or in ``release`` what is named; None where neither is one."""
    from talkhouse.releases.checkout import cited_in
    from talkhouse.releases.store import names, store_of

    if release is None and (name not in names(store_of(db=db)) or Path(name).exists()):
        return None
    return cited_in(release or name, None if release is None else name, store_of(db=db))


def _cited(name: str, path: Path) -> "Cited":
    from talkhouse.query.manifest import manifest_of, of_export, of_name
    from talkhouse.warehouse.opened import opened

    described = manifest_of(name)
    if described is not None:
        return of_export(described)
    with opened(path) as warehouse:
        return of_name(warehouse, name)
