"""The page on making the corpus shows what its commands print."""

import shlex
import shutil
from pathlib import Path

from tests.commands import run
from tests.test_docs import ROOT, check_part, commands


def test_the_corpus_is_made_as_its_page_shows(tmp_path: Path, regen: bool) -> None:
    page = ROOT / "docs" / "mantis-from-source.md"
    shutil.copytree(ROOT / "docs" / "dumps", tmp_path / "docs" / "dumps")
    shown = {}
    for command in commands(page.read_text(encoding="utf-8")):
        words = shlex.split(command)[3:]
        done = run(*words, cwd=tmp_path, env={"COLUMNS": "110"})
        assert done.returncode == 0, done.stderr
        shown[words[0]] = done.stdout
    assert "10 files compared" in shown["verify"]
    assert "10 equal" in shown["verify"]
    for name in ("make", "sql"):
        check_part(page, name, f"```text\n{shown[name]}```\n", regen)
