"""Invented folders of files in the form of each format, and what a declaration of them should say."""

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def listed(*records: Any) -> bytes:
    return json.dumps(records).encode()


def parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


def table(keys: str) -> dict[str, str]:
    """Return a table of ``corpus.toml`` whose keys and values stand as ``id=name text=said``."""
    return dict(pair.split("=") for pair in keys.split())


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


def messages(*texts: str, role: str = "role", text: str = "content", who: Sequence[str] = ("user", "assistant")) -> Any:
    return [{role: who[place % 2], text: words} for place, words in enumerate(texts)]


CHAT = [{"id": f"g{n}", "messages": messages("May I prune it?", "In spring."), "topic": "roses"} for n in range(3)]

FOG, SURE = (
    [{"from": who, "value": text} for who, text in talk]
    for talk in ((("human", "Fog?"), ("gpt", "Yes.")), (("gpt", "I said so."), ("human", "Sure?")))
)
SHAREGPT = [{"id": 7, "system": "Be brief.", "conversations": FOG}, {"conversations": SURE, "id": 8}]

LOG = [
    {
        "hash": f"h{n // 2}",
        "timestamp": datetime(2026, 3, n + 1, 8, tzinfo=UTC),
        "language": "English",
        "conversation": [{"content": "Is it far?", "role": "user"}, {"content": "Two miles.", "role": "assistant"}],
        "moderation": [{"flagged": False}, {"flagged": False}],
    }
    for n in range(4)
]

ALPACA = [
    {"instruction": "Name a bird.", "input": "", "output": "Wren.", "system": "Be kind.", "history": [["Hi", "Hello"]]},
    {"instruction": "Name a fish.", "input": "of rivers", "output": "Trout.", "history": []},
]
THUMBS = [
    {"prompt": f"How old is oak {n}?", "completion": f"{n} hundred years.", "label": n % 2 == 0} for n in range(4)
]
PLAIN = [{"prompt": f"Say {n}.", "completion": f"It is {n}."} for n in range(3)]

PREFERENCE = [
    {"prompt": "A tea?", "chosen": "Green.", "rejected": "No."},
    {
        "prompt": messages("A cake?"),
        "chosen": [{"role": "assistant", "content": "Plum."}],
        "rejected": [{"role": "assistant", "content": "None."}],
    },
    {"chosen": messages("Hot?", "Very."), "rejected": messages("Hot?", "Ask.")},
]
NINE, WALK = ([{"role": "assistant", "content": text}] for text in ("The nine o'clock.", "Walk."))
TRAIN = {"messages": messages("Which train?"), "tools": []}
TUNING = [{"input": TRAIN, "preferred_output": NINE, "non_preferred_output": WALK}]
H, A = "\n\nHuman: ", "\n\nAssistant: "
HELPFUL = [
    {"chosen": f"{H}A boat?{A}Which one?{H}Red.{A}Gone.", "rejected": f"{H}A boat?{A}Which one?{H}Red.{A}"},
    {"chosen": f"{H}Hi{A}Hello.", "rejected": f"{H}Hi{A}What? Human: hm"},
]

CALLS = (
    b'call,words,minutes\r\n1,"Agent: Yes?\r\nCaller: My ""line"" is dead.\r\nAgent: Since when?",3\r\n'
    b'2,"Caller: Hello?\r\nAgent: Hello.\r\nCaller: Good.\r\nAgent: Bye.",1\r\n'
)

SCATTERED = (
    b"talk\tn\twho\tsaid\n"
    b'a\t1\tIda\t"Oh, you are late\n'
    b"b\t0\tOle\tThe boat has left.\n"
    b"a\t0\tOle\tGood evening to all\n"
    b'b\t1\tIda\tThen "we" walk home.\n'
)

BOAT = {"speaker": "USER", "utterance": "A boat at noon.", "frames": [{"service": "Boats_1", "slots": []}]}
HOW_MANY = {"speaker": "SYSTEM", "utterance": "For how many?", "frames": []}
FRAMES = [{"dialogue_id": f"9_0000{n}", "services": ["Boats_1"], "turns": [BOAT, HOW_MANY]} for n in range(2)]

