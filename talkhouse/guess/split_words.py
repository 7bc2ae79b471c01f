"""Splits by the words in the names of files and folders (Hugging Face Hub, "Structure your repository")."""

import re

from talkhouse.ingest.declared.splits import standard_split

_WORD = re.compile(r"[a-z]+")


def split_of(path: str) -> str | None:
    """Return the word for a split that a file's name has, else that of its nearest folder; None where there is none.

    A name with words for two splits says nothing.
    """
    for name in reversed(path.lower().split("/")):
        words: set[str] = {word for word in _WORD.findall(name) if standard_split(word, {})}
        if len(words) == 1:
            return words.pop()
        if words:
            return None
    return None
