"""The pages on packages and chats are run as they stand: commands, and programs in environments of their own."""

import ast
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import talkhouse
from tests import outside
from tests.test_docs import ROOT, blocks, commands, run

pytestmark = pytest.mark.packages

PACKAGES, CHAT = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("packages", "chat"))

VIEW = "".join(re.findall(r"export (\w+\.\w+) --split dev", PACKAGES))
CORPUS = VIEW.partition(".")[0]


def run_page(page: str, sample: Path, folder: Path) -> dict[str, list[str]]:
    """Run the commands of a page in order, and return the lines that each of its programs prints."""
    shutil.copyfile(sample, folder / "talkhouse.duckdb")
    for program in blocks(page, "python"):
        name = re.match(r"# (\w+\.py)\n", program)
        assert name, program
        (folder / name[1]).write_text(program, encoding="utf-8")
    shown = {}
    for command in commands(page):
        if command.startswith("talkhouse "):
            run(command, folder)
        else:
            # ConvoKit writes its settings into the home.
            shown[command] = outside.run(["env", f"HOME={folder}", *shlex.split(command)], folder).splitlines()
    return shown


@pytest.mark.slow
def test_the_page_on_packages_is_run_from_the_first_command_to_the_last(sample: Path, tmp_path: Path) -> None:
    shown = run_page(PACKAGES, sample, tmp_path)
    hub, streamed, records, dialogues, files = (
        lines[-1] for command, lines in shown.items() if command.endswith(".py")
    )
    with talkhouse.open(sample) as con:
        default = f"from {VIEW} where is_default"
        rows = dict(con.execute(f"select split, count(*) {default} group by all").fetchall())
        labels = dict(con.execute(f"select label, count(*) {default} and split = 'dev' group by label").fetchall())
        ((every,),) = con.execute(f"select count(*) from {VIEW}").fetchall()
        turns = (
            f"select count(distinct dialogue_id), count(*) from main.turns where starts_with(dialogue_id, '{CORPUS}:')"
        )
        ((dialogue_count, turn_count),) = con.execute(turns).fetchall()
    assert ast.literal_eval(hub.partition("}")[0] + "}") == rows
    assert "['O', 'T', 'X']" in hub
    assert len((tmp_path / "streamed.csv").read_text().splitlines()) == 1 + int(streamed)
    assert ast.literal_eval(records.removeprefix("Counter(").removesuffix(")")) == labels
    assert dialogues.startswith(f"{dialogue_count} {turn_count} ")
    assert files == str({"train": every})


@pytest.mark.slow
def test_the_page_on_chats_is_run_from_the_first_command_to_the_last(sample: Path, tmp_path: Path) -> None:
    shown = run_page(CHAT, sample, tmp_path)
    lines = (tmp_path / "chats" / "dev.jsonl").read_text("utf-8").splitlines()
    role = json.loads(lines[0])["messages"][0]["role"]
    assert [printed[-1] for printed in shown.values()] == [f"{len(lines)} {role}"]
