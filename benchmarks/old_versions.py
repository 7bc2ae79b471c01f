"""Makes a warehouse, and what lies next to it, by the code of each schema revision, and uses all with today's.

    python -m benchmarks.old_versions FOLDER [COMMAND ...]

Every cell of the table is ``ok``, ``told`` (one message, whose command, typed as printed, worked, and then the command
too), ``-`` (that Talkhouse could not make it) or the message. FOLDER keeps the check-outs, a gigabyte or two. COMMAND:
only these rows of the table.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TASK, SPLIT = "dbdc3.breakdown_detection", "--split eval --release dbdc3"

MADE = {
    "warehouse": "build --data {data} --db w.duckdb",
    "searched": "search --rank coffee --db w.duckdb",
    "scored": f"score {TASK} {SPLIT} --baseline oracle --save old --db w.duckdb",
    "overlap": "overlap --db w.duckdb",
    "noted": "notes --add {turn} --label odd --db w.duckdb",
    "release": "release create old --db w.duckdb",
    "lake": "lake old_lake --db w.duckdb",
}
"""What each Talkhouse makes -> the command."""

USED = {
    "status": ("warehouse", "status --db w.duckdb"),
    "check": ("warehouse", "check --db w.duckdb"),
    "sql": ("warehouse", "sql 'select count(*) from main.turns' --db w.duckdb"),
    "score": ("warehouse", f"score {TASK} {SPLIT} --baseline oracle --db w.duckdb"),
    "export": ("warehouse", f"export {TASK} --output t.parquet --accept-terms --db w.duckdb"),
    "package": ("warehouse", f"export {TASK} --for huggingface --output package --accept-terms --db w.duckdb"),
    "cite": ("warehouse", "cite dbdc3 --db w.duckdb"),
    "restore": ("warehouse", "restore dbdc3 --output restored --db w.duckdb"),
    "replay": ("warehouse", "replay --db w.duckdb"),
    "report": ("warehouse", "report --output report.html --db w.duckdb"),
    "lake": ("warehouse", "lake new_lake --db w.duckdb"),
    "build": ("warehouse", "build --data {data} --db w.duckdb"),
    "search --rank": ("searched", "search --rank coffee --db w.duckdb"),
    "scores": ("scored", "scores --db w.duckdb"),
    "overlap": ("overlap", "overlap --db w.duckdb"),
    "notes": ("noted", "notes --db w.duckdb"),
    "lake, again": ("lake", "lake old_lake --db w.duckdb"),
    "release verify": ("release", "release verify old"),
    "release export": ("release", "release export old --output r.zip --accept-terms"),
    "of release": ("release", f"export {TASK} --output r.parquet --accept-terms --db release:old"),
    "diff": ("release", "diff release:old w.duckdb --json"),
}
"""What today's Talkhouse does -> what it needs, and the command."""


def commits() -> Iterator[tuple[str, str]]:
    """Yield each schema revision with the last commit that had it as its newest."""
    files = sorted((ROOT / "migrations" / "versions").glob("0*.py"))
    added = [
        _git("log", "--diff-filter=A", "--format=%H", "--", f"*/versions/{file.name[:4]}_*").split() for file in files
    ]
    for file, after in zip(files, [*added[1:], []], strict=True):
        yield file.name[:4], _git("rev-parse", f"{after[-1]}^" if after else "HEAD").strip()


def main(folder: Path, *commands: str) -> None:
    """Print the table, as Markdown."""
    data = folder / "data"
    for corpus in ("dbdc3", "delidata"):
        shutil.copytree(ROOT / "ingest" / "corpora" / corpus / "sample", data / corpus, dirs_exist_ok=True)
    rows = {}
    for revision, commit in commits():
        old, place = folder / commit[:8], folder / f"by-{revision}"
        if not old.exists():
            _git("worktree", "add", "--detach", str(old), commit)
            subprocess.run([shutil.which("uv") or "uv", "sync", "--frozen", "--quiet"], cwd=old, check=True)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        there = {
            name
            for name, command in MADE.items()
            if _run(old, place, command.format(data=data, turn=_TURN)).returncode == 0
        }
        rows[revision] = {
            name: _cell(folder, place, command.format(data=data)) if needed in there else "-"
            for name, (needed, command) in USED.items()
            if name in (commands or USED)
        }
        print(revision, commit[:8], sorted(there), rows[revision], file=sys.stderr)
    print("| command |", " | ".join(rows), "|\n|---|", "---|" * len(rows))
    for name in commands or USED:
        print("|", " | ".join([name, *(row[name] for row in rows.values())]), "|")


_TURN = "dbdc3:CIC9001#1"


def _cell(folder: Path, source: Path, command: str) -> str:
    """Run a command of today on a copy of what the older Talkhouse has made; first its remedy, if a message has one."""
    place = folder / "today"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)
    done = _run(ROOT, place, command)
    if done.returncode == 0:
        return "ok"
    remedy = re.search(r"^ *next: .*?(talkhouse [a-z]+ --db \S+)", done.stderr, re.MULTILINE)
    if remedy and "Traceback" not in done.stderr:
        helped = _run(ROOT, place, remedy[1].removeprefix("talkhouse "))
        again = _run(ROOT, place, command)
        if helped.returncode == again.returncode == 0:
            return "told"
        done = again
    return " ".join(done.stderr.split())[:200]


def _run(program: Path, place: Path, command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program / ".venv" / "bin" / "talkhouse", *shlex.split(command)],
        cwd=place, capture_output=True, text=True, check=False,
    )  # fmt: skip


def _git(*arguments: str) -> str:
    return subprocess.run(
        [shutil.which("git") or "git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), *sys.argv[2:])
