"""What was unusual in a dump: how often, and where at first."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from talkhouse.ingest.corpora.mantis.make.dialogues import TIED, UNLISTED
from talkhouse.ingest.corpora.mantis.make.site import EMPTY, REPEATED
from talkhouse.ingest.corpora.mantis.make.xml_rows import INVALID

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
