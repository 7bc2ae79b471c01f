"""``talkhouse fetch`` and ``make``: a corpus's files, fetched from its publisher or made from what that publishes."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
def fetch_command(
    corpus: str, data: Path | None, folders: tuple[Path, ...], accept_terms: bool, sources: Path | None
) -> None:
    """Fetch a corpus's files from its publisher into DIR/CORPUS, once its terms are accepted. DIR defaults to corpora.

    The terms are shown and asked for; without a terminal, --accept-terms says that you accept them. A valid file that
    is already there is not fetched again, and an interrupted download is resumed, even by the next run. A file is put
    in its place only when it is complete and has its checksum. Where none is published, that of the first download is
    kept in DIR/.talkhouse-fetch, and later downloads are compared with it.

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
        output.print(f"there already: {escape(str(path))}")
    failures = list(request.wrong)
    if request.wanted:
        _show_terms(request)
        _accept(known, accept_terms)
        failures += _fetch(request)
    if request.corpus.by_hand:
        output.print(f"By hand: {escape(request.corpus.by_hand)}")
    for error in failures[:-1]:
        errors.print(f"[bold red]error:[/] {escape(str(error))}")
    if failures:
        raise failures[-1]
    output.print(f"Next:\n  talkhouse build --data {escape(str(request.places.data))}")


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
    output.print(f"[bold]{escape(corpus.title)}[/]")
    for name, text in facts.items():
        if text:
            output.print(f"  {name + ':':<9}{escape(text)}")
    output.print(f"Files for {escape(str(request.places.target('')))}:")
    for wanted in request.wanted:
        size = f", {decimal(wanted.source.size)}" if wanted.source.size else ""
        checksum = "" if wanted.source.sha256 else ", no checksum is published"
        note = f" ({escape(wanted.source.note)})" if wanted.source.note else ""
        address = f"{escape(wanted.source.path)} from {escape(wanted.source.url)}"
        output.print(f"  {address}{size}{checksum}{note}")


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
    """Fetch, print what arrived, and return the failures."""
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
                    _show_fetched(request, outcome)
    except KeyboardInterrupt:
        message = "interrupted; what is here of the files is kept, and the same command continues with it"
        raise KeyboardInterrupt(message) from None
    return failures


def _show_fetched(request: "FetchRequest", fetched: "Fetched") -> None:
    origin = "the published one" if fetched.is_published else "recorded, for none is published"
    path = escape(str(request.places.target(fetched.path)))
    output.print(f"fetched {path}: {decimal(fetched.bytes)}, SHA-256 {fetched.sha256} ({origin})")
    if fetched.moved_to:
        output.print(f"  it has moved: {escape(fetched.url)} leads to {escape(fetched.moved_to)}")


_SHOWN = 3
"""Places of a finding that are printed."""


