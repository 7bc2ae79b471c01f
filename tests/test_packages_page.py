"""The page on packages is run as it stands: exports, and the programs that open them in environments of their own."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests import outside
from tests.test_docs import ROOT, blocks, commands, run

PAGE = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")


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
    programs = [lines[-1] for command, lines in shown.items() if command.endswith(".py")]
    assert len(programs) == len(blocks(PAGE, "python")) == len(blocks(PAGE, "text"))
    # On the samples there are fewer rows than the page shows, but the output looks alike.
    for block, line in zip(blocks(PAGE, "text"), programs, strict=True):
        assert re.sub(r"\W*\d+|[A-Z]'", "", line)[:9] == re.sub(r"\W*\d+|[A-Z]'", "", block.splitlines()[-1])[:9]
