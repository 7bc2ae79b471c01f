"""kill -9 at random instants: the old warehouse or the new one, whole, for every reader and every later build."""

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.registry import corpora, sample_of
from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from tests.talkhouse.build.test_run import CORPUS, contents

COMMAND = [
    sys.executable,
    "-c",
    "from talkhouse.cli import main; main()",
    "build",
    "--data",
    "data",
    "--db",
    "w.duckdb",
]


def two_versions(tmp_path: Path) -> list[Path]:
    """Lay out two versions of one data folder: the sample, and the sample without its first folder."""
    whole, less = tmp_path / "whole", tmp_path / "less"
    for folder in (whole, less):
        shutil.copytree(sample_of(corpora()[CORPUS.id]), folder / CORPUS.id)
    shutil.rmtree(sorted(path for path in (less / CORPUS.id).iterdir() if path.is_dir())[0])
    return [whole, less]


@pytest.mark.parametrize("kills", [pytest.param(6, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.long)])
def test_a_killed_build_leaves_the_old_or_the_new(tmp_path: Path, kills: int) -> None:
    versions = two_versions(tmp_path)
    wholes = []
    for version in versions:
        begun = time.monotonic()
        build(tmp_path / f"{version.name}.duckdb", Silent(), data=version)
        took = time.monotonic() - begun
        wholes.append(contents(tmp_path / f"{version.name}.duckdb"))
    path, data = tmp_path / "w.duckdb", tmp_path / "data"
    shutil.copytree(versions[0], data)
    build(path, Silent(), data=data)
    instants = random.Random(7)  # noqa: S311 - the same instants every time
    killed = 0
    for number in range(kills):
        shutil.rmtree(data)
        shutil.copytree(versions[number % 2], data)
        process = subprocess.Popen(COMMAND, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(instants.uniform(0.0, took + 1.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
        assert without_places(contents(path)) in [without_places(whole) for whole in wholes]
    assert killed > 0
    build(path, Silent(), data=data)
    assert without_places(contents(path)) == without_places(wholes[(kills - 1) % 2])
    assert not [name for name in tmp_path.iterdir() if name.name.startswith(".")]


def without_places(found: dict[str, object]) -> dict[str, object]:
    """Leave out the table that names inodes and times, which differ from copy to copy."""
    return {name: value for name, value in found.items() if name != "meta.source_files"}