@options.command
@options.corpus_id
@click.argument(
    "inputs",
    metavar="DUMP...",
    type=options.PATH,
    nargs=-1,
    required=True,
    help="A site's folder or .7z archive, or a folder of these.",
)
@options.path("--output", "folder", metavar="DIR", help="The folder to write to, new or empty.")
@options.corpus_folders
@click.option(
    "--site",
    "sites",
    metavar="NAME",
    multiple=True,
    help="Only this site (may be repeated; the files have the sites in this order). With one dump: its name.",
)
@click.option(
    "--threshold",
    "thresholds",
    metavar="SITE=X",
    multiple=True,
    help="Lowest sentiment, from -1 to 1, of the asker's last utterance (may be repeated). Default: the authors' of "
    "their 14 sites, 0.05 elsewhere.",
)
@click.option("--negatives", metavar="10,50|none", default="10,50", help="Wrong responses to rank the right one among.")
@click.option("--seed", metavar="N", default=0, help="Decides which wrong responses are drawn.")
@click.option(
    "--jobs", metavar="N", type=click.IntRange(1, 1024), default=1, help="Processes that draw at the same time."
)
@options.dry_run
def make_command(
    corpus: str,
    inputs: tuple[Path, ...],
    folder: Path | None,
    folders: tuple[Path, ...],
    sites: tuple[str, ...],
    thresholds: tuple[str, ...],
    negatives: str,
    seed: int,
    jobs: int,
    dry_run: bool,
) -> None:
    """Make a corpus's files from what its publisher made them from: MANtIS from dumps of Stack Exchange.

    DIR gets the publisher's files and manifest.json all at once, when they are complete. The same dumps and seed give
    the same bytes. What is made is not the published corpus, and the warehouse says so wherever it names the corpus.

    Examples:
        talkhouse make mantis travel.stackexchange.com.7z diy.stackexchange.com.7z --output corpora/mantis
        talkhouse make mantis dumps/ --site travel --threshold travel=0.2 --negatives none --output corpora/mantis
        talkhouse build --data corpora
    """
    from talkhouse.ingest.corpus import MakeOptions
    from talkhouse.ingest.registry import all_corpora, corpora, pick
    from talkhouse.schema.errors import UsageError
    from talkhouse.system.atomic_output import atomic_folder

    known = pick(all_corpora(corpus_folders(folders)), corpus)
    if known.make is None:
        makers = ", ".join(sorted(name for name, each in corpora().items() if each.make))
        next_step = "load the publisher's files: talkhouse build --data DIR"
        raise UsageError(f"nothing makes {corpus}", expected=f"one of: {makers}", next_step=next_step)
    if folder is None and not dry_run:
        raise UsageError("--output is missing", next_step="name a new folder: --output DIR")
    options = MakeOptions(
        sites=sites, thresholds=dict(map(_threshold, thresholds)), negatives=_negatives(negatives), seed=seed, jobs=jobs
    )
    outputs = nullcontext() if folder is None or dry_run else atomic_folder(folder)
    with outputs as private, ProgressBar() as progress, _inputs_read(inputs):
        manifest = known.make(inputs, options, private, progress)
    _show(manifest)
    if private and folder:
        output.print(f"Wrote {len(manifest['files']) + 1} files to {escape(str(folder))}")
        output.print(f"Next:\n  talkhouse ingest {corpus} {escape(str(folder))}")


@contextmanager
def _inputs_read(inputs: Sequence[Path]) -> Iterator[None]:
    """Name an input that may not be read as such: otherwise the output would be blamed."""
    from talkhouse.ingest.files.disk_files import forbidden

    try:
        yield
    except PermissionError as error:
        refused = Path(str(error.filename))
        if any(refused.is_relative_to(path) for path in inputs):
            raise forbidden(refused) from error
        raise


def _threshold(text: str) -> tuple[str, float]:
    """Read SITE=X. Raises UsageError."""
    from talkhouse.schema.errors import UsageError

    site, _, value = text.partition("=")
    try:
        return site, float(value)
    except ValueError:
        raise UsageError("--threshold is not SITE=X", expected="such as travel=0.17", found=text) from None


def _negatives(text: str) -> list[int]:
    """Read numbers separated by commas, or none. Raises UsageError."""
    from talkhouse.schema.errors import UsageError

    if text == "none":
        return []
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UsageError("--negatives is no list of numbers", expected="10,50, 10, 50 or none", found=text) from None


def _show(manifest: Mapping[str, Any]) -> None:
    """Print what became of each site's answers, and what was unusual."""
    for name, site in manifest["sites"].items():
        answers, threshold = site["answers"], site["threshold"]
        output.print(
            f"{escape(name)}: {site['dialogues']:,} dialogues from {answers['kept']:,} of {answers['seen']:,} answers "
            f"to {site['questions']:,} questions; threshold {threshold['value']} ({threshold['source']})"
        )
        lines = {f"dropped: {reason.replace('_', ' ')}": count for reason, count in answers["dropped"].items() if count}
        for split, facts in site["splits"].items():
            lines[f"in {split}" + ("" if facts["dialogues"] else ", which is empty")] = facts["dialogues"]
        for line, count in lines.items():
            output.print(f"{count:>9,}  {line}")
        for finding in site["findings"].values():
            output.print(f"  {finding['what']}: {finding['count']:,}")
            for where in finding["first"][:_SHOWN]:
                output.print(f"    {escape(where)}")