IDA, BOT = {"id": "5", "name": "ida", "isBot": False}, {"id": "6", "name": "keybot", "isBot": True}
POST = {"id": "100", "type": "Default", "timestamp": "2026-02-01T10:00:00.5+00:00", "content": "Who has the key?"}
REPLY = {"id": "101", "type": "Reply", "timestamp": "2026-02-01T10:01:00+00:00", "content": "I do.", "author": BOT}
CHANNEL = {
    "guild": {"id": "1", "name": "Harbour"},
    "channel": {"id": "22", "name": "boats"},
    "messages": [{**POST, "author": IDA}, {**REPLY, "reference": {"messageId": "100", "channelId": "22"}}],
}
ROW = {"id": 1, "type": "message", "date": "2026-01-01T09:00:00", "from": "Ida", "from_id": "user1", "text": "Row?"}
SEE = {"id": 2, "type": "message", "date": "2026-01-01T09:01:00", "from": "Ole", "from_id": "user2"}
LINK = {"reply_to_message_id": 1, "text": ["See ", {"type": "link", "text": "https://example.org"}]}
GROUP = {"name": "Rowers", "type": "private_group", "id": 4, "messages": [ROW, {**SEE, **LINK}]}

SAID = {"text": "Row on.", "speaker": "ida", "meta": {}, "reply-to": None, "vectors": []}
UTTERANCES = [{"id": f"u{n}", "conversation_id": "u0", "timestamp": n, **SAID} for n in range(2)]
CONVOKIT = {
    "utterances.jsonl": lines(*UTTERANCES),
    "speakers.json": b'{"ida": {"meta": {}, "vectors": []}}',
    "conversations.json": b'{"u0": {"meta": {}, "vectors": []}}',
    "corpus.json": b"{}",
    "index.json": b'{"version": 1}',
}

HEATED = [{"author": "Guest", "text": "Is it heated?"}, {"author": "Host", "text": "A little."}]
LABELLED = [{"id": 1, "data": {"dialogue": HEATED}, "annotations": [{"id": 3, "completed_by": 8, "result": []}]}]
CLOUDS = {"message_id": "t2", "parent_id": "t1", "text": "Clouds.", "role": "assistant", "replies": []}
RAIN = {"message_id": "t1", "text": "Why rain?", "role": "prompter", "replies": [CLOUDS]}
ALONE = {"message_id": "t3", "text": "Alone.", "role": "prompter", "replies": None}
TREES = [{"message_tree_id": "t1", "prompt": RAIN}, {"message_tree_id": "t3", "prompt": ALONE}]
FLAT_TREE = [
    {"message_id": "t1", "parent_id": None, "text": "Why rain?", "role": "prompter", "message_tree_id": "t1"},
    {"message_id": "t2", "parent_id": "t1", "text": "Clouds do.", "role": "assistant", "message_tree_id": "t1"},
]
MEMBERS = {
    name: {"goal": {}, "log": [{"text": "A room, please.", "metadata": {}}, {"text": "For when?", "metadata": {}}]}
    for name in ("M1.json", "M2.json")
}
STUDIO = {f"s--{n}": {"log": [{"turn id": 1, "user utterance": "Hi you", "system response": "Hello"}]} for n in (1, 2)}
SPOKEN = [
    {"dialog": [[{"id": "p1", "text": "Nice hat."}, {"id": "p2", "text": "My aunt's."}, {"id": "p1", "text": "Ah."}]]}
    for _ in range(2)
]
SEMICOLON = b"thread;nick;message;date\n1;ida;Well, yes;01.02.2026 10:00\n1;ole;No;13.02.2026 10:00\n"

