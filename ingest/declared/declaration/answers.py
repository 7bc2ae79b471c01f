"""The keys of ``[pair] zip`` and ``[preference] answers``: what belongs together, and which answer is the best."""

from typing import Any

from talkhouse.ingest.declared.declaration.model import AnswerFields, JsonPath, ZippedLists
from talkhouse.ingest.declared.declaration.table import DeclarationTable

OF_ANSWERS = ("answers", "text", "source", "score", "rank", "winner")
_BY = ("score", "rank", "winner")
_MOST_ANSWERS = 1_000
_WORDS = ("all", "none")


def zipped_of(table: DeclarationTable) -> ZippedLists:
    """Return the two lists of pairs."""
    for key in ("each", "query", "history"):
        if key in table:
            table.fail(key, f"'zip' and {key!r} can't both be declared", next_step="remove one of the two")
    paths = [_list(table, "zip", path.names) for path in table.json_paths("zip")]
    if len(set(paths)) != 2:
        table.wrong("zip", 'the paths of two lists, such as ["questions", "answers"]')
    return ZippedLists(*paths)


def _list(table: DeclarationTable, key: str, names: JsonPath) -> JsonPath:
    names = names[:-1] if names[-1:] == (None,) else names
    if not names or not all(isinstance(name, str) for name in names):
        table.wrong(key, "a path to one list, with [*] at its end alone")
    return names


def answers_of(whole: DeclarationTable) -> AnswerFields | None:
    """Return the answers that are compared, if not one was chosen and one rejected."""
    table = whole.table("preference")
    if "answers" not in table:
        for key in (key for key in OF_ANSWERS if key in table):
            table.fail(key, f"{key!r} without 'answers': it is of several answers", expected="answers = ...")
    for key in (key for key in ("chosen", "rejected") if "answers" in table and key in table):
        table.fail(key, f"'answers' and {key!r} can't both be declared", next_step="remove one of the two")
    if "answers" not in table:
        _winners(whole)
        return None
    by = [key for key in _BY if key in table]
    if len(by) > 1:
        table.fail(by[1], f"{by[0]!r} and {by[1]!r} would both say which answer is best", next_step="remove one")
    is_list = isinstance(table.values["answers"], str)
    names = [path.names for path in table.json_paths("answers")]
    if not is_list and not 1 < len(set(names)) == len(names):
        table.wrong("answers", "the path of a list of answers, or the paths of two or more")
    if not is_list and "text" in table:
        table.fail(
            "text", "'text' is for answers in a list; the paths of 'answers' lead to each", next_step="remove it"
        )
    paths = tuple([_list(table, "answers", name) for name in names] if is_list else _plain(table, "answers", names))
    of_each: dict[str, Any] = {}
    for key in ("source", "score", "rank"):
        if key in table:
            of_each[key] = tuple(_plain(table, key, [path.names for path in table.json_paths(key)]))
            if len(of_each[key]) != len(paths):
                table.wrong(key, "one path, inside the items" if is_list else f"{len(paths)} paths, of each answer one")
    text = table.json_path("text").names if "text" in table else ()
    winner = _plain(table, "winner", [table.json_path("winner").names])[0] if "winner" in table else None
    return AnswerFields(
        paths,
        is_list,
        _plain(table, "text", [text])[0] if text else (),
        winner=winner,
        winners=_winners(whole),
        **of_each,
    )


def _plain(table: DeclarationTable, key: str, paths: list[JsonPath]) -> list[JsonPath]:
    for path in paths:
        if not path or not all(isinstance(name, str) for name in path):
            table.wrong(key, "a path to one place, of names alone")
    return paths


def _winners(whole: DeclarationTable) -> dict[str, int | str]:
    """Return the best answer for each word."""
    table, preference = whole.table("winners"), whole.table("preference")
    if "winners" in whole and "winner" not in preference:
        whole.fail("winners", "[winners] without 'winner' in [preference]", expected='[preference] winner = "..."')
    if "winner" in preference and not table.values:
        preference.fail("winner", "'winner' needs [winners]: which answer each word means", expected="[winners]\na = 1")
    answers = preference.values.get("answers")
    most = len(answers) if isinstance(answers, list) else _MOST_ANSWERS
    for word, value in table.values.items():
        is_number = type(value) is int and 0 < value <= most
        if not is_number and value not in _WORDS:
            table.wrong(word, f'the number of an answer, from 1 to {most:,}, or "all", "none"')
    return dict(table.values)
