"""An invented corpus that uses all that a turn may have: parts, spans, replies, several speakers, declared labels."""

import json
from pathlib import Path
from typing import Any

TEA = r"""
import json

from talkhouse.ingest.corpus import Corpus, Scheme
from talkhouse.ingest.decode import dump
from talkhouse.ingest.outcomes import Loaded, SourceLocation
from talkhouse.ingest.rows import Dialogue, Label, Part, Participant, Speaker, Turn, TurnSpeaker

ACT, SLOT = "tea.act", "tea.slot"

def read(files):
    for file in files:
        talk = json.loads(file.read())
        location = SourceLocation(file, split="all", native_id=talk["id"])
        record = location.record(f"tea/{talk['id']}", f"tea:{talk['id']}", extra={"schema": talk["schema"]})
        yield Loaded(location, [record, *vocabulary(talk["schema"]), *rows(talk, record)])

def vocabulary(schema):
    for service, slots in schema.items():
        yield from (Label.within(service, SLOT, name, meaning) for name, meaning in slots.items())

def rows(talk, record):
    key = record.dialogue_id
    origin = f"tea:{talk['from']}" if talk["from"] else None
    yield Dialogue(key, "tea", talk["id"], derived_from=origin)
    names = sorted({name for turn in talk["turns"] for name in turn["who"]})
    people = {name: Speaker.within(key, name) for name in names}
    yield from people.values()
    yield from (Participant(key, person.speaker_id, "guest") for person in people.values())
    for index, turn in enumerate(talk["turns"]):
        ids = [people[name].speaker_id for name in turn["who"]]
        alone = ids[0] if len(ids) == 1 else None
        start, end = turn["ms"] or (None, None)
        yield Turn(key, index, alone, "guest", "message", turn["text"], reply_to=turn["to"], start_ms=start, end_ms=end)
        if not alone:
            yield from (TurnSpeaker(key, index, position, one) for position, one in enumerate(ids))
        for position, part in enumerate(turn["parts"]):
            arguments = dump(part["arguments"]) if "arguments" in part else None
            yield Part(key, index, position, "parts", **{**part, **({"arguments": arguments} if arguments else {})})
        for item, act in enumerate(turn["acts"]):
            extra = dump({name: act[name] for name in act if name != "act"}) if len(act) > 1 else None
            yield record.annotation(index, ACT, act["act"], item_index=item, extra=extra)
        for item, (service, slot, begin, end) in enumerate(turn["slots"]):
            label = f"{service}.{slot}"
            yield record.annotation(index, SLOT, label, item_index=item, start_index=begin, end_index=end)

def write(records):
    for stored in records:
        yield stored.path, write_record(stored)

def write_record(stored):
    record = stored.loaded
    namespaces = json.loads(record.extra or "{}").get("schema", {})
    origin = stored.dialogue.derived_from
    turns = [turn_of(stored, turn, namespaces) for turn in stored.turns]
    talk = {"id": record.native_id, "from": origin and origin.partition(":")[2], "schema": namespaces, "turns": turns}
    return json.dumps(talk, ensure_ascii=False).encode()

def turn_of(stored, turn, namespaces):
    ids = [turn.speaker_id] if turn.speaker_id else [one.speaker_id for one in stored.speakers_by_turn[turn.turn_index]]
    annotations = stored.annotations_by_turn[turn.turn_index]
    return {
        "who": [stored.speakers[one].name for one in ids],
        "text": turn.text,
        "to": turn.reply_to,
        "ms": None if turn.start_ms is None else [turn.start_ms, turn.end_ms],
        "parts": [part_of(part) for part in stored.parts_by_turn[turn.turn_index]],
        "acts": [{"act": one.label, **json.loads(one.extra or "{}")} for one in annotations if one.scheme == ACT],
        "slots": [slot_of(one) for one in annotations if one.scheme == SLOT],
    }

def slot_of(annotation):
    return [*annotation.label.split(".", 1), annotation.start_index, annotation.end_index]

def part_of(part):
    names = part.__struct_fields__[4:]
    given = {name: getattr(part, name) for name in names if getattr(part, name) is not None}
    return given | ({"arguments": json.loads(part.arguments)} if part.arguments else {})

CORPUS = Corpus(id="tea", version=1, title="Tea talks", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="json files", splits={"all": None}, read=read, write=write, write_record=write_record,
    schemes=(Scheme(ACT, "What a turn does.", "turn", {"INFORM": "Says it.", "CALL": "Calls."}, kind="structure"),
        Scheme(SLOT, "What a span is.", "turn", kind="structure")))
"""


def turn(who: str, text: str, **more: Any) -> dict[str, Any]:
    return {"who": who.split(), "text": text, "to": None, "ms": None, "parts": [], "acts": [], "slots": [], **more}


CITY = {"shop": {"city": "Where the shop is."}, "home": {"city": "Where the guest lives.", "name": ""}}
TALK = {
    "id": "a",
    "from": "whole",
    "schema": CITY,
    "turns": [
        turn(
            "ann",
            "A \N{GRINNING FACE} shop in Bath,\nnot in \x1bYork",
            ms=[1000, 61_900],
            acts=[{"act": "INFORM", "slot": "city", "values": ["Bath", "B\x1bth"]}, {"act": "INFORM"}],
            slots=[["shop", "city", 12, 16], ["home", "city", 25, 30]],
        ),
        turn(
            "bot",
            "",
            to=0,
            parts=[
                {"kind": "reasoning", "text": "Which shop?"},
                {"kind": "tool_call", "name": "find", "call_id": "1", "arguments": {"city": "Bath", "n": 2}},
                {"kind": "uri", "uri": "https://example.org/map.png", "mime_type": "image/png"},
            ],
        ),
        turn(
            "bot",
            "Two.",
            to=1,
            parts=[{"kind": "tool_call_response", "start_index": 0, "end_index": 4, "call_id": "1"}],
        ),
        turn("ann bob", "Thanks!", to=0),
    ],
}


def lay_out(folder: Path, *talks: dict[str, Any]) -> None:
    (folder / "roots" / "tea").mkdir(parents=True)
    (folder / "roots" / "tea" / "__init__.py").write_text(TEA, encoding="utf-8")
    (folder / "data" / "tea").mkdir(parents=True)
    for talk in talks or (TALK,):
        path = folder / "data" / "tea" / f"{talk['id']}.json"
        path.write_text(json.dumps(talk, ensure_ascii=False), encoding="utf-8")