ASKED = messages("Tea?", role="from", text="value", who=("human",))
CHOSEN, REJECTED = ({"from": "gpt", "value": text} for text in ("Yes.", "No."))
SHAREGPT_PREFERENCE = [{"conversations": ASKED, "chosen": CHOSEN, "rejected": REJECTED} for _ in range(3)]
KTO = [{"messages": messages(f"Tea {n}?", "Yes."), "label": n % 2 == 0} for n in range(4)]
KTO_LISTS = [{"prompt": one["messages"][:1], "completion": one["messages"][1:], "label": True} for one in KTO]
BEGIN = b"message\tresponse\tbegin_label\nTea?\tYes.\tgood\nOar?\tNo.\tbad\n"


MODELS = {"model_a": "wren", "model_b": "owl"}
TALKS = {"conversation_a": messages("A room?", "No."), "conversation_b": messages("A room?", "For how many?")}
ARENA = [{**MODELS, **TALKS, "winner": winner} for winner in ("model_a", "model_b", "tie (bothbad)")]
ANSWERS = [
    {"model": model, "response": f"It is {model}.", "overall_score": score}
    for model, score in (("wren", 7.5), ("owl", 3.0))
]
SCORED = [{"instruction": f"Name bird {n}.", "completions": ANSWERS} for n in range(2)]
QUESTIONS = [{"input_text": "Who rows?", "turn_id": 1}, {"input_text": "Why?", "turn_id": 2}]
REPLIES = [{"input_text": "Ida", "turn_id": 1}, {"input_text": "unknown", "turn_id": 2}]
STORIES = [{"id": f"s{n}", "story": "Ida rows.", "questions": QUESTIONS, "answers": REPLIES} for n in range(2)]


def node(name: str, parent: str | None, role: str, words: str) -> dict[str, Any]:
    message = {"author": {"role": role}, "create_time": 1.7e9, "content": {"content_type": "text", "parts": [words]}}
    return {"id": name, "message": message if parent else None, "parent": parent, "children": []}


NODES = {
    "r": node("r", None, "system", ""),
    "a": node("a", "r", "user", "Is the tea hot?"),
    "b": node("b", "a", "assistant", "It is."),
}
MAPPING = [{"title": "Tea", "id": f"k{n}", "mapping": NODES} for n in range(2)]
PARAGRAPHS = {
    "version": "1",
    "data": [{"paragraphs": [{"id": "c1", "qas": [{"question": "Who rows?", "orig_answer": {"text": "Ida"}}]}]}],
}
NEWEST_FIRST = {
    "messages": [
        {"sender_name": "Ida", "timestamp_ms": 1_700_000_000_000 - n * 1_000, "content": f"Row {n} on."}
        for n in range(3)
    ]
}
DAY = [{"user": f"U{n % 2}", "text": "Row on.", "ts": f"170410080{n}.0001"} for n in range(3)]
PEOPLE = [{"id": "U0", "name": "ida"}, {"id": "U1", "name": "ole"}]

