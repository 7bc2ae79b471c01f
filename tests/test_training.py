"""The page on training is run as it stands: exports, programs in environments of their own, scores and citations."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests import outside
from tests.test_docs import ROOT, blocks, commands, run

PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


@pytest.mark.packages
def test_the_page_on_training_is_run_from_the_first_command_to_the_last(sample: Path, tmp_path: Path) -> None:
    shutil.copyfile(sample, tmp_path / "talkhouse.duckdb")
    for program in blocks(PAGE, "python"):
        name = re.match(r"# (\w+\.py)\n", program)
        assert name, program
        (tmp_path / name[1]).write_text(program, encoding="utf-8")
    for command in commands(PAGE):
        if command.startswith("uv run --no-project"):
            outside.run(shlex.split(command), tmp_path)
        else:
            run(command, tmp_path)
    assert (tmp_path / "scores.duckdb").exists()
