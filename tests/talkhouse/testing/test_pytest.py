"""The contract as tests of pytest, run as the author of a corpus runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from talkhouse.new_corpus import Like, copy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy(Like.FILE_PER_DIALOGUE, "toy", tmp_path / "toy")
    return tmp_path / "toy"


def tried(folder: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-rfs", "-p", "no:cacheprovider", "--rootdir", ".", *arguments]
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.long
def test_one_line_is_a_whole_test_file(folder: Path) -> None:
    assert "there is no " in tried(folder, "-k", "golden"), "nothing to compare with"
    assert "1 passed" in tried(folder, "-k", "golden", "--regen")
    assert (folder / "tests" / "golden" / "two_moods" / "expected" / "main.turns.jsonl").is_file()
    shown = tried(folder)
    assert "failed" not in shown
    assert " passed" in shown


@pytest.mark.slow
def test_a_failure_has_the_name_of_its_check(folder: Path) -> None:
    writer = folder / "write.py"
    writer.write_text(writer.read_text(encoding="utf-8").replace("{turn.text}", "{turn.text[:9]}"), encoding="utf-8")
    shown = tried(folder, "-k", "files_come_back_equal")
    assert "FAILED tests/test_contract.py::test_its_files_come_back_equal[toy]" in shown
    assert "toy/test/rain.txt: the file is different when it is written back" in shown


@pytest.mark.slow
def test_a_folder_needs_no_test_file(folder: Path) -> None:
    (folder / "tests" / "test_contract.py").unlink()
    shown = tried(folder, "--pyargs", "talkhouse.testing", "--corpus", str(folder))
    assert "failed" not in shown
    assert " passed" in shown
    assert "name the folder of a corpus: --corpus DIR" in tried(folder, "--pyargs", "talkhouse.testing")
