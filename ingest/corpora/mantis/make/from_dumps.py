"""From dumps to the publisher's files: site by site to dialogues, then the rankings, then ``manifest.json``.

The manifest says what the corpus was made from and how, what was dropped, and what attribution needs. It has no time
and no path, so that equal inputs give equal bytes.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec

from talkhouse.ingest.corpora.mantis.format import MADE, RANKING
from talkhouse.ingest.corpora.mantis.make.dialogues import (
    PACKAGES,
    REASONS,
    TIED,
    UNLISTED,
    AnswerCounts,
    Builder,
    Threshold,
    scorer,
    thresholds,
)
from talkhouse.ingest.corpora.mantis.make.dump import Site, find
from talkhouse.ingest.corpora.mantis.make.ranking_files import (
    METHOD,
    Boundaries,
    Merged,
    boundaries,
    slices,
    write_rankings,
)
from talkhouse.ingest.corpora.mantis.make.sampler import TooFewTexts, WorkerEnded
from talkhouse.ingest.corpora.mantis.make.site import EMPTY, INVALID, REPEATED, Dump, Row, XmlRows
from talkhouse.ingest.corpus import MakeOptions, NotMade, WrongInput
from talkhouse.ingest.progress import Progress


class Findings:
    """Counts findings by kind and keeps the first places of each."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._places: dict[str, list[str]] = {}

    def report(self, kind: str, where: str) -> None:
        """Count a finding."""
        self._counts[kind] += 1
        places = self._places.setdefault(kind, [])
        if len(places) < _SHOWN:
            places.append(where)

    def described(self) -> Mapping[str, Any]:
        """Return the facts for a manifest, in the order of the kinds."""
        return {
            kind: {"count": self._counts[kind], "what": what, "first": self._places[kind]}
            for kind, what in KINDS.items()
            if kind in self._counts
        }


@dataclass(frozen=True)
class MadeSite:
    """What became of one site's dump."""

    site: Site
    threshold: Threshold
    rows: Mapping[str, int]
    """Rows of each file."""
    questions: int
    counts: AnswerCounts
    cut: Boundaries
    times: Sequence[Any]
    """The questions' times, dialogue by dialogue."""
    licences: Mapping[str, int]
    findings: Findings


def make(inputs: Sequence[Path], options: MakeOptions, folder: Path | None, progress: Progress) -> Mapping[str, Any]:
    """Make the files of dumps in a folder, or count only where there is none; return the manifest.

    The folder should be a private one, which is moved into place afterwards: a failure leaves half of the files there.
    Raises WrongInput where an input or an option is wrong, NotMade where a dump is damaged or too small.
    """
    _check(options)
    sites = find(inputs, options.sites)
    by_site = thresholds([site.name for site in sites], options.thresholds or {})
    score = scorer()
    with Merged(folder) if folder else nullcontext() as merged:
        results = [_of_site(site, by_site[site.name], score, merged, progress) for site in sites]
    rankings = _rank(folder, merged, options, progress) if folder and merged and options.negatives else {}
    return write_manifest(folder, results, rankings, options)


def _check(options: MakeOptions) -> None:
    for number in options.negatives:
        if number not in RANKING.values() or list(options.negatives).count(number) > 1:
            raise WrongInput(
                f"there is no file of {number} negatives, or it is named twice",
                expected=" or ".join(map(str, RANKING.values())) + ", separated by commas, or none",
            )


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
        now = builder.counts.used + builder.counts.dropped.total()
        progress.advance(now - done)
        done = now
        yield dialogue


def _rank(folder: Path, merged: Merged, options: MakeOptions, progress: Progress) -> Mapping[str, Any]:
    """Write the ranking files, and describe them; raises NotMade where the dialogues are too few."""
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
            expected=f"{error.negatives} texts besides each response in train and dev",
            found=f"{error.distinct_texts:,} different texts, enough for {error.largest} negatives",
            next_step=f"take --negatives {smaller[-1] if smaller else 'none'}, or more or larger sites",
        ) from error
    except WorkerEnded as error:
        raise NotMade(
            "a process that draws negatives was ended; nothing was written",
            found=f"its exit code is {error.returncode}",
            next_step="if memory was short, try again with fewer --jobs",
        ) from error


_SHOWN = 100

KINDS = {
    INVALID: "references to characters that XML does not have, now U+FFFD (the authors' code stops)",
    REPEATED: "posts under an id that an earlier one has, left out (the authors' code doubles comments)",
    EMPTY: "comments without words, now a placeholder (the authors' code stops where Text is missing)",
    UNLISTED: "people whom Users.xml does not list, with NaN as their name (the authors' code stops at an asker)",
    TIED: "answers of one time with alternating comments: each change begins a dialogue (as in the authors' code)",
}


NAME = "manifest.json"
FORMAT = 1

_ATTRIBUTION = (
    "The texts are posts and comments of Stack Exchange under CC BY-SA: version 2.5 before 2011-04-08, 3.0 before "
    "2018-05-02, 4.0 since then. Whoever passes them on names the authors (user_name), links to the posts and to their "
    "authors as below, names the licence, and shares alike."
)


def write_manifest(
    folder: Path | None, results: Sequence[MadeSite], rankings: Mapping[str, Any], options: MakeOptions
) -> Mapping[str, Any]:
    """Describe what was made, and write it to the folder if there is one."""
    described = {
        "kind": MADE,
        "format": FORMAT,
        "note": "Not the published MANtIS: made from the dumps below.",
        "made_from": "dumps of " + ", ".join(site.site.name for site in results),
        "versions": {name: version(name) for name in ("talkhouse", *PACKAGES)},
        "seed": options.seed,
        "negatives": list(options.negatives),
        "attribution": _ATTRIBUTION,
        "sites": {site.site.name: _described_site(site) for site in results},
        "rankings": rankings,
    }
    if folder:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
        described["files"] = {path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in paths}
        (folder / NAME).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    return described


def _described_site(site: MadeSite) -> Mapping[str, Any]:
    host, counts = site.site.host, site.counts
    return {
        "host": host,
        "links": {
            "post": f"https://{host}/q/{{id}}",
            "comment": f"https://{host}/posts/comments/{{comment id}}",
            "author": f"https://{host}/users/{{user_id}}",
        },
        "files": site.site.checksums,
        "rows": site.rows,
        "posts_by_licence": dict(sorted(site.licences.items())),
        "threshold": {"value": site.threshold.value, "source": site.threshold.source},
        "questions": site.questions,
        "answers": {
            "seen": counts.seen,
            "kept": counts.used,
            "dropped": {reason: counts.dropped[reason] for reason in REASONS},
        },
        "dialogues": len(site.times),
        "splits": {
            split: {
                "dialogues": len(numbers),
                "first": site.times[numbers[0]] if numbers else None,
                "last": site.times[numbers[-1]] if numbers else None,
            }
            for split, numbers in slices(site.cut, len(site.times)).items()
        },
        "boundaries_moved": {"dev": site.cut.walked[0], "test": site.cut.walked[1]},
        "findings": site.findings.described(),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
