"""``manifest.json``: what a made corpus was made from and how, what was dropped, and what attribution needs.

It has no time and no path, so that equal inputs give equal bytes.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any

from talkhouse.ingest.corpora.mantis.files import MADE
from talkhouse.ingest.corpora.mantis.make import sentiment
from talkhouse.ingest.corpora.mantis.make.dialogues import REASONS, TIED, UNLISTED, AnswerCounts
from talkhouse.ingest.corpora.mantis.make.dump import Site
from talkhouse.ingest.corpora.mantis.make.merged import Boundaries, slices
from talkhouse.ingest.corpora.mantis.make.sentiment import Threshold
from talkhouse.ingest.corpora.mantis.make.site import EMPTY, INVALID, REPEATED
from talkhouse.ingest.making import MakeOptions

_SHOWN = 100

KINDS = {
    INVALID: "references to characters that XML does not have, now U+FFFD (the authors' code stops)",
    REPEATED: "posts under an id that an earlier one has, left out (the authors' code doubles comments)",
    EMPTY: "comments without words, now a placeholder (the authors' code stops where Text is missing)",
    UNLISTED: "people whom Users.xml does not list, with NaN as their name (the authors' code stops at an asker)",
    TIED: "answers of one time with alternating comments: each change begins a dialogue (as in the authors' code)",
}


class Findings:
    """Counts findings by kind and keeps the first places of each."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._places: dict[str, list[str]] = {}

    def report(self, kind: str, where: str) -> None:
        """Take a finding."""
        self._counts[kind] += 1
        places = self._places.setdefault(kind, [])
        if len(places) < _SHOWN:
            places.append(where)

    def described(self) -> Mapping[str, Any]:
        """Return what a manifest says of them, in the order of the kinds."""
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


NAME = "manifest.json"
FORMAT = 1

_ATTRIBUTION = (
    "The texts are posts and comments of Stack Exchange under CC BY-SA: version 2.5 before 2011-04-08, 3.0 before "
    "2018-05-02, 4.0 since then. Whoever passes them on names the authors (user_name), links to the posts and to their "
    "authors as below, names the licence, and shares alike."
)


def write(
    folder: Path | None, made: Sequence[MadeSite], rankings: Mapping[str, Any], options: MakeOptions
) -> Mapping[str, Any]:
    """Describe what was made, and write it to the folder if there is one."""
    described = {
        "kind": MADE,
        "format": FORMAT,
        "note": "Not the published MANtIS: made from the dumps below.",
        "made_from": "dumps of " + ", ".join(site.site.name for site in made),
        "versions": {name: version(name) for name in ("talkhouse", *sentiment.PACKAGES)},
        "seed": options.seed,
        "negatives": list(options.negatives),
        "attribution": _ATTRIBUTION,
        "sites": {site.site.name: _of_site(site) for site in made},
        "rankings": rankings,
    }
    if folder:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
        described["files"] = {path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in paths}
        (folder / NAME).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    return described


def _of_site(made: MadeSite) -> Mapping[str, Any]:
    host, counts = made.site.host, made.counts
    return {
        "host": host,
        "links": {
            "post": f"https://{host}/q/{{id}}",
            "comment": f"https://{host}/posts/comments/{{comment id}}",
            "author": f"https://{host}/users/{{user_id}}",
        },
        "files": made.site.checksums,
        "rows": made.rows,
        "posts_by_licence": dict(sorted(made.licences.items())),
        "threshold": {"value": made.threshold.value, "source": made.threshold.source},
        "questions": made.questions,
        "answers": {
            "seen": counts.seen,
            "kept": counts.kept,
            "dropped": {reason: counts.dropped[reason] for reason in REASONS},
        },
        "dialogues": len(made.times),
        "splits": {
            split: {
                "dialogues": len(numbers),
                "first": made.times[numbers[0]] if numbers else None,
                "last": made.times[numbers[-1]] if numbers else None,
            }
            for split, numbers in slices(made.cut, len(made.times)).items()
        },
        "boundaries_moved": {"dev": made.cut.walked[0], "test": made.cut.walked[1]},
        "findings": made.findings.described(),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
