"""A difference in sentences, for a terminal or a page: what became of a corpus, and what that means for a task."""

from collections.abc import Iterable, Mapping

from talkhouse.diff.compare import Change
from talkhouse.diff.found import Compared, CorpusChange, Difference
from talkhouse.diff.words import Words, words

_THINGS = {
    "main.dialogues": "dialogue",
    "main.records": "record",
    "main.turns": "turn",
    "main.personas": "persona",
}
"""Tables whose rows are counted by name, in this order."""

_CHANGES = ("removed", "added", "changed", "moved", "renumbered")


def head(found: Difference) -> str:
    """Return what is compared with what."""
    before, after = found.sides
    if before.of_release is not None:
        return f"{before.state.name}: the publisher's releases {before.of_release} and {after.of_release}"
    return f"{before.state.name} and {after.state.name}"


def schema_lines(found: Difference) -> list[str]:
    """Return what differs between the schemas, a line each."""
    lines = []
    for side, name in zip(found.sides, ("first", "second"), strict=True):
        if side.is_migrated:
            lines.append(f"the {name} has schema {side.revision}, and was compared as a copy that was migrated")
    if found.tables_added:
        lines.append(f"tables added: {', '.join(found.tables_added)}")
    if found.tables_removed:
        lines.append(f"tables removed: {', '.join(found.tables_removed)}")
    for table, columns in found.columns.items():
        for column, (old, new) in columns.items():
            what = "is new" if old is None else "is gone" if new is None else f"was {old} and is {new}"
            lines.append(f"the column {table}.{column} {what}")
    if found.views_changed:
        lines.append(f"views or macros with other SQL: {', '.join(found.views_changed)} (--same-views compares data)")
    return lines


def corpus_line(corpus: CorpusChange, found: Difference) -> str:
    """Return a line on what became of the reader, the files and the rows of a corpus."""
    if corpus.status in ("added", "removed", "unchanged"):
        return corpus.status
    old, new = corpus.reader
    parts = [f"reader {new}" if old == new else f"reader {old}, now {new}"]
    if corpus.licence[0] != corpus.licence[1]:
        parts.append("another licence")
    parts += [
        f"{count:,} of {corpus.sources['all']:,} {_plural('file', corpus.sources['all'])} {change}"
        for change in ("removed", "added", "changed")
        if (count := corpus.sources[change])
    ]
    counts = {one.name: one.counts for one in found.tables if one.corpus == corpus.corpus}
    renumbered = {one.kind: one.rows for one in found.renumbered if one.corpus == corpus.corpus}
    for table, thing in _THINGS.items():
        if table in counts:
            parts += _counted(thing, {**counts[table].changes, "renumbered": renumbered.get(thing, 0)})
    if "main.annotations" in counts and (labels := counts["main.annotations"].columns.get("label")):
        parts.append(f"{labels:,} {_plural('label', labels)} changed")
    rest = [one.name.removeprefix("main.") for one in found.tables if _is_other(one, corpus.corpus)]
    if rest and len(parts) == 1:
        parts.append(f"other rows of {', '.join(rest)}")
    return ", ".join(parts)


def _is_other(one: Compared, corpus: str) -> bool:
    return one.corpus == corpus and not one.is_still and one.name not in _THINGS


def _counted(thing: str, changes: dict[str, int]) -> list[str]:
    counts = [(name, changes.get(name, 0)) for name in _CHANGES]
    return [f"{count:,} {_plural(thing, count)} {name}" for name, count in counts if count]


def _plural(thing: str, count: int) -> str:
    return thing if count == 1 else f"{thing}s"


def verdict(one: Compared) -> str:
    """Return what the changes of a task's split mean for what was computed from it."""
    changes = one.counts.changes
    if one.verdict == "same":
        return "saved scores hold"
    if one.verdict == "renumbered":
        new = f"{changes['added']:,} new" if changes["added"] else ""
        if not changes["renumbered"]:
            return f"{new}: the others are the same, so their predictions hold"
        if not changes["other_record"]:
            holds = "renumbered: predictions by record_id hold, by example_index do not"
        else:
            others = f"{changes['other_record']:,} examples have another record_id"
            holds = f"renumbered: {others}, so predictions by record_id or example_index do not hold"
        return f"{holds}; {new}" if new else holds
    said = [
        f"{changes[name]:,} {word}"
        for name, word in _OF_EXAMPLES.items()
        if changes[name] and (name != "moved" or changes["moved"] > changes["moved_in"])
    ]
    number, _, word = said[0].partition(" ")
    first = "" if word == _OF_EXAMPLES["moved_in"] else f" of {one.counts.before:,} examples"
    return ", ".join([f"{number}{first} {word}", *said[1:]])


_OF_EXAMPLES = {
    "changed": "changed",
    "moved": "moved",
    "removed": "gone",
    "moved_out": "moved to another split",
    "moved_in": "came from another split",
    "added": "new",
    "renumbered": "renumbered",
}


def name_of(one: Compared) -> str:
    """Return the name of a table with its corpus, or of a task with the publisher's release and the split."""
    if one.name.startswith(("main.", "meta.")):
        return f"{one.name} {one.corpus}"
    return " ".join([one.name, *(part for part in (one.counts.release, one.counts.split) if part is not None)])


def key_text(key: Mapping[str, object]) -> str:
    """Write a key without the parts that are null."""
    return ", ".join(f"{name} {value}" for name, value in key.items() if value is not None)


def other_parts(row: Change) -> str:
    """Write what was another in a row's key."""
    before = row.key_before or {}
    return key_text({name: value for name, value in before.items() if value != row.key.get(name)})


def marked(row: Change, column: str, old: str | None, new: str | None) -> Words | None:
    """Return the words of two texts; None where they are no texts, or have no word in common."""
    runs = words(old, new) if column in row.are_texts else None
    return runs if runs is not None and any(sign == "=" for sign, _ in runs) else None


def matrix(labels: Iterable[tuple[str | None, str | None, int]]) -> tuple[list[str], list[tuple[str, list[int]]]]:
    """Return changes of labels as a matrix: the labels after, and each label before with its rows."""
    counted = {(_shown(old), _shown(new)): rows for old, new, rows in labels}
    heads = sorted({new for _, new in counted})
    return heads, [(old, [counted.get((old, new), 0) for new in heads]) for old in sorted({old for old, _ in counted})]


def _shown(label: str | None) -> str:
    return "(none)" if label is None else label
