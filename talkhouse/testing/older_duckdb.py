"""A warehouse in an older DuckDB, which runs in an environment of its own that uv has already."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from talkhouse.testing.failure import CannotCheck

OLDEST = "1.4.4"
"""The oldest version whose views work under ATTACH without USE (``docs/clients.md``)."""

_PROGRAM = """
import json, sys
from duckdb import connect
path, *views = json.load(sys.stdin)
con = connect()
con.execute("attach '" + path.replace("'", "''") + "' as w (read_only)")
problems = {}
for view in views:
    try:
        con.execute("from w." + view).fetchall()
    except Exception as error:
        problems[view] = f"{type(error).__name__}: {error}"
print(json.dumps(problems))
"""

_PYTHON = ">=3.11,<3.14"
"""For these it has wheels."""


def problems_in(version: str, warehouse: Path, views: Sequence[str]) -> dict[str, str]:
    """Query views in a version of DuckDB; return what went wrong, by view.

    Raises CannotCheck where uv, or this version in its cache, is missing: nothing is downloaded.
    """
    uv = shutil.which("uv")
    if uv is None:
        raise CannotCheck(f"DuckDB {version} runs by uv, which is not installed")
    wanted = ["--isolated", "--no-project", "--python", _PYTHON, "--with", f"duckdb=={version}", "--with", "pytz"]
    done = subprocess.run(  # noqa: S603 - our own words
        [uv, "run", "--offline", "--quiet", *wanted, "python", "-c", _PROGRAM],
        input=json.dumps([str(warehouse), *views]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        command = f"uv run --no-project --python '{_PYTHON}' --with duckdb=={version} --with pytz python -c ''"
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CannotCheck(f"DuckDB {version} is not installed ({last}); to install it: {command}")
    problems: dict[str, str] = json.loads(done.stdout)
    return problems
