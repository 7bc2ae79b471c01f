"""Nothing outside of a corpus's own folders knows it by name, so that somebody else's is treated as ours are."""

import re
from pathlib import Path

from talkhouse.ingest.known.origins import OWN

ROOT = Path(__file__).parent.parent
IDS = sorted(path.parent.name for path in OWN.glob("*/__init__.py"))
NAMED = re.compile("|".join(IDS))
FOLDERS = {ROOT / top / name for top in ("ingest/corpora", "queries", "tests/corpora") for name in IDS}
FOLDERS |= {ROOT / "talkhouse" / "shipped"}  # made from them, and in no repository

EXAMPLE = re.compile(r"^ +talkhouse [a-z]+ |\bsuch as ")
"""Lines of the help: a command that works as it stands on the samples that come with Talkhouse."""

ARGUED = {
    "tests/samples.py": "what tests of no corpus in particular call those of the samples",
    "tests/conftest.py": "a small warehouse of one sample",
    "tests/ingest/files/*": "the published archives, by whose sizes and names the limits are tried",
    "tests/ingest/test_fuzz.py": "each reader is given files of its own format",
    "tests/ingest/test_registry.py": "an id that is taken, and one that is mistyped",
    "tests/migrations/test_postgres.py": "rows of a sample, by their keys",
    "tests/queries/*": "views of all corpora, whose rows were counted by hand in the samples",
    "tests/schema/*": "views that a query, a guard or a driver meets",
    "tests/talkhouse/*": "known rows of the samples, or of the real files: what a command must print of them",
    "tests/talkhouse/citation/golden/*": "how the corpora that come with Talkhouse are cited",
    "tests/talkhouse/*/*": "known rows of the samples, or of the real files: what a command must print of them",
}
"""Tests that ask for rows which only one corpus has. New tests of no corpus in particular invent theirs: ``toy``."""

MOST_LINES = 664
"""How many lines of tests name a corpus at most: a number that falls."""


def named(folder: str) -> dict[Path, list[str]]:
    found = {}
    for path in sorted((ROOT / folder).rglob("*")):
        if not path.is_file() or path.suffix in (".pyc", ".png", ".parquet") or FOLDERS & {*path.parents}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")  # some invented data are no text
        lines = [line for line in text.splitlines() if NAMED.search(line)]
        if lines:
            found[path.relative_to(ROOT)] = lines
    return found


def test_no_code_names_a_corpus() -> None:
    for folder in ("ingest", "migrations", "queries", "schema"):
        assert named(folder) == {}
    lines = {(path, line.strip()) for path, lines in named("talkhouse").items() for line in lines}
    others = {(path, line) for path, line in lines if not EXAMPLE.search(f" {line}")}
    assert others == set()
    assert {path.parts[:2] for path, _ in lines} <= {("talkhouse", "cli")}, "the help of commands"


def test_tests_that_name_a_corpus_are_argued() -> None:
    found = named("tests")
    unargued = [str(path) for path in found if not any(path.match(pattern) for pattern in ARGUED)]
    assert unargued == []
    assert sum(map(len, found.values())) <= MOST_LINES
    for pattern in ARGUED:
        assert any(path.match(pattern) for path in found), f"nothing is left of {pattern}"
