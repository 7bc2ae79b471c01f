"""``talkhouse make``: a corpus's files, made from what its publisher made them from."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.settings import corpus_folders

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
def command(
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
        sites=sites,
        thresholds=dict(map(_threshold, thresholds)),
        negatives=_negatives(negatives),
        seed=seed,
        jobs=jobs,
    )
    outputs = nullcontext() if folder is None or dry_run else atomic_folder(folder)
    with outputs as private, ProgressBar() as progress, _inputs_read(inputs):
        manifest = known.make(inputs, options, private, progress)
    _show(manifest)
    if private and folder:
        output.print(f"Wrote {len(manifest['files']) + 1} files to {escape(str(folder))}", soft_wrap=True)
        output.print(f"Next:\n  talkhouse ingest {corpus} {escape(str(folder))}", soft_wrap=True)


@contextmanager
def _inputs_read(inputs: Sequence[Path]) -> Iterator[None]:
    """Say of an input that may not be read that it is one: else it would be taken for the output."""
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
            f"to {site['questions']:,} questions; threshold {threshold['value']} ({threshold['source']})",
            soft_wrap=True,
        )
        lines = {f"dropped: {reason.replace('_', ' ')}": count for reason, count in answers["dropped"].items() if count}
        for split, facts in site["splits"].items():
            lines[f"in {split}" + ("" if facts["dialogues"] else ", which is empty")] = facts["dialogues"]
        for line, count in lines.items():
            output.print(f"{count:>9,}  {line}")
        for finding in site["findings"].values():
            output.print(f"  {finding['what']}: {finding['count']:,}", soft_wrap=True)
            for where in finding["first"][:_SHOWN]:
                output.print(f"    {escape(where)}", soft_wrap=True)
