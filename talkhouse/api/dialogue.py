"""A dialogue in Python: its messages, all that the warehouse has of it, and how a notebook shows it."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from talkhouse.api.html import element, fragment, text
from talkhouse.dialogues.turns import DialogueTurn, ItemList, Items, ReadableDialogue, Votes, by_content, readable


class Dialogue:
    """A dialogue or record, as ``talkhouse show`` finds it; a notebook shows it turn by turn.

    Attributes
    ----------
    id : str
        The ``dialogue_id``, or the ``record_id`` where that was asked for.
    data : dict
        All that the warehouse has of it, as ``talkhouse show ID --json`` prints it: ``kind``, ``id``, ``corpus``,
        ``dialogue``, ``participants``, ``turns``, ``parts`` and ``records``. ``extra`` is JSON text.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.id = str(data["id"])

    def __repr__(self) -> str:
        return f"Dialogue({self.id!r}, {len(self.data['turns']):,} turns)"

    @cached_property
    def _read(self) -> ReadableDialogue:
        return readable(self.data)

    def messages(self) -> list[dict[str, Any]]:
        """Return the turns as messages, in the order in which they are read.

        Returns
        -------
        list of dict
            One of each turn: ``role`` (as in ``main.turns``), ``content`` (the text as published, or None) and, where
            it is known, ``name`` (of the speaker, or of all who speak together). Of a tree of replies, each turn
            stands before what answers it: where it branches, the list is of several conversations.
        """
        return [
            {
                "role": turn.row["role"],
                "content": turn.row["text"],
                **({"name": turn.speaker} if turn.speaker is not None else {}),
            }
            for turn in self._read.turns
            if turn.row
        ]

    def _repr_html_(self) -> str:
        corpus, dialogue = self.data["corpus"], self.data["dialogue"] or {}
        facts = [corpus["title"], *(dialogue.get(name) for name in ("title", "language", "domain"))]
        head = element("strong", self.id) + element("p", ", ".join(str(fact) for fact in facts if fact), "note")
        return fragment(head, *_items(self._read.whole), *map(_turn, self._read.turns))


def _turn(turn: DialogueTurn) -> str:
    """Return a turn as HTML, with what belongs to it below."""
    if turn.row is None:
        body = element("span", "(no turn)", "note")
    else:
        kind, reply = turn.row["kind"], turn.row["reply_to"]
        notes = [kind] if kind != "message" else []
        notes += [] if reply is None else [f"reply to {reply}{f' ({turn.rival})' if turn.rival else ''}"]
        pieces = "".join(
            f'<u title="{text("; ".join(names))}">{text(piece)}</u>' if names else text(piece)
            for piece, names in turn.pieces
        )
        body = f"{element('strong', turn.who)} {element('span', ' '.join(notes), 'note')} "
        body += f'<span class="said" dir="auto">{pieces}</span>'
    parts = [
        element("p", " ".join(filter(None, (part.kind, part.name, part.address, part.content))), "note said")
        for part in turn.parts
    ]
    below = "".join([*parts, *_items(turn.items)])
    indent = f' style="margin-left: {turn.indent}em"' if turn.indent else ""
    return f'<div class="turn"{indent}>{element("span", turn.turn_index, "note")} {body}{below}</div>'


def _items(items: Items) -> Iterator[str]:
    """Yield labels, personas and candidates as HTML, what several records have alike once."""
    for shown, records in by_content(items):
        named = ", ".join(filter(None, records))
        of = f" ({named})" if named else ""
        if isinstance(shown, Votes):
            yield element("p", f"{shown.name}{of}: {_labels(shown)}", "note")
        else:
            yield element("p", f"{shown.kind} {shown.name}{of}: {shown.summary}", "note")
            yield f'<ul class="note">{"".join(_listed(shown))}</ul>'


def _labels(votes: Votes) -> str:
    """Write labels in a line, of those with spans the words."""
    if not votes.detailed:
        return votes.summary
    return "; ".join(
        " ".join(
            [
                vote.label,
                *([f"“{vote.words}”"] if vote.words else []),
                *(f"{name} {value}" for name, value in vote.facts),
                *([f"({vote.annotator})"] if vote.annotator else []),
            ]
        )
        for vote in votes.detailed
    )


def _listed(shown: ItemList) -> Iterator[str]:
    for item in shown.shown:
        texts = " / ".join(" ".join(filter(None, (part.text, part.image_file, part.source))) for part in item.parts)
        yield element("li", f"{item.position}{' gold' if item.is_gold else ''}: {texts}", "said")
    if left := len(shown.items) - len(shown.shown):
        yield element("li", f"{left:,} more")
