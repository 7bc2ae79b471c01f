"""Run a program with packages that Talkhouse does not depend on, through uv, in an environment of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

_ENVIRONMENT = {**os.environ, "npm_config_fetch_retries": "0"}
"""As it is before the fixture ``cache`` moves all caches, also that of uv; npm waits minutes between tries."""

_OFFLINE = ("Failed to fetch", "network was disabled", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH")
"""What uv and npm write where there is no network and a package is not in their caches."""


def python_with(folder: Path, packages: Sequence[str], alone: Sequence[str] = ()) -> Path:
    """Make an environment in a folder and return its Python; ``alone``: packages without what they depend on."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    run(["uv", "venv", "--quiet", "--no-project", "--clear", "--python", version, str(folder)], folder.parent)
    python = folder / "bin" / "python"
    install = ["uv", "pip", "install", "--quiet", "--python", str(python)]
    run([*install, *packages], folder.parent)
    if alone:
        run([*install, "--no-deps", *alone], folder.parent)
    return python


def run(command: Sequence[str], cwd: Path, text: str = "") -> str:
    """Run a command of uv, npm or Node and return its output; skip the test without the program or the network."""
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        command, cwd=cwd, env=_ENVIRONMENT, input=text, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode and any(sign in done.stderr for sign in _OFFLINE):
        pytest.skip(f"no network to install what this needs: {' '.join(command)}")
    assert done.returncode == 0, done.stderr
    return done.stdout
