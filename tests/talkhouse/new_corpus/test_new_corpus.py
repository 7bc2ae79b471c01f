"""A corpus that is begun: by the command, as a folder and as a package, and what is refused."""

from pathlib import Path

import pytest

from talkhouse.ingest.registry import corpora
from talkhouse.new_corpus import Like, new_corpus
from talkhouse.schema.errors import UsageError
from tests.commands import run
from tests.lanes import first_quick

OWN = next(iter(corpora()))


def files(folder: Path) -> list[str]:
    """Return the paths of all files but what Python has compiled."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sorted(path.relative_to(folder).as_posix() for path in paths)


@pytest.mark.slow
def test_it_is_written_and_tried_by_commands(tmp_path: Path) -> None:
    shown = run("new", "corpus", "tea_talks", "--like", "file-per-dialogue", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "next: talkhouse conform tea_talks --corpora tea_talks"
    result = run("conform", "tea_talks", "--corpora", "tea_talks", cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    assert " of tea_talks in " in result.stdout.splitlines()[-1]
    text = "".join(
        (tmp_path / "tea_talks" / name).read_text(encoding="utf-8") for name in files(tmp_path / "tea_talks")
    )
    assert "teatime" not in text.lower()
    assert all(word in text for word in ("Tea Talks", "TEATALKS-01", "tea_talks.mood"))


@pytest.mark.slow
def test_a_corpus_that_does_not_keep_to_the_contract_is_told(tmp_path: Path) -> None:
    folder = new_corpus("tea_talks", Like.FILE_PER_DIALOGUE, tmp_path)
    writer = folder / "write.py"
    writer.write_text(writer.read_text(encoding="utf-8").replace("{turn.text}", "{turn.text[:9]}"), encoding="utf-8")
    result = run("conform", "tea_talks", "--corpora", folder, cwd=tmp_path)
    assert result.returncode == 1
    assert (
        "fails       its files come back equal\n            tea_talks/test/rain.txt: the file is different"
        in result.stdout
    )
    assert run("conform", "tea_talks", "--corpora", folder, "--json", cwd=tmp_path).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("like", first_quick(Like))
def test_a_package_has_its_tests_beside_the_module(tmp_path: Path, like: Like) -> None:
    written = files(new_corpus("film_scenes", like, tmp_path, is_package=True))
    assert (tmp_path / "talkhouse-film-scenes").is_dir()
    assert {"pyproject.toml", "talkhouse_film_scenes/__init__.py", "tests/test_contract.py"} <= {*written}
    assert not [name for name in written if "__pycache__" in name or name.startswith("talkhouse_film_scenes/tests")]
    assert [name for name in written if name.startswith("tests/golden/") and "/expected/main.turns" in name]


def test_nothing_is_overwritten_and_no_id_is_taken_twice(tmp_path: Path) -> None:
    (tmp_path / "film_scenes").mkdir()
    with pytest.raises(UsageError, match="nothing is overwritten"):
        new_corpus("film_scenes", Like.CSV_ROWS, tmp_path)
    with pytest.raises(UsageError, match=f"there is a corpus '{OWN}' already"):
        new_corpus(OWN, Like.CSV_ROWS, tmp_path)
    for name in ("Films", "main", "7days", "a/b", ""):
        with pytest.raises(UsageError, match="can't be the id of a corpus"):
            new_corpus(name, Like.CSV_ROWS, tmp_path)
    assert files(tmp_path) == []
