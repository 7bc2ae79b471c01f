"""The locked packages, looked up in a database of known vulnerabilities; skipped where that can't be reached."""

import json
import subprocess
from pathlib import Path

import pytest

from tests import outside

ROOT = Path(__file__).parent.parent

ACCEPTED: dict[str, str] = {}
"""Ids of vulnerabilities that do not concern Talkhouse, each with the reason."""

KNOWN = "jinja2==2.4.1"
"""A package with known vulnerabilities: an audit that finds none there would find none anywhere."""

AUDIT = ["uv", "run", "--no-project", "--with", "pip-audit", "pip-audit"]
OPTIONS = ["--strict", "--no-deps", "--disable-pip", "--format", "json", "--output", "found.json"]

UNREACHABLE = ("ConnectionError", "Max retries exceeded", "not found on PyPI")
"""What pip-audit writes without a network, or behind a mirror of PyPI that has packages only."""


def audit(requirements: str, folder: Path) -> dict[str, set[str]]:
    """Return the ids of the vulnerabilities of pinned packages; without that database, LookupError with the reason."""
    (folder / "requirements.txt").write_text(requirements)
    command = [*AUDIT, *OPTIONS, "--requirement", "requirements.txt"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if any(sign in done.stderr for sign in UNREACHABLE):
        raise LookupError(done.stderr.strip().splitlines()[-1])
    found = json.loads((folder / "found.json").read_text())["dependencies"]
    return {package["name"]: ids for package in found if (ids := {each["id"] for each in package["vulns"]})}


@pytest.fixture
def database(tmp_path: Path) -> None:
    """The database of vulnerabilities, which finds what everybody knows."""
    outside.run([*AUDIT, "--version"], tmp_path)  # skips the test where it can't be installed
    try:
        found = audit(KNOWN, tmp_path)
    except LookupError as error:
        pytest.skip(f"the database of vulnerabilities can't be reached: {error}")
    assert found["jinja2"]


@pytest.mark.slow
@pytest.mark.usefixtures("database")
def test_no_locked_package_has_a_known_vulnerability(tmp_path: Path) -> None:
    options = ["--locked", "--all-extras", "--all-groups", "--no-emit-project", "--no-hashes", "--no-annotate"]
    locked = outside.run(["uv", "export", *options, "--project", str(ROOT)], tmp_path)
    assert "duckdb==" in locked
    found = audit(locked, tmp_path)
    assert not {name: ids - ACCEPTED.keys() for name, ids in found.items() if ids - ACCEPTED.keys()}
