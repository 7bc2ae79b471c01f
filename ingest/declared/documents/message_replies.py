"""Replies of messages by the ids of turns: which turn each answers, and the order in which answers stand behind."""

from collections.abc import Collection, Mapping, Sequence

from talkhouse.ingest.declared.declaration.model import TurnFields
from talkhouse.ingest.declared.documents.messages import Message
from talkhouse.ingest.declared.documents.parsed_record import ParsedDialogue, in_loops, places_behind
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding


def find_replies(
    messages: Mapping[int, Message],
    turn: TurnFields,
    dialogue: ParsedDialogue,
    skipped: Mapping[str, str | None] = {},
) -> None:
    """Set the turns that messages reply to, by the ids of turns; ``messages``: turn index -> a turn's message.

    ``skipped``: ids of what is no turn -> the id of the next above that is; a reply to one is to that.
    """
    first = find_same_ids(turn, dialogue)
    asked = {index: message.reply for index, message in messages.items() if message.reply is not None}
    meant = {index: skipped.get(to, to) if to not in first else to for index, (to, _) in asked.items()}
    targets = [first.get(to) if (to := meant.get(turn)) is not None else None for turn in range(len(dialogue.turns))]
    is_in_loop = in_loops(targets)
    found: list[tuple[str, int, str]] = []
    for index, (to, suffix) in asked.items():
        target = targets[index]
        if target is None and meant[index] is None:
            continue
        if target is None:
            found.append(("GF-07", index, f"a reply to {to!r:.100}, which is not a turn of the dialogue"))
        elif is_in_loop[index]:
            found.append(("GF-07", index, f"a reply to {to!r:.100}, which replies to this turn in the end"))
        else:
            messages[index].turn.reply_to = target
            if meant[index] == to:
                messages[index].taken["reply_to"] = "reply_to" + suffix
            if target > index:
                found.append(("GF-19", index, f"a reply to the turn {target}"))
    for rule, index, problem in found:
        at = dialogue.turns[index].pointer + pointer(*(messages[index].fields or turn).reply_to or ())
        dialogue.findings.append(ReaderFinding(rule, problem, pointer=at))


def in_order_of_replies(messages: Sequence[Message], skipped: Mapping[str, str | None]) -> Sequence[int] | None:
    """Return messages in an order in which each is behind what it replies to; None where all are so."""
    first: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message.turn.native_id is not None:
            first.setdefault(message.turn.native_id, place)
    asked = [None if message.reply is None else message.reply[0] for message in messages]
    meant = [skipped.get(to, to) if to is not None and to not in first else to for to in asked]
    targets = [None if to is None else first.get(to) for to in meant]
    if all(target is None or target < place for place, target in enumerate(targets)):
        return None
    is_in_loop = in_loops(targets)
    places = places_behind([None if is_in_loop[place] else target for place, target in enumerate(targets)])
    return sorted(range(len(messages)), key=places.__getitem__)


def nearest_turns(above: Mapping[str, str | None], turns: Collection[str]) -> dict[str, str | None]:
    """Return for the ids of what is no turn the nearest above them that is; None where there is none.

    ``above``: the id of each -> the id of the one above it.
    """
    nearest: dict[str, str | None] = {}
    for start in above:
        way = dict[str, None]()
        at: str | None = start
        while at is not None and at in above and at not in turns and at not in nearest and at not in way:
            way[at] = None
            at = above[at]
        end = None if at is None or at in way else nearest.get(at, at if at in turns else None)
        nearest |= dict.fromkeys(way, end)
    return nearest


def find_same_ids(turn: TurnFields, dialogue: ParsedDialogue) -> Mapping[str, int]:
    """Return the first turn of each id; GF-06 where another has the same."""
    first: dict[str, int] = {}
    for index, parsed in enumerate(dialogue.turns):
        if parsed.native_id is not None and first.setdefault(parsed.native_id, index) != index:
            detail = f"the id {parsed.native_id!r:.100} is that of an earlier turn"
            dialogue.findings.append(ReaderFinding("GF-06", detail, pointer=parsed.pointer + pointer(*turn.id or ())))
    return first
