"""What the path of a log says: release, language, phase and subset; and which bot a dialogue is with."""

import re
from pathlib import PurePosixPath
from typing import NamedTuple

LANGUAGES = {"en": "en", "ja": "ja", "jp": "ja", "english": "en", "japanese": "ja"}
"""Folder names, lower case; the README and the submissions of the challenge say jp."""

PHASES = {"train": "train", "dev": "dev", "development": "dev", "eval": "eval", "test": "test", "ref": "ref"}

DEV_ZIPS = {"cic_json_data", "yi_json_data", "iris_json_data", "json_data_100"}
"""Folders inside the four zips of the challenge's data/dev: English development data."""


class Family(NamedTuple):
    """A family of bots: its name, its language, and patterns of dialogue ids and of subsets, lower case."""

    name: str
    language: str
    ids: str
    subsets: str


# The same bot goes under several folder names (TKTK_100 and json_data_100), so a folder's name is no name of a
# bot. Japanese dialogue ids are bare numbers.
FAMILIES = (
    Family("IRIS", "en", r"iris_\d+", r"iris(_.*|\d.*)?"),
    Family("TickTock", "en", r"(ticktock|tktk)_?\d+", r"(tktk|ticktock)(_.*|\d.*)?|json_data_100"),
    Family("CIC", "en", r"cic\d+", r"cic(_.*|\d.*)?"),
    Family("YI", "en", r"yit?\d+", r"yi(_.*|\d.*)?"),
    Family("DCM", "ja", r"", r"dcm(_.*|\d.*)?"),
    Family("DIT", "ja", r"", r"dit(_.*|\d.*)?"),
    Family("IRS", "ja", r"", r"irs(_.*|\d.*)?"),
)


class PathFacts(NamedTuple):
    """What a path says; None where it says nothing."""

    release: str | None
    language: str | None
    phase: str | None
    subset: str | None


def facts(path: PurePosixPath) -> PathFacts:
    """Read a path inside the corpus's folder, archives taken as folders.

    The published layout is ``<release>/<language>/<phase>/<subset>/<id>.log.json``; of other trees what they say:
    the subset is the folder that holds the file, the release the last folder above language and phase.
    """
    folders = list(path.parent.parts)
    if folders and folders[-1].lower() in DEV_ZIPS:
        return PathFacts("dev_zips", "en", "dev", folders[-1])
    words = [_words(folder) for folder in folders]
    language = _first(LANGUAGES, words)
    phase = _first(PHASES, words)
    plain = [index for index, name in enumerate(folders) if name.lower() not in {*LANGUAGES, *PHASES}]
    marks = [index for index in range(len(folders)) if index not in plain]
    subset = folders[-1] if folders and (len(folders) - 1) in plain else None
    above = [index for index in plain if index < (marks[0] if marks else len(folders) - 1)]
    return PathFacts(folders[above[-1]] if above else None, language, phase, subset)


def family(dialogue_id: str, subset: str | None) -> Family | None:
    """Find the family of bots that a dialogue is with in the fixed table; None where it is none of them."""
    by_id = (one for one in FAMILIES if re.fullmatch(one.ids, dialogue_id.lower()))
    by_subset = (one for one in FAMILIES if re.fullmatch(one.subsets, (subset or "").lower()))
    return next(by_id, None) or next(by_subset, None)


def _words(folder: str) -> list[str]:
    """Give a folder's name and its parts, lower case: DBDC2_dev -> dbdc2_dev, dbdc2, dev."""
    name = folder.lower()
    return [name, *re.split(r"[_\-. ]", name)]


def _first(table: dict[str, str], words: list[list[str]]) -> str | None:
    """Look up the innermost folder that is in the table."""
    return next((table[word] for folder in reversed(words) for word in folder if word in table), None)
