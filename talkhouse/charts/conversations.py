"""Reads how the conversations of a corpus are shown where labels and texts alone would not tell what happens.

``<corpus>/bi/reading.toml`` explains what people do, says which turns are drawn as a line, which schemes are left out,
and from which view of ``bi`` one sees who holds what when.
"""

from collections.abc import Sequence
from functools import lru_cache
from string import Formatter

import msgspec
import polars as pl

from talkhouse.charts.declarations import Parts, broken, check_view, place_in_bi, read
from talkhouse.queries.files import Files, own_files

READING = "reading.toml"
"""The file, among what BI tools get of a corpus."""

_LONGEST = 1_000
"""Characters of a pattern."""

_WHOLE = "_whole_text"

SPEAKER = "speaker"
"""What a line names beside the groups of its pattern: who says the turn."""


class Timeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who holds what at which turn: rows of a view, of which those count where a person's state becomes another."""

    view: str
    """A view of ``bi``, without the schema, with record_id, dialogue_id and turn_index."""
    title: str
    person: str
    """The column with the name of a person."""
    state: str
    """The column with what the person holds after the turn, as a text; items are separated by a comma."""
    message: str = ""
    """The column with the turn that says a change in its own words, where one does."""
    before: str = ""
    """The column with the turn that came before a change, where one did."""
    score: str = ""
    """The column with how good it is, 0 to 1."""
    overall: str = ""
    """The column with a number of all people together after the turn."""
    overall_title: str = ""


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How turns of a kind are drawn, if their text is of a pattern: as one sentence."""

    kind: str
    pattern: str
    """A regular expression that the whole text is of; named groups are items that are separated by a comma.

    Of Rust, which takes no longer for one than for another: a warehouse from somebody else may have any.
    """
    sentence: str
    """With ``{speaker}`` and the groups in braces."""
    nothing: str = "none"
    """What stands where a group is empty."""

    def __post_init__(self) -> None:
        """Raise ValueError for a pattern that is none, and for a name that it does not give."""
        if len(self.pattern) > _LONGEST:
            raise ValueError(f"a pattern has {_LONGEST:,} characters at most, and not {len(self.pattern):,}")
        try:
            groups = self._groups([""]).struct.fields
        except pl.exceptions.ComputeError as error:
            raise ValueError(f"the pattern {self.pattern} is none: {str(error).splitlines()[0]}") from error
        named = {name for _, name, _, _ in Formatter().parse(self.sentence) if name is not None}
        if unknown := sorted(named - {*groups, SPEAKER}):
            raise ValueError(f"the sentence names {unknown[0]}, which is no group of the pattern")

    def matches(self, texts: Sequence[str]) -> list[dict[str, str | None] | None]:
        """Return for each text what its groups have; None where it is not of the pattern."""
        return [groups if groups[_WHOLE] is not None else None for groups in self._groups(texts).to_list()]

    def _groups(self, texts: Sequence[str]) -> pl.Series:
        return pl.Series(texts, dtype=pl.String).str.extract_groups(rf"(?s)\A(?P<{_WHOLE}>{self.pattern})\z")


class ConversationDisplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the conversations of a corpus are shown."""

    explanation: str = ""
    """What people do in them, for whoever reads one for the first time."""
    hidden: tuple[str, ...] = ()
    """Annotation schemes that are not shown turn by turn."""
    lines: tuple[Line, ...] = ()
    timeline: Timeline | None = None


_PARTS: Parts = {"": ConversationDisplay, "lines": Line, "timeline": Timeline}


def conversations(corpus_id: str, files: Files | None = None) -> ConversationDisplay | None:
    """Return how the conversations of a corpus are shown; None where it declares nothing of it."""
    return _conversations(corpus_id, own_files() if files is None else files)


@lru_cache(maxsize=16)
def _conversations(corpus_id: str, files: Files) -> ConversationDisplay | None:
    for file in files:
        if file.folder == corpus_id and place_in_bi(file) == READING:
            declared = read(file, ConversationDisplay, _PARTS)
            schemes = [name for name in declared.hidden if not name.startswith(f"{corpus_id}.")]
            if schemes:
                raise broken(file.path, f"{schemes[0]} is no scheme of {corpus_id}")
            if declared.timeline:
                check_view(file.path, declared.timeline.view)
            return declared
    return None
