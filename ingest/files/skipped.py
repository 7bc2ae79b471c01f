"""Names that are never data: what operating systems, git and Python leave behind, notes and licences."""

import re
from fnmatch import fnmatchcase, translate

DECLARATION = "corpus.toml"
"""What declares a corpus without code (``ingest.declared``)."""

SCHEMA = ".corpus.schema.json"
"""What ``talkhouse new`` writes next to it, for editors."""

FETCH_FOLDER = ".talkhouse-fetch"
"""Where ``talkhouse fetch`` keeps what is on its way into a data folder, and the record of what it fetched."""

# The first reason that fits is the note; patterns are matched without case.
_SKIPPED = (
    (
        ("__macosx", "._*", ".ds_store", "thumbs.db", "desktop.ini", "lost+found"),
        "made by an operating system or archiver",
    ),
    (("__init__.py", "__pycache__"), "Python's, not data"),
    ((".git", ".gitignore", ".gitattributes", ".github"), "git's, not data"),
    (("readme*", "00readme*", "*.md", "changelog*", "citation*", "*.bib"), "notes"),
    ((FETCH_FOLDER,), "what talkhouse fetch keeps there"),
    ((SCHEMA,), "what an editor checks corpus.toml by"),
    ((f".{DECLARATION}.part*",), "what talkhouse new leaves where it is killed"),
    (("license*", "licence*", "copying*", "notice*"), "a licence"),
)

_ANY = re.compile("|".join(translate(pattern) for patterns, _ in _SKIPPED for pattern in patterns))
"""All of them in one: most files are none of these, and there may be tens of thousands."""


def skip_reason(path: str) -> str | None:
    """Return why a path is never data, judged by the names of its parts alone, or None if it may be.

    A declaration lies in the folder of its corpus; deeper, or in an archive, a file of this name may be anything.
    """
    *folders, name = path.split("/")
    if name == DECLARATION and len(folders) <= 1:
        return "skipped by name: the declaration of the corpus, which main.corpora has"
    for part in path.lower().split("/"):
        if _ANY.match(part):
            reason = next(
                reason for patterns, reason in _SKIPPED if any(fnmatchcase(part, pattern) for pattern in patterns)
            )
            return f"skipped by name: {reason}"
    return None
