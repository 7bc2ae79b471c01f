"""Which files there are: dialogue logs and background paragraphs, and what their paths say."""

import re
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from talkhouse.ingest.outcomes import SourceLocation, Unrecognised
from talkhouse.ingest.sources import SourceFile

LOG = ".log.json"
CONTEXT = ".log.context"

LANGUAGES = {"en": "en", "ja": "ja", "jp": "ja", "english": "en", "japanese": "ja"}
"""Folder names, lower case; the README and the submissions of the challenge say jp."""

PHASES = {"train": "train", "dev": "dev", "development": "dev", "eval": "eval", "test": "test", "ref": "ref"}

DEV_ZIPS = {"cic_json_data", "yi_json_data", "iris_json_data", "json_data_100"}
"""Folders inside the four zips of the challenge's data/dev: English development data."""


class PathFacts(NamedTuple):
    """What a path says; None where it says nothing."""

    release: str | None
    language: str | None
    phase: str | None
    subset: str | None


def locate(file: SourceFile) -> SourceLocation | Unrecognised:
    """Locate the record of a log by its path; its name is the native id, as far as the path knows."""
    if not file.name.endswith(LOG):
        return Unrecognised(file, f"neither *{LOG} nor *{CONTEXT}")
    facts = folder_facts(inner_path(file).parent)
    return SourceLocation(file, "", facts.subset, facts.release, facts.phase, native_id=stem(file))


def locate_context(file: SourceFile) -> SourceLocation:
    """Locate the record of a background paragraph."""
    return SourceLocation(file, subset="context", native_id=stem(file), size=file.size)


def stem(file: SourceFile) -> str:
    """Return a file's name without its ending."""
    return file.name.removesuffix(LOG).removesuffix(CONTEXT)


def inner_path(file: SourceFile) -> PurePosixPath:
    """Return a file's path inside the corpus's folder, archives as folders."""
    return PurePosixPath(*file.path.parts[1:])


@cache
def folder_facts(folder: PurePosixPath) -> PathFacts:
    """Read the path of a folder inside the corpus's folder; each holds many files.

    The published tree is ``<release>/<language>/<phase>/<subset>/<id>.log.json``. In any other, the subset is the
    folder itself, and the release the last folder above language and phase.
    """
    folders = folder.parts
    if folders and folders[-1].lower() in DEV_ZIPS:
        return PathFacts("dev_zips", "en", "dev", folders[-1])
    words = [_words(folder) for folder in folders]
    language = _first(LANGUAGES, words)
    phase = _first(PHASES, words)
    plain = [index for index, name in enumerate(folders) if name.lower() not in {*LANGUAGES, *PHASES}]
    named = [index for index in range(len(folders)) if index not in plain]
    subset = folders[-1] if folders and (len(folders) - 1) in plain else None
    above = [index for index in plain if index < (named[0] if named else len(folders) - 1)]
    return PathFacts(folders[above[-1]] if above else None, language, phase, subset)


def _words(folder: str) -> list[str]:
    """Split a folder's name, lower case: DBDC2_dev -> dbdc2_dev, dbdc2, dev."""
    name = folder.lower()
    return [name, *re.split(r"[_\-. ]", name)]


def _first(table: dict[str, str], words: list[list[str]]) -> str | None:
    """Look up the innermost folder that is in the table."""
    return next((table[word] for folder in reversed(words) for word in folder if word in table), None)
