"""The wheel: it installs one package, and leaves those of others alone."""

import zipfile
from pathlib import Path

import pytest

from tests import outside

ROOT = Path(__file__).parent.parent
OURS = "import talkhouse.schema.errors, talkhouse.ingest.corpus, talkhouse.queries.catalogue, talkhouse.migrations"
THEIRS = "from schema import Schema; assert Schema(int).validate(1) == 1"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as a release is: by way of the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    outside.run(["uv", "build", "--quiet", "--out-dir", str(folder), str(ROOT)], folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.slow
def test_the_wheel_has_what_the_repository_has_and_nothing_at_the_top(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    metadata = {name for name in names if ".dist-info/" in name}
    inside = {
        f"{'' if top == 'talkhouse' else 'talkhouse/'}{path.relative_to(ROOT)}"
        for top in ("talkhouse", "ingest", "migrations", "queries", "schema")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    # Streamlit finds a component by the project file in the package's folder.
    assert names - metadata == inside | {"talkhouse/pyproject.toml"}


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
