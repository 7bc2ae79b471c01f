"""``[[files]]``: which files a corpus has, and what they are."""

from typing import Any

from talkhouse.ingest.declared.declaration.model import Files
from talkhouse.ingest.declared.declaration.patterns import EVERYTHING, pattern_problem
from talkhouse.ingest.declared.declaration.table import Table

_OF_DIALOGUES = ("split", "release", "subset")
_HOLDS = ("dialogues", "annotations")


def files_of(whole: Table) -> tuple[Files, ...]:
    """Return the files that are declared; without any, all that lie in the folder."""
    files: list[Files] = []
    patterns: dict[str, int] = {}
    for table in whole.tables("files"):
        each = _files_of(table)
        if each.path in patterns:
            table.fail("path", f"path = {each.path!r} stands in line {patterns[each.path]} already")
        patterns[each.path] = each.line
        files.append(each)
    if "split" in whole.table("dialogue"):
        _check_one_split(whole, files)
    if files and not any(each.holds == "dialogues" and each.skip is None for each in files):
        whole.fail("files", "no [[files]] has dialogues", next_step="add one for the files with the dialogues")
    return tuple(files) or (Files(EVERYTHING, whole.line("files" if "files" in whole else "format")),)


def _files_of(table: Table) -> Files:
    table.check_keys(("path", *_OF_DIALOGUES, "holds", "skip"))
    if "path" not in table:
        table.fail(None, "[[files]] without a path", expected='path = "train/*.jsonl"')
    path = table.text("path")
    if problem := pattern_problem(path):
        table.fail("path", problem, expected="a path inside the corpus's folder, such as 'train/*.jsonl'")
    if "holds" in table and "skip" in table:
        table.fail("skip", "files with 'skip' hold nothing", next_step="remove 'holds' or 'skip'")
    holds: Any = table.choice("holds", _HOLDS) if "holds" in table else "dialogues"
    for key in _OF_DIALOGUES:
        if key in table and ("skip" in table or holds != "dialogues"):
            table.fail(key, f"only files of dialogues have a {key}", next_step=f"remove {key!r}")
    words = {key: table.word(key) for key in (*_OF_DIALOGUES, "skip")}
    return Files(path, table.line("path"), holds=holds, **words)


def _check_one_split(whole: Table, files: list[Files]) -> None:
    for each in files:
        if each.split is not None:
            whole.table("dialogue").fail(
                "split",
                "the split is declared twice: by file and by record",
                found=f"split = {each.split!r:.100} for the files {each.path!r:.100} (line {each.line})",
                next_step="remove one of the two",
            )
