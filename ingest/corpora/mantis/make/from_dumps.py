"""From dumps to the publisher's files: site by site to dialogues, then the rankings, then the manifest."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec

from talkhouse.ingest.corpora.mantis.files import RANKING
from talkhouse.ingest.corpora.mantis.make import manifest, sentiment
from talkhouse.ingest.corpora.mantis.make.dialogues import Builder
from talkhouse.ingest.corpora.mantis.make.dump import Site, find
from talkhouse.ingest.corpora.mantis.make.manifest import Findings, MadeSite
from talkhouse.ingest.corpora.mantis.make.merged import Merged, boundaries, slices
from talkhouse.ingest.corpora.mantis.make.ranking.sampler import TooFewTexts, WorkerEnded
from talkhouse.ingest.corpora.mantis.make.sentiment import Threshold, thresholds
from talkhouse.ingest.corpora.mantis.make.site import Dump, Row, XmlRows
from talkhouse.ingest.making import MakeOptions, NotMade, WrongInput
from talkhouse.ingest.progress import Progress


def make(inputs: Sequence[Path], options: MakeOptions, folder: Path | None, progress: Progress) -> Mapping[str, Any]:
    """Make the files of dumps in a folder, or count only where there is none; return the manifest.

    The folder should be a private one, which is moved into place afterwards: a failure leaves half of the files there.
    Raises WrongInput where an input or an option is wrong, NotMade where a dump is damaged or too small.
    """
    _check(options)
    sites = find(inputs, options.sites)
    by_site = thresholds([site.name for site in sites], options.thresholds or {})
    score = _scorer()
    with Merged(folder) if folder else nullcontext() as merged:
        made = [_of_site(site, by_site[site.name], score, merged, progress) for site in sites]
    rankings = _rank(folder, merged, options, progress) if folder and merged and options.negatives else {}
    return manifest.write(folder, made, rankings, options)


def _check(options: MakeOptions) -> None:
    for number in options.negatives:
        if number not in RANKING.values() or list(options.negatives).count(number) > 1:
            raise WrongInput(
                f"there is no file of {number} negatives, or it is named twice",
                expected=" or ".join(map(str, RANKING.values())) + ", separated by commas, or none",
            )


def _scorer() -> Callable[[str], float]:
    try:
        return sentiment.scorer()
    except ImportError as error:
        next_step = "type: pip install 'talkhouse[make]'"
        raise WrongInput("this needs packages that are not installed", found=str(error), next_step=next_step) from error


def _of_site(
    site: Site, threshold: Threshold, score: Callable[[str], float], merged: Merged | None, progress: Progress
) -> MadeSite:
    """Read a site's dump, and add its dialogues to the files."""
    findings = Findings()
    with TemporaryFile() as texts:
        dump = Dump(findings.report, texts)
        rows = _read(site, dump, progress)
        progress.begin(f"making dialogues of {site.name}", records=len(dump.answers), unit="answers")
        builder = Builder(dump, site.name, threshold.value, score)
        times, dialogues = [], []
        for dialogue in _counted(builder, progress):
            times.append(dialogue["dialog_time"])
            dialogues.append(json.dumps(dialogue).encode() if merged else b"")
    cut = boundaries(times)
    if merged:
        for split, numbers in slices(cut, len(times)).items():
            for number in numbers:
                merged.add(split, dialogues[number])
    asked = len(dump.questions) + len(dump.without_owner)
    return MadeSite(site, threshold, rows, asked, builder.counts, cut, times, dump.licences, findings)


def _read(site: Site, dump: Dump, progress: Progress) -> Mapping[str, int]:
    """Read all files of a dump; return how many rows each has."""
    progress.begin(f"reading {site.name}", size=site.size, unit="answers")
    parts: dict[str, XmlRows] = {}

    def start(part: str) -> tuple[Callable[[bytes], None], Callable[[], None]]:
        take = dump.take(part)

        def count(rows: list[Row]) -> None:
            before = len(dump.answers)
            take(rows)
            progress.advance(len(dump.answers) - before)

        where = f"{site.path}/{part}"
        rows = parts[part] = XmlRows(where, part.removesuffix(".xml").lower(), count, dump.report)

        def feed(piece: bytes) -> None:
            rows.feed(piece)
            progress.advance(0, len(piece))

        return feed, rows.close

    site.read(start)
    return {part: rows.rows for part, rows in parts.items()}


def _counted(builder: Builder, progress: Progress) -> Iterator[dict[str, Any]]:
    """Pass dialogues on, and count answers as they are done."""
    done = 0
    for dialogue in builder.dialogues():
        now = builder.counts.kept + builder.counts.dropped.total()
        progress.advance(now - done)
        done = now
        yield dialogue


def _rank(folder: Path, merged: Merged, options: MakeOptions, progress: Progress) -> Mapping[str, Any]:
    """Write the ranking files, and describe them; raises NotMade where the dialogues are too few."""
    # Needs numpy, which --negatives none spares.
    from talkhouse.ingest.corpora.mantis.make.ranking.write import METHOD, write_rankings

    try:
        rankings = write_rankings(
            folder,
            merged.conversations,
            merged.sizes,
            negatives=options.negatives,
            seed=options.seed,
            jobs=options.jobs,
            progress=progress,
        )
        return {"method": METHOD, **msgspec.to_builtins(rankings, str_keys=True)}
    except TooFewTexts as error:
        smaller = [number for number in RANKING.values() if number <= error.largest]
        raise NotMade(
            f"there are too few texts for {error.negatives} negatives; nothing was written",
            where="all sites together" if error.category is None else f"site {error.category}",
            expected=f"{error.negatives} texts beside each response in train and dev",
            found=f"{error.distinct_texts:,} different texts, enough for {error.largest} negatives",
            next_step=f"take --negatives {smaller[-1] if smaller else 'none'}, or more or larger sites",
        ) from error
    except WorkerEnded as error:
        raise NotMade(
            "a process that draws negatives was ended; nothing was written",
            found=f"its exit code is {error.returncode}",
            next_step="if memory was short, try again with fewer --jobs",
        ) from error
