"""Splits: the publisher's, and the standard one that each means."""

from collections.abc import Mapping

from talkhouse.ingest.declared.declaration.model import Declaration

ALL = "all"
"""The split of a corpus that has none."""

_WORDS = {
    "train": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
}
"""The Hub's words in the names of files and splits (Hugging Face, "Structure your repository")."""


class Splits(dict[str, str | None]):
    """The splits that a declaration names, each with its standard split; with a column of splits, any other is one."""

    def __init__(self, declaration: Declaration) -> None:
        self._meanings = declaration.splits
        self._is_open = declaration.dialogue.split is not None
        named = [files.split or ALL for files in declaration.files if files.holds == "dialogues" and not files.skip]
        super().__init__({split: self.standard(split) for split in named or [ALL]})

    def standard(self, split: str) -> str | None:
        """Return the standard split that a publisher's split means, by ``[splits]`` or the Hub's words."""
        return standard_split(split, self._meanings)

    def __contains__(self, split: object) -> bool:
        return self._is_open or super().__contains__(split)

    def __missing__(self, split: str) -> str | None:
        if not self._is_open:
            raise KeyError(split)
        return self.standard(split)


def standard_split(word: str, meanings: Mapping[str, str | None]) -> str | None:
    """Return train, validation or test where a word means that, else None."""
    return meanings.get(word, _WORDS.get(word.lower()))
