"""The head of a declaration: what the corpus is called, whose it is, and its format."""

from typing import Any

from talkhouse.ingest.contract.declaration import ADDRESS, LANGUAGE
from talkhouse.ingest.declared.declaration.forms import FORMS, HEAD
from talkhouse.ingest.declared.declaration.table import Table

_TEXTS = ("description", "homepage", "terms", "version")
_NOT_STATED = ("licence", "citation")
_TABLES = (
    *("files", "dialogue", "turn", "speaker", "pair", "preference", "markers", "roles", "splits", "times", "dialect"),
    *("annotations", "tasks"),
)


def facts_of(whole: Table) -> dict[str, Any]:
    """Return the values of the fields of Declaration that describe the corpus."""
    whole.check_keys((*HEAD, *_TABLES))
    for key, expected in (("title", 'title = "..."'), ("format", f"one of: {', '.join(FORMS)}")):
        if key not in whole:
            whole.fail(key, f"the declaration has no {key}", expected=expected, next_step=_above_tables(whole, key))
    facts: dict[str, Any] = {key: whole.text(key) for key in _TEXTS}
    facts["title"] = whole.word("title")
    if len(facts["title"].splitlines()) > 1:
        whole.wrong("title", "one line")
    facts["format"] = whole.choice("format", FORMS)
    facts |= {key: word for key in _NOT_STATED if (word := whole.word(key))}
    facts["licence_url"] = whole.word("licence_url")
    for key in ("homepage", "licence_url"):
        if facts[key] and not ADDRESS.fullmatch(facts[key]):
            whole.wrong(key, "an address that begins with https://")
    facts["languages"] = whole.texts("languages")
    for language in facts["languages"]:
        if not LANGUAGE.fullmatch(language):
            whole.wrong("languages", f"codes of ISO 639, such as 'en'; {language!r:.50} is none")
    return facts


def _above_tables(whole: Table, key: str) -> str:
    """Say where a key belongs, if it stands below the head of a table and so is that table's."""
    below = [name for name, value in whole.values.items() for table in _tables_in(value) if key in table]
    if below:
        return f"it stands in [{below[0]}]: move it above the first table"
    return "write it above the first [table]"


def _tables_in(value: object) -> list[dict[str, object]]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