FOLDERS: dict[str, tuple[dict[str, bytes], dict[str, Any]]] = {
    "chat": (
        {"train.jsonl": lines(*CHAT), "dev.jsonl": lines(*CHAT[:1])},
        {
            "format": "chat",
            "files": {"train.jsonl": "train", "dev.jsonl": "dev"},
            "dialogue": {"id": "id", "turns": "messages"},
            "turn": {"role": "role", "text": "content"},
        },
    ),
    "sharegpt": (
        {"fog.json": listed(*SHAREGPT)},
        {
            "format": "sharegpt",
            "files": {"fog.json": None},
            "dialogue": {"id": "id", "turns": "conversations", "system": "system"},
            "turn": {"role": "from", "text": "value"},
        },
    ),
    "chat_parquet": (
        {"data/train-00000-of-00001.parquet": parquet(LOG)},
        {
            "format": "chat",
            "files": {"data/train-00000-of-00001.parquet": "train"},
            "dialogue": {"turns": "conversation", "language": "language", "started_at": "timestamp"},
            "turn": {"role": "role", "text": "content"},
        },
    ),
    "alpaca": (
        {"alpaca.json": listed(*ALPACA)},
        {
            "format": "pairs",
            "pair": table("system=system history=history prompt=instruction query=input response=output"),
        },
    ),
    "completion": (
        {"a.jsonl": lines(*PLAIN)},
        {"format": "pairs", "pair": {"prompt": "prompt", "response": "completion"}},
    ),
    "thumbs": (
        {"a.jsonl": lines(*THUMBS)},
        {"format": "pairs", "pair": {"prompt": "prompt", "response": "completion"}},
    ),
    "preference": (
        {"train.jsonl": lines(*PREFERENCE)},
        {"format": "preference", "preference": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"}},
    ),
    "preference_openai": (
        {"tuning.jsonl": lines(*TUNING)},
        {
            "format": "preference",
            "preference": table("prompt=input.messages chosen=preferred_output rejected=non_preferred_output"),
        },
    ),
    "preference_transcripts": (
        {"base/train.jsonl.gz": gzip.compress(lines(*HELPFUL)), "base/test.jsonl.gz": gzip.compress(lines(HELPFUL[1]))},
        {
            "format": "preference",
            "files": {"base/train.jsonl.gz": "train", "base/test.jsonl.gz": "test"},
            "preference": {"chosen": "chosen", "rejected": "rejected"},
            "markers": {H: "user", A: "assistant"},
        },
    ),
    "transcript": (
        {"calls.csv": CALLS},
        {
            "format": "transcript",
            "dialogue": {"id": "call", "text": "words"},
            "markers": {"Agent: ": "agent", "\r\nCaller: ": "caller", "\r\nAgent: ": "agent", "Caller: ": "caller"},
        },
    ),
    "scattered": (
        {"talks.tsv": SCATTERED},
        {
            "format": "turns",
            "dialogue": {"id": "talk"},
            "turn": {"text": "said", "speaker": "who", "order": "n"},
            "dialect": {"quoteChar": ""},
        },
    ),
    "counted_rows": (
        {"a.csv": b"x,y,z,text\n7,2,ole,I do row\n7,1,ida,Row on now\n8,1,ida,And you row\n8,2,ole,As I can\n"},
        {"format": "turns", "dialogue": {"id": "x"}, "turn": {"text": "text", "order": "y"}},
    ),
    "semicolon": (
        {"talks.csv": SEMICOLON},
        {
            "format": "turns",
            "dialogue": {"id": "thread"},
            "turn": {"text": "message", "speaker": "nick", "said_at": "date"},
            "dialect": {"delimiter": ";"},
            "times": {"said_at": "%d.%m.%Y %H:%M"},
        },
    ),
    "tree": (
        {"trees.jsonl.gz": gzip.compress(lines(*TREES))},
        {
            "format": "tree",
            "dialogue": {"id": "message_tree_id", "turns": "prompt"},
            "turn": {"id": "message_id", "text": "text", "role": "role", "replies": "replies"},
            "roles": {"prompter": "user"},
        },
    ),
    "flat_tree": (
        {"all.jsonl": lines(*FLAT_TREE)},
        {
            "format": "turns",
            "dialogue": {"id": "message_tree_id"},
            "turn": {"id": "message_id", "text": "text", "role": "role", "reply_to": "parent_id"},
            "roles": {"prompter": "user"},
        },
    ),
    "frames": (
        {"dev/dialogues_001.json": listed(*FRAMES), "dev/schema.json": b'[{"service_name": "Boats_1", "slots": []}]'},
        {
            "format": "dialogue",
            "files": {"dev/dialogues_001.json": "dev"},
            "dialogue": {"id": "dialogue_id", "turns": "turns"},
            "turn": {"role": "speaker", "text": "utterance"},
            "roles": {"USER": "user", "SYSTEM": "assistant"},
        },
    ),
    "channel": (
        {"boats.json": json.dumps(CHANNEL, indent=1).encode()},
        {
            "format": "dialogue",
            "dialogue": {"id": "channel.id", "title": "channel.name", "turns": "messages", "record": "$"},
            "turn": table("id=id text=content speaker=author.id said_at=timestamp reply_to=reference.messageId"),
            "speaker": {"scope": "corpus", "name": "author.name", "is_bot": "author.isBot"},
        },
    ),
    "group": (
        {"result.json": json.dumps(GROUP).encode()},
        {
            "format": "dialogue",
            "dialogue": {"id": "id", "turns": "messages", "record": "$"},
            "turn": table("id=id text=text speaker=from_id said_at=date reply_to=reply_to_message_id"),
            "speaker": {"scope": "corpus", "name": "from"},
        },
    ),
    "labelled": (
        {"project-2.json": listed(*LABELLED)},
        {
            "format": "dialogue",
            "dialogue": {"id": "id", "turns": "data.dialogue"},
            "turn": {"speaker": "author", "text": "text"},
            "speaker": {"scope": "dialogue"},
        },
    ),
    "members": (
        {"data.json": json.dumps(MEMBERS).encode()},
        {"format": "dialogue", "dialogue": {"turns": "log", "record": "*"}, "turn": {"text": "text"}},
    ),
    "studio": (
        {"train.json": json.dumps(STUDIO).encode()},
        {
            "format": "pairs",
            "dialogue": {"record": "*"},
            "pair": {"prompt": "user utterance", "response": "system response", "each": "log[*]"},
        },
    ),
    "spoken": (
        {"talks.jsonl": lines(*SPOKEN)},
        {"format": "dialogue", "dialogue": {"turns": "dialog[*][*]"}, "turn": {"text": "text", "speaker": "id"}},
    ),
    "preference_sharegpt": (
        {"dpo.json": listed(*SHAREGPT_PREFERENCE)},
        {
            "format": "preference",
            "preference": {"prompt": "conversations", "chosen": "chosen", "rejected": "rejected"},
            "turn": {"role": "from", "text": "value"},
            "roles": {"human": "user", "gpt": "assistant"},
        },
    ),
    "preference_messages": (
        {"a.jsonl": lines({"chosen_messages": messages("Tea?", "Yes."), "rejected_messages": messages("Tea?", "No.")})},
        {"format": "preference", "preference": {"chosen": "chosen_messages", "rejected": "rejected_messages"}},
    ),
    "kto_chat": ({"kto.json": listed(*KTO)}, {"format": "chat", "dialogue": {"turns": "messages"}}),
    "lists_of_messages": (
        {"train.jsonl": lines(*[messages("Is it hot?", "It is.") for _ in range(3)])},
        {"format": "chat", "dialogue": {"turns": "$"}, "turn": {"role": "role", "text": "content"}},
    ),
    "a_winner": (
        {"arena.jsonl": lines(*ARENA)},
        {
            "format": "preference",
            "preference": {
                "answers": ["conversation_a", "conversation_b"],
                "winner": "winner",
                "source": ["model_a", "model_b"],
            },
            "winners": {"model_a": 1, "model_b": 2, "tie (bothbad)": "none"},
        },
    ),
    "answers_with_scores": (
        {"train.jsonl": lines(*SCORED)},
        {
            "format": "preference",
            "preference": table(
                "prompt=instruction answers=completions[*] text=response source=model score=overall_score"
            ),
        },
    ),
    "lists_side_by_side": (
        {"coqa.json": json.dumps({"version": "1.0", "data": STORIES}).encode()},
        {
            "format": "pairs",
            "dialogue": {"id": "id", "record": "data[*]"},
            "pair": {"zip": ["questions", "answers"], "prompt": "input_text", "response": "input_text"},
        },
    ),
    "named_stories": (  # whose names and texts could be taken for turns
        {"coqa.json": json.dumps({"version": "1.0", "data": [{"name": "n.story", **one} for one in STORIES]}).encode()},
        {"format": "pairs", "dialogue": {"id": "id", "record": "data[*]"}},
    ),
    "kto_lists": (
        {"kto.jsonl": lines(*KTO_LISTS)},
        {"format": "pairs", "pair": {"prompt": "prompt", "response": "completion"}},
    ),
    "pairs_of_a_table": (
        {"begin.tsv": BEGIN},
        {"format": "pairs", "pair": {"prompt": "message", "response": "response"}},
    ),
    "turns_under_their_ids": (
        {"conversations.json": listed(*MAPPING)},
        {
            "format": "dialogue",
            "dialogue": {"id": "id", "title": "title", "turns": "mapping.*"},
            "turn": table(
                "id=id text=message.content.parts role=message.author.role said_at=message.create_time reply_to=parent"
            ),
            "times": {"said_at": "unix"},
        },
    ),
    "records_inside": (
        {"val.json": json.dumps(PARAGRAPHS).encode()},
        {
            "format": "pairs",
            "dialogue": {"id": "id", "record": "data[*].paragraphs[*]"},
            "pair": {"prompt": "question", "response": "orig_answer.text", "each": "qas[*]"},
        },
    ),
    "newest_first": (
        {"message_1.json": json.dumps(NEWEST_FIRST).encode()},
        {
            "format": "dialogue",
            "turn": {"text": "content", "speaker": "sender_name", "said_at": "timestamp_ms", "order": "reversed"},
        },
    ),
    "a_dialogue_a_file": (
        {"boats/2026-01-01.json": listed(*DAY), "users.json": listed(*PEOPLE)},
        {
            "format": "turns",
            "files": {"boats/2026-01-01.json": None},
            "turn": {"text": "text", "speaker": "user", "said_at": "ts"},
            "speakers": {"path": "users.json", "id": "id", "name": "name"},
        },
    ),
    "dated_lines": (
        {"chat.txt": b"31.12.26, 22:05 - Ida: Hello\n31.12.26, 22:06 - Ole: Hi,\nyou\n01.01.27, 00:01 - Ida: Bye\n"},
        {
            "format": "turns",
            "turn": {"text": "said", "speaker": "who", "said_at": "at"},
            "times": {"said_at": "%d.%m.%y, %H:%M"},
        },
    ),
    "separated": (
        {"talks.txt": b"Tea ? __eou__ Yes . __eou__\nOar ? __eou__ No . __eou__\n"},
        {"format": "transcript", "dialogue": {"text": "$", "separator": [" __eou__ ", " __eou__", "__eou__"]}},
    ),
    "marked_text": (
        {"call.txt": b"Agent: Yes?\nCaller: My line is dead.\nAgent: Since when?\n"},
        {
            "format": "transcript",
            "dialogue": {"record": "$", "text": "$"},
            "markers": {"Agent: ": "agent", "\nAgent: ": "agent", "Caller: ": "caller", "\nCaller: ": "caller"},
        },
    ),
    "numbered_lines": (
        {"talks.txt": b"1 hi there .\n2 is it deep ?\n1 who rows ?\n2 ida does .\n"},
        {"format": "turns", "lines": {"pattern": r"(?<n>\d+) (?<said>.*)", "begins": "1 "}, "turn": {"text": "said"}},
    ),
    "lines_in_columns": (
        {"train/m1.txt": b"ida|Is it deep?|q\nole|Two fathoms.|s\nida|Then we row.|s\nole|Yes.|s\n"},
        {
            "format": "turns",
            "lines": {"pattern": r"(?<who>[^|]*)\|(?<said>[^|]*)\|(?<c3>[^|]*)"},
            "turn": {"text": "said", "speaker": "who"},
        },
    ),
    "convokit": (CONVOKIT, {"format": "convokit"}),
    "convokit_legacy": (
        {
            "utterances.json": listed(
                {"id": "x", "root": "x", "text": "One.", "user": "a", "meta": {}, "reply_to": None, "timestamp": "1"}
            ),
            "users.json": b'{"a": {}}',
            "conversations.json": b"{}",
            "corpus.json": b"{}",
        },
        {"format": "convokit"},
    ),
}
"""Name -> its files, and what ``corpus.toml`` should say; what is not named there is not compared."""
