"""The wheel: it installs one package, and leaves those of others alone."""

import re
import tomllib
import zipfile
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.registry import corpora
from talkhouse.load import base_copy
from talkhouse.queries.catalogue import catalogue
from talkhouse.system import cache
from talkhouse.translation.translate import left_out
from tests import outside
from tests.talkhouse.load.test_template import DESCRIBED

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "talkhouse" / "shipped"
OURS = "import talkhouse.schema.errors, talkhouse.ingest.corpus, talkhouse.queries.catalogue, talkhouse.migrations"
THEIRS = "from schema import Schema; assert Schema(int).validate(1) == 1"


def test_what_is_shipped_is_made_by_the_locked_versions() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    locked = {f"{package['name']}=={package.get('version')}" for package in lock["package"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(project["tool"]["uv"]["build-constraint-dependencies"]) <= locked


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    outside.run(["uv", "build", "--quiet", "--out-dir", str(folder)], ROOT)
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.slow
def test_the_wheel_has_what_the_repository_has_and_nothing_at_the_top(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())
    metadata = {name for name in names if ".dist-info/" in name}
    assert "talkhouse/py.typed" in names
    (described,) = (archive.read(name).decode() for name in metadata if name.endswith("/METADATA"))
    assert "# Talkhouse" in described
    assert not re.findall(r"\]\((?!https?:|#)[^)]*\)", described), "an index has no other file of the repository"
    inside = {
        f"{'' if top == 'talkhouse' else 'talkhouse/'}{path.relative_to(ROOT)}"
        for top in ("talkhouse", "ingest", "migrations", "queries", "schema")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.parent != SHIPPED
    }
    shipped = {name for name in names if name.startswith("talkhouse/shipped/")}
    assert sorted(Path(name).name.partition("-")[0] for name in shipped) == ["left_out", "template", "views"]
    # Streamlit finds a component by the project file in the package's folder.
    assert names - metadata - shipped == inside | {"talkhouse/pyproject.toml"}
    # pip compiles each Python file into one next to it: the sample of a corpus would have another file there than here.
    assert not [name for name in names if "/sample/" in name and name.endswith(".py")]


@pytest.mark.slow
def test_its_template_is_what_sqlalchemy_and_the_views_make(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "SHIPPED", tmp_path / "none")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (shipped,) = (tmp_path / "talkhouse" / "shipped").glob("template-*")
    splits = {name: corpus.splits for name, corpus in corpora().items()}
    with base_copy.open_template(tmp_path / "made.duckdb", catalogue(), splits) as con:
        columns = con.execute(DESCRIBED).fetchall()
        assert left_out(con, catalogue()) == []
    with duckdb.connect(shipped, read_only=True) as con:
        assert con.execute(DESCRIBED).fetchall() == columns
    names = {path.name for path in shipped.parent.iterdir()}
    assert names == {path.name for path in (tmp_path / "cache" / "talkhouse").iterdir()}, (
        "under the keys of builds here"
    )


@pytest.mark.slow
def test_it_lives_beside_a_package_named_as_one_of_its_own(wheel: Path, tmp_path: Path) -> None:
    python = str(tmp_path / "environment" / "bin" / "python")

    def pip(*words: str) -> None:
        outside.run(["uv", "pip", *words, "--python", python], tmp_path)

    outside.run(["uv", "venv", str(tmp_path / "environment")], tmp_path)
    pip("install", "schema")
    pip("install", str(wheel))
    outside.run([python, "-c", f"{OURS}; {THEIRS}"], tmp_path)
    outside.run([str(tmp_path / "environment" / "bin" / "talkhouse"), "build", "--db", "w.duckdb"], tmp_path)
    pip("uninstall", "talkhouse")
    outside.run([python, "-c", THEIRS], tmp_path)
