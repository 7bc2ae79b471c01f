"""Chats for trainers: the documented lines, the way back, what is refused, and the programs that read them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import talkhouse as th
from talkhouse.export.formats import Tool
from talkhouse.export.selection import NO_FILTERS, Filters
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.packages.chat import ChatForm, ChatOptions, roles_of
from talkhouse.packages.export import export_package
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import opened
from tests import outside
from tests.commands import run
from tests.samples import RELEASES

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Ulm"}'}}
CHATS = [
    {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": 'Weather "in" Ulm?\n\t☕ \u0001\u2028'},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "content": "12 °C", "tool_call_id": "c1"},
            {"role": "assistant", "content": " It is 12 °C. ", "reasoning_content": "warm"},
        ]
    },
    {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this? "},
                    {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
                    {"type": "text", "text": "Tell me."},
                ],
            },
            {"role": "assistant", "content": "A goose."},
        ]
    },
    {"messages": [{"role": "user", "content": "hello"}]},
]
CHAT = 'title = "Desk"\nformat = "chat"\n[[tasks]]\nname = "answers"\nkind = "next_turn"\nrole = "assistant"\n'
TREE = 'title = "Tree"\nformat = "tree"\n[roles]\nprompter = "user"\n[[tasks]]\nname = "turns"\nkind = "next_turn"\n'
PAIRS = 'title = "Duels"\nformat = "preference"\n[[tasks]]\nname = "duels"\nkind = "preference"\n'
ROOT = {
    "message_tree_id": "t",
    "prompt": {
        "message_id": "t",
        "text": "Root?",
        "role": "prompter",
        "replies": [
            {
                "message_id": "t.0",
                "text": "A",
                "role": "assistant",
                "replies": [{"message_id": "t.0.0", "text": "More?", "role": "prompter", "replies": []}],
            },
            {"message_id": "t.1", "text": "B", "role": "assistant", "replies": []},
        ],
    },
}
HELLO = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "So?"},
]
DUELS = [
    {"prompt": "Why?", "chosen": "Because.", "rejected": "No."},
    {"prompt": HELLO, "chosen": [{"role": "assistant", "content": "Bye!"}], "rejected": "Stay."},
]


def loaded(folder: Path, **corpora: tuple[str, list[Any]]) -> Path:
    """Build a warehouse of corpora, each of a page and records."""
    for name, (page, records) in corpora.items():
        own = folder / "data" / name
        own.mkdir(parents=True)
        (own / "corpus.toml").write_text(page)
        (own / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    build(folder / "w.duckdb", Silent(), data=folder / "data")
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    return loaded(folder, desk=(CHAT, CHATS), trees=(TREE, [ROOT]), duels=(PAIRS, DUELS))


def chats(
    db: Path,
    name: str,
    folder: Path,
    options: ChatOptions = ChatOptions(),  # noqa: B008 - it is frozen
    filters: Filters = NO_FILTERS,
    **others: Any,
) -> dict[str, list[Any]]:
    """Export chats and return those of each file."""
    with opened(db) as warehouse:
        export_package(warehouse, name, Tool.CHAT, folder, filters=filters, is_accepted=True, chats=options, **others)
    return {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
        for path in sorted(folder.glob("*.jsonl"))
    }


def test_chats_come_out_as_they_came_in(own: Path, tmp_path: Path) -> None:
    assert chats(own, "desk", tmp_path / "out") == {"all": CHATS}
    known = json.loads((tmp_path / "out" / "dataset_info.json").read_text())
    assert known["all"]["file_name"] == "all.jsonl"
    again = loaded(tmp_path / "again", desk=(CHAT, chats(own, "desk", tmp_path / "twice")["all"]))
    assert chats(again, "desk", tmp_path / "back") == {"all": CHATS}


@pytest.mark.slow
def test_an_answer_has_what_comes_before_it_for_a_prompt(own: Path, tmp_path: Path) -> None:
    first, second, _ = (chat["messages"] for chat in CHATS)
    assert chats(own, "desk.answers", tmp_path / "task")["all"] == [
        {"prompt": first[:2], "completion": [first[2]]},
        {"prompt": first[:4], "completion": [first[4]]},
        {"prompt": second[:1], "completion": [second[1]]},
    ]
    whole = chats(own, "desk", tmp_path / "whole", ChatOptions(ChatForm.PROMPT))
    assert whole["all"] == [{"prompt": chat[:-1], "completion": chat[-1:]} for chat in (first, second)]
    ((file, *_),) = [json.loads((tmp_path / "whole" / "manifest.json").read_text())["files"]]
    assert (file["rows"], file["without_prompt"]) == (2, 1)


@pytest.mark.slow
def test_python_gives_the_chats_that_the_command_writes_of_what_new_declares(tmp_path: Path) -> None:
    for name, records in (("desk", CHATS), ("duels", DUELS)):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "a.json").write_text(json.dumps(records))
        assert run("new", f"data/{name}", cwd=tmp_path).returncode == 0
    warehouse = th.warehouse(th.build(tmp_path / "data", db=tmp_path / "w.duckdb").path)
    for name, form in (("desk.answers", "prompt"), ("duels.preferences", "preference"), ("desk.answers", "messages")):
        out = f"{name}-{form}"
        ran = run("export", name, *f"--for chat --as {form} --db w.duckdb --output {out}".split(), cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        lines = (tmp_path / out / "all.jsonl").read_text("utf-8").split("\n")[:-1]
        assert warehouse[name].chat(as_=form) == [json.loads(line) for line in lines]
        path = warehouse.export(name, tmp_path / f"{out}-2", for_="chat", as_=form, roles={"user": "user"})
        assert (path / "all.jsonl").read_bytes() == (tmp_path / out / "all.jsonl").read_bytes()
    assert warehouse["duels.preferences"].chat()[0]["rejected"] == [{"role": "assistant", "content": "No."}]
    for name in ("desk", "duels"):
        ran = run("export", name, "--for", "huggingface", "--db", "w.duckdb", "--output", f"{name}-hf", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
    for wrong in ({"as_": "tree"}, {"roles": {"user": "bot"}}, {"persona": "user"}):
        with pytest.raises(UsageError):
            warehouse["desk.answers"].chat(**wrong)


@pytest.mark.slow
def test_each_way_through_a_tree_is_a_chat(own: Path, tmp_path: Path) -> None:
    root, left, right, more = (
        {"role": role, "content": text}
        for role, text in (("user", "Root?"), ("assistant", "A"), ("assistant", "B"), ("user", "More?"))
    )
    assert chats(own, "trees", tmp_path / "a")["all"] == [{"messages": [root, left, more]}, {"messages": [root, right]}]
    assert chats(own, "trees.turns", tmp_path / "b")["all"] == [
        {"prompt": [root], "completion": [left]},
        {"prompt": [root, left], "completion": [more]},
        {"prompt": [root], "completion": [right]},
    ]


@pytest.mark.slow
def test_a_preference_is_a_prompt_with_two_answers(own: Path, tmp_path: Path) -> None:
    def answer(text: str) -> list[dict[str, str]]:
        return [{"role": "assistant", "content": text}]

    assert chats(own, "duels.duels", tmp_path / "out")["all"] == [
        {"prompt": [{"role": "user", "content": "Why?"}], "chosen": answer("Because."), "rejected": answer("No.")},
        {"prompt": HELLO, "chosen": answer("Bye!"), "rejected": answer("Stay.")},
    ]
    with pytest.raises(UsageError, match="chosen and rejected"):
        chats(own, "desk", tmp_path / "none", ChatOptions(ChatForm.PREFERENCE))


@pytest.mark.slow
def test_of_published_corpora_each_dialogue_is_a_chat_once(sample: Path, tmp_path: Path) -> None:
    options = ChatOptions(roles={"system": "assistant"})
    found = chats(sample, RELEASES, tmp_path / "all", options)
    with opened(sample) as warehouse:
        of_dialogues = (
            "select split, list(text order by turn_index) from main.turns join bi.publications using (dialogue_id) "
            f"where corpus_id = '{RELEASES}' and is_default and is_first_in_split group by dialogue_id, split "
            "order by all"
        )
        expected = warehouse.con.execute(of_dialogues).fetchall()
    texts = [
        (split, [message["content"] for message in chat["messages"]])
        for split, of_split in found.items()
        for chat in of_split
    ]
    assert sorted(texts) == expected
    query = f"select dialogue_id from main.dialogues where corpus_id = '{RELEASES}'"
    by_query = chats(sample, query, tmp_path / "query", options)["all"]
    assert len(by_query) == len({json.dumps(chat) for of_split in found.values() for chat in of_split})


@pytest.mark.slow
def test_roles_that_no_chat_has_are_asked_for(sample: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="roles") as refused:
        chats(sample, RELEASES, tmp_path / "out")
    assert refused.value.next_step.endswith("--roles system=assistant")
    assert roles_of("a=b=user,c=assistant") == {"a=b": "user", "c": "assistant"}
    for text in ("", "a", "=user", "a=bot"):
        with pytest.raises(UsageError, match="--roles"):
            roles_of(text)
    with pytest.raises(UsageError, match="no dialogue"):
        chats(sample, "bi.corpora", tmp_path / "out")


@pytest.mark.slow
@settings(max_examples=3, phases=[Phase.generate])
@given(st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=6), min_size=20, max_size=60))
def test_every_text_comes_back(tmp_path_factory: pytest.TempPathFactory, dialogues: list[list[str]]) -> None:
    roles = ("user", "assistant")
    records = [
        {"messages": [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]}
        for texts in dialogues
    ]
    folder = tmp_path_factory.mktemp("texts")
    assert chats(loaded(folder, desk=(CHAT, records)), "desk", folder / "out") == {"all": records}


PROGRAM = """
import json, sys
from datasets import load_dataset
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl.data_utils import is_conversational, maybe_apply_chat_template

template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, "a")), chat_template=template)
for path in sys.argv[1:]:
    rows = load_dataset("json", data_files=path, split="train")
    print(all(map(is_conversational, rows)), json.dumps(maybe_apply_chat_template(rows[0], tokenizer)))
"""


@pytest.mark.packages
def test_trainers_take_the_files_for_conversations(own: Path, tmp_path: Path) -> None:
    for name in ("trees", "trees.turns", "duels.duels"):
        chats(own, name, tmp_path / name)
    python = outside.python_with(tmp_path / "env", ["datasets", "jinja2", "transformers"], ["trl", "accelerate"])
    files = [str(tmp_path / name / "all.jsonl") for name in ("trees", "trees.turns", "duels.duels")]
    shown = outside.run(["env", f"HF_HOME={tmp_path}", str(python), "-c", PROGRAM, *files], tmp_path).splitlines()
    assert shown == [
        'True {"text": "<user>Root?<assistant>A<user>More?"}',
        'True {"prompt": "<user>Root?", "completion": "<assistant>A"}',
        'True {"prompt": "<user>Why?", "chosen": "<assistant>Because.", "rejected": "<assistant>No."}',
    ]
