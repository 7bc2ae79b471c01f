"""``talkhouse fetch``: a corpus's files, from its publisher."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, errors, escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.settings import DATA, corpus_folders
from talkhouse.system import ctrl_c

if TYPE_CHECKING:
    from talkhouse.fetch.fetch import FetchRequest
    from talkhouse.fetch.places import Fetched
    from talkhouse.ingest.corpus import Corpus
    from talkhouse.schema.errors import FetchFailed


@options.command
@options.corpus_id
@options.data
@options.corpus_folders
@options.accept_terms
@options.path(
    "--sources",
    metavar="FILE",
    envvar="TALKHOUSE_SOURCES",
    show_envvar=True,
    help='Other addresses than the declared ones, such as a mirror: JSON, {"CORPUS": [{"path": ..., '
    '"url": ..., "sha256": ..., "size": ...}]}, of which the last two may be null.',
)
def command(
    corpus: str, data: Path | None, folders: tuple[Path, ...], accept_terms: bool, sources: Path | None
) -> None:
    """Fetch a corpus's files from its publisher into DIR/CORPUS, once its terms are accepted. DIR defaults to corpora.

    The terms are shown and asked for; without a terminal, --accept-terms says that you accept them. A good file that is
    there already is not fetched again, and an interrupted download is resumed, by the next run too. A file is in its
    place only when it is whole and has its checksum. Where none is published, that of the first download is kept in
    DIR/.talkhouse-fetch, and later downloads are compared with it.

    Examples:
        talkhouse fetch dbdc3
        talkhouse fetch mpchat --data corpora --accept-terms
        talkhouse build --data corpora
    """
    from talkhouse.fetch.fetch import plan
    from talkhouse.fetch.places import sources_of
    from talkhouse.ingest.registry import all_corpora, pick

    known, data = pick(all_corpora(corpus_folders(folders)), corpus), data or DATA
    files = sources_of(known, sources)
    if not files:
        raise _nothing(known, data)
    request = plan(known, files, data)
    for path in request.there:
        output.print(f"there already: {escape(str(path))}", soft_wrap=True)
    failures = list(request.wrong)
    if request.wanted:
        _show_terms(request)
        _accept(known, accept_terms)
        failures += _fetch(request)
    _end(request, failures)


def _nothing(corpus: "Corpus", data: Path) -> "FetchFailed":
    from talkhouse.schema.errors import FetchFailed

    return FetchFailed(
        f"no file of {corpus.id} can be fetched: no address gives one",
        found=corpus.by_hand or None,
        next_step=f"get {corpus.files}; put them into {data / corpus.id} (about the corpus: {corpus.homepage})",
    )


def _show_terms(request: "FetchRequest") -> None:
    """Print what a user accepts, and what will be fetched from where."""
    corpus = request.corpus
    licence = f"{corpus.licence} ({corpus.licence_url})" if corpus.licence_url else corpus.licence
    facts = {"licence": licence, "terms": corpus.terms, "cite": corpus.citation, "about": corpus.homepage}
    output.print(f"[bold]{escape(corpus.title)}[/]", soft_wrap=True)
    for name, text in facts.items():
        if text:
            output.print(f"  {name + ':':<9}{escape(text)}", soft_wrap=True)
    output.print(f"Files for {escape(str(request.places.target('')))}:", soft_wrap=True)
    for wanted in request.wanted:
        size = f", {decimal(wanted.source.size)}" if wanted.source.size else ""
        checksum = "" if wanted.source.sha256 else ", no checksum is published"
        note = f" ({escape(wanted.source.note)})" if wanted.source.note else ""
        address = f"{escape(wanted.source.path)} from {escape(wanted.source.url)}"
        output.print(f"  {address}{size}{checksum}{note}", soft_wrap=True)


def _accept(corpus: "Corpus", is_accepted: bool) -> None:
    """Raise TermsNotAccepted unless the user has accepted, or does so now."""
    from talkhouse.schema.errors import TermsNotAccepted

    if is_accepted:
        return
    if not (sys.stdin.isatty() and output.is_terminal):
        next_step = "read them above, and run the same command with --accept-terms"
        raise TermsNotAccepted(f"the terms of {corpus.id} are not accepted; nothing was fetched", next_step=next_step)
    try:
        agrees = click.confirm("Do you accept the licence and the terms?")
    except click.Abort:
        if ctrl_c.came():
            raise KeyboardInterrupt("interrupted; nothing was fetched") from None
        agrees = False
    if not agrees:
        raise TermsNotAccepted(f"the terms of {corpus.id} were not accepted; nothing was fetched")


def _fetch(request: "FetchRequest") -> "list[FetchFailed]":
    """Fetch, print what came, and return what failed."""
    from talkhouse.fetch.client import Patience
    from talkhouse.fetch.fetch import fetch
    from talkhouse.schema.errors import FetchFailed

    failures: list[FetchFailed] = []
    try:
        with ProgressBar() as progress:
            for outcome in fetch(request, progress, Patience.of_environment()):
                progress.end()
                if isinstance(outcome, FetchFailed):
                    failures.append(outcome)
                else:
                    _show(request, outcome)
    except KeyboardInterrupt:
        message = "interrupted; what is here of the files is kept, and the same command continues with it"
        raise KeyboardInterrupt(message) from None
    return failures


def _show(request: "FetchRequest", fetched: "Fetched") -> None:
    origin = "the published one" if fetched.is_published else "recorded, for none is published"
    path = escape(str(request.places.target(fetched.path)))
    output.print(f"fetched {path}: {decimal(fetched.bytes)}, SHA-256 {fetched.sha256} ({origin})", soft_wrap=True)
    if fetched.moved_to:
        output.print(f"  it has moved: {escape(fetched.url)} leads to {escape(fetched.moved_to)}", soft_wrap=True)


def _end(request: "FetchRequest", failures: "Sequence[FetchFailed]") -> None:
    """Print what else there is to get, and what to do next; raise the last of the failures."""
    if request.corpus.by_hand:
        output.print(f"By hand: {escape(request.corpus.by_hand)}", soft_wrap=True)
    for error in failures[:-1]:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
    if failures:
        raise failures[-1]
    output.print(f"Next:\n  talkhouse build --data {escape(str(request.places.data))}", soft_wrap=True)
