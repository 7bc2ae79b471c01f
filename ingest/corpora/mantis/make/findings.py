"""What was unusual in a dump: how often, and where at first."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from talkhouse.ingest.corpora.mantis.make.dialogues import TIED, UNLISTED
from talkhouse.ingest.corpora.mantis.make.site import EMPTY, REPEATED
from talkhouse.ingest.corpora.mantis.make.xml_rows import INVALID

_SHOWN = 100

KINDS = {
    INVALID: "a reference to a character that XML does not have; it became U+FFFD (the authors' code stops)",
    REPEATED: "a post under an id that an earlier one has; the first one counts (the authors' code doubles comments)",
    EMPTY: "a comment without words; it became a placeholder (the authors' code stops where Text is missing)",
    UNLISTED: "somebody whom Users.xml does not list; the name is NaN (the authors' code stops at an asker)",
    TIED: "answers of one time whose comments alternate; each change begins a dialogue, as in the authors' code",
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
