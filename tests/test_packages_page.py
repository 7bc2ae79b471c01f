"""The page on packages is run as it stands: exports, and the programs that open them in environments of their own."""

import ast
import re
import shlex
import shutil
from pathlib import Path

import pytest

import talkhouse
from tests import outside
from tests.test_docs import ROOT, blocks, commands, run

PAGE = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")

VIEW = "".join(re.findall(r"export (\w+\.\w+) --split dev", PAGE))
CORPUS = VIEW.partition(".")[0]


@pytest.mark.packages
def test_the_page_on_packages_is_run_from_the_first_command_to_the_last(sample: Path, tmp_path: Path) -> None:
    shutil.copyfile(sample, tmp_path / "talkhouse.duckdb")
    for program in blocks(PAGE, "python"):
        name = re.match(r"# (\w+\.py)\n", program)
        assert name, program
        (tmp_path / name[1]).write_text(program, encoding="utf-8")
    shown = {}
    for command in commands(PAGE):
        if command.startswith("talkhouse "):
            run(command, tmp_path)
        else:
            # ConvoKit writes its settings into the home.
            shown[command] = outside.run(["env", f"HOME={tmp_path}", *shlex.split(command)], tmp_path).splitlines()
    hub, records, dialogues, files = (lines[-1] for command, lines in shown.items() if command.endswith(".py"))
    with talkhouse.open(sample) as con:
        rows = dict(con.execute(f"select split, count(*) from {VIEW} group by all").fetchall())
        labels = dict(con.execute(f"select label, count(*) from {VIEW} where split = 'dev' group by label").fetchall())
        turns = (
            f"select count(distinct dialogue_id), count(*) from main.turns where starts_with(dialogue_id, '{CORPUS}:')"
        )
        ((dialogue_count, turn_count),) = con.execute(turns).fetchall()
    assert ast.literal_eval(hub.partition("}")[0] + "}") == rows
    assert "['O', 'T', 'X']" in hub
    assert ast.literal_eval(records.removeprefix("Counter(").removesuffix(")")) == labels
    assert dialogues.startswith(f"{dialogue_count} {turn_count} ")
    assert files == str({"train": sum(rows.values())})
