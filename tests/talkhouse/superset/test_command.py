"""``talkhouse export --for superset``: what it says, and one clear message for each mistake."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import duckdb
import pytest

from talkhouse.cli.export import _remarks
from tests.commands import run
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.talkhouse.superset.conftest import THERE

FOR_SUPERSET = ("export", "--for", "superset")
NO_FILE = "there is no such file on this machine"
NO_READER = "only its owner and group may read that file"
NO_WAY = "other users can't enter one of the folders above that file"


@pytest.fixture
def here(sample: Path) -> Iterator[Path]:
    """A folder that all users may enter, with a warehouse that all may read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        Path(shutil.copyfile(sample, Path(name) / "talkhouse.duckdb")).chmod(0o644)
        yield Path(name)
        Path(name).chmod(0o755)


def test_it_says_what_it_wrote_and_what_to_do_with_it(here: Path, bundle: Path) -> None:
    shown = run(*FOR_SUPERSET, "--output", "b.zip", cwd=here)
    assert shown.returncode == 0, shown.stderr
    wrote, opens, *remarks, import_it = shown.stdout.splitlines()
    assert wrote.startswith("Wrote ")
    assert wrote.endswith(" to b.zip")
    assert "dashboards with" in wrote
    assert opens == f"  opens {here.resolve() / 'talkhouse.duckdb'} read-only"
    assert not remarks
    assert import_it.startswith("  import it with: superset ")
    # Another process made these bytes, with other hashes.
    run(*FOR_SUPERSET, "--output", "b.zip", "--db-path", THERE, "--force", cwd=here)
    assert (here / "b.zip").read_bytes() == bundle.read_bytes()


@pytest.mark.parametrize(
    ("there", "file_mode", "folder_mode", "expected"),
    first_quick(
        [
            (THERE, 0o644, 0o755, [NO_FILE]),
            ("another.duckdb", 0o644, 0o755, ["that is another file than talkhouse.duckdb"]),
            ("talkhouse.duckdb", 0o640, 0o755, [NO_READER]),
            ("talkhouse.duckdb", 0o640, 0o750, [NO_READER, NO_WAY]),
            ("talkhouse.duckdb", 0o644, 0o750, [NO_WAY]),
        ]
    ),
)
def test_what_superset_may_not_open_is_remarked(
    here: Path, there: PurePosixPath | str, file_mode: int, folder_mode: int, expected: list[str]
) -> None:
    shutil.copy(here / "talkhouse.duckdb", here / "another.duckdb")
    (here / "talkhouse.duckdb").chmod(file_mode)
    here.chmod(folder_mode)
    shown = run(*FOR_SUPERSET, "--output", "b.zip", "--db-path", here / there, cwd=here)
    assert shown.returncode == 0, shown.stderr
    remarks = shown.stdout.splitlines()[2:-1]
    assert len(remarks) == len(expected)
    assert all(words in remark for words, remark in zip(expected, remarks, strict=True))


@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_this_user_may_not_enter_is_remarked(here: Path) -> None:
    here.chmod(0)
    (remark,) = _remarks(here / "talkhouse.duckdb", here / "talkhouse.duckdb")
    assert NO_WAY in remark


WRONG = data_of(__file__)["wrong"]


@pytest.fixture(scope="module")
def with_everything_wrong(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse, and next to it files that are none or of another version."""
    folder = tmp_path_factory.mktemp("wrong")
    for name in ("talkhouse", "old", "less"):
        shutil.copyfile(sample, folder / f"{name}.duckdb")
    with duckdb.connect(folder / "old.duckdb") as con:
        con.execute("update meta.alembic_version set version_num = '0001'")
    with duckdb.connect(folder / "less.duckdb") as con:
        con.execute("drop view bi.corpora")
        con.execute("create view bi.corpora as select * exclude (title) from main.corpora")
    with duckdb.connect(folder / "other.duckdb") as con:
        con.execute("create table turns (text varchar)")
    (folder / "there.zip").write_text("something else")
    (folder / "link.zip").symlink_to("talkhouse.duckdb")
    return folder


@pytest.mark.parametrize("mistake", first_quick(WRONG, 5))
def test_each_mistake_gets_one_clear_message(with_everything_wrong: Path, mistake: str) -> None:
    arguments, code, words = WRONG[mistake]
    before = sorted(with_everything_wrong.iterdir())
    shown = run(*FOR_SUPERSET, *arguments, cwd=with_everything_wrong)
    assert shown.returncode == code, shown.stderr
    assert all(word in shown.stderr for word in words), shown.stderr
    assert sorted(with_everything_wrong.iterdir()) == before
    assert (with_everything_wrong / "there.zip").read_text() == "something else"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["turns", "--db-path", THERE], ["--db-path goes with --for"]),
        ([], ["nothing to export", "talkhouse views", "--for superset"]),
        (["--for", "excel"], ["--for", "superset"]),
    ],
)
def test_a_row_export_is_told_apart(with_everything_wrong: Path, arguments: list[str], words: list[str]) -> None:
    shown = run("export", *arguments, "--output", "t.csv", cwd=with_everything_wrong)
    assert shown.returncode == 2
    assert all(word in shown.stderr for word in words), shown.stderr
    assert not (with_everything_wrong / "t.csv").exists()
