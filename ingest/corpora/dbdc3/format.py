"""The published layout: where the logs and background paragraphs lie, what a log has, and which bot it is with."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypeAlias, TypedDict, cast

from msgspec import Raw, Struct

from talkhouse.ingest.outcomes import SourceLocation, Unrecognised
from talkhouse.ingest.sources import SourceFile

if TYPE_CHECKING:
    Text: TypeAlias = str
else:
    Text = str | int | float
    """A text; until ``spell_numbers`` it may be a number, which the challenge's script takes as well."""

Label = TypedDict(
    "Label",
    {
        "breakdown": Text | None,
        "annotator-id": NotRequired[Text | None],
        "ungrammatical-sentence": NotRequired[Text | None],
        "comment": NotRequired[Text | None],
    },
)
"""One annotator's label of one turn; null where it is not known."""

LogTurn = TypedDict(
    "LogTurn",
    {
        "speaker": Text,
        "utterance": str,
        "turn-index": NotRequired[Raw],
        "time": NotRequired[Text | None],
        "annotation-id": NotRequired[Text | None],
        "annotations": NotRequired[list[Label] | None],
    },
)
"""One utterance; its number is kept as the literal that was published."""

Log = TypedDict(
    "Log",
    {
        "dialogue-id": Text,
        "turns": list[LogTurn],
        "group-id": NotRequired[Text | None],
        "speaker-id": NotRequired[Text | None],
    },
)
"""One dialogue."""


class LogExtra(Struct):
    """What ``records.extra`` has for writing a log back; values are kept as the literals that were published."""

    fields: list[str] = []
    """Keys of the log, in published order."""
    turn_fields: list[str] = []
    label_fields: list[str] = []
    fields_at: dict[str, list[str]] = {}
    """Keys of single turns and labels that have others, or in another order, by pointer."""
    lists: dict[str, Raw] = {}
    differs: dict[str, Raw] = {}
    unknown: dict[str, Raw] = {}


def spell_numbers(log: Log) -> dict[str, int | float]:
    """Put texts where a log has numbers in their place, spelled as JSON has them; return the numbers, by pointer."""
    numbers, objects = {}, [("", cast(dict[str, Any], log))]
    for at, values in objects:
        for key, value in values.items():
            if isinstance(value, list):
                objects += [(f"{at}/{key}/{index}", item) for index, item in enumerate(value)]
            elif isinstance(value, int | float):
                numbers[f"{at}/{key}"] = value
                values[key] = json.dumps(value)
    return numbers


def stated(log: Log) -> dict[str, Any]:
    """Collect everything but words that a log states of its dialogue, by pointer; absent fields are left out."""
    facts = _facts("", log, ("group-id", "speaker-id"))
    for index, turn in enumerate(log["turns"]):
        facts |= _facts(f"/turns/{index}", turn, ("turn-index", "time", "annotation-id"))
    return facts


def _facts(at: str, values: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, Any]:
    return {f"{at}/{key}": values[key] for key in keys if key in values}


def published_keys(raw: bytes, log: Log, *, has_unknown: bool) -> dict[str, Any]:
    """Collect what is needed to write a log as it was: the keys of each object, and null lists."""
    # Fields that the format does not know are not in the log, but have their place among the keys.
    objects = json.loads(raw, parse_int=str) if has_unknown else log
    turns = [tuple(turn) for turn in objects["turns"]]
    labels = [[tuple(label) for label in turn.get("annotations") or ()] for turn in objects["turns"]]
    turn_fields, label_fields = _commonest(turns), _commonest(chain.from_iterable(labels))
    others = {f"/turns/{index}": keys for index, keys in enumerate(turns) if keys != turn_fields}
    others |= {
        f"/turns/{index}/annotations/{position}": keys
        for index, of_turn in enumerate(labels)
        for position, keys in enumerate(of_turn)
        if keys != label_fields
    }
    nulls = {
        f"/turns/{index}/annotations": None
        for index, turn in enumerate(log["turns"])
        if turn.get("annotations", ()) is None
    }
    return {
        "fields": list(objects),
        "turn_fields": turn_fields,
        "label_fields": label_fields,
        "fields_at": others,
        "lists": nulls,
    }


def _commonest(orders: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the keys that most objects have; of equals those that come first."""
    counts = Counter(orders)
    return counts.most_common(1)[0][0] if counts else ()


class BotFamily(NamedTuple):
    """A family of bots: its name, its language, and patterns of dialogue ids and of subsets, lower case."""

    name: str
    language: str
    ids: str
    subsets: str


# TKTK_100 and json_data_100 are the same bot, and DCM's is that of the chat dialogue corpus. Japanese dialogue ids are
# bare numbers.
FAMILIES = (
    BotFamily("IRIS", "en", r"iris_\d+", r"iris(_.*|\d.*)?"),
    BotFamily("TickTock", "en", r"(ticktock|tktk)_?\d+", r"(tktk|ticktock)(_.*|\d.*)?|json_data_100"),
    BotFamily("CIC", "en", r"cic\d+", r"cic(_.*|\d.*)?"),
    BotFamily("YI", "en", r"yit?\d+", r"yi(_.*|\d.*)?"),
    BotFamily("DCM", "ja", r"", r"dcm(_.*|\d.*)?|init100|rest1046"),
    BotFamily("DIT", "ja", r"", r"dit(_.*|\d.*)?"),
    BotFamily("IRS", "ja", r"", r"irs(_.*|\d.*)?"),
)


def family(dialogue_id: str, subset: str | None) -> BotFamily | None:
    """Find the family of bots that a dialogue is with in the fixed table, or None if it is none of them."""
    by_id = (row for row in FAMILIES if re.fullmatch(row.ids, dialogue_id.lower()))
    by_subset = (row for row in FAMILIES if re.fullmatch(row.subsets, (subset or "").lower()))
    return next(by_id, None) or next(by_subset, None)


CORPUS = "dbdc3"


BREAKDOWN = "dbdc3.breakdown"


UNGRAMMATICAL = "dbdc3.ungrammatical"


ROLES = {"U": "user", "S": "system"}


LOG = ".log.json"
CONTEXT = ".log.context"

SPEAKERS = "speaker-attribute.tsv"
ATTRIBUTES = (SPEAKERS, "annotator-attribute.tsv")
"""Tables of the chat dialogue corpus: a person a row, whose id comes first. The two numberings have nothing in common:
speaker 01_01 and annotator 01_A are of one site, and need not be the same person."""

PLACEHOLDERS = {"", "DBD-01", "DBD-1"}
"""Ids of speakers that stand in every log of a subset, and so identify nobody: CIC's, and those of the second challenge
and of the Japanese data of the third."""

_DESCRIPTION = re.compile(r".*\.(txt|pdf)|show_dial\.py", re.IGNORECASE)
"""Names of files in the publisher's archives other than the logs: data_format.txt, DBDC2_LICENSE.txt, a manual ..."""

SPLITS = {"dev": "validation", "eval": "test"}
"""The splits of the challenge and their standard names."""

PHASES = {"dev": "dev", "development": "dev", "eval": "eval", "test": "eval", "ref": "eval"}
"""Folder names, lower case, and the split that each is: README says test for eval, and DBDC2's archive ref."""

LANGUAGES = {"en": "en", "ja": "ja", "jp": "ja", "english": "en", "japanese": "ja"}
"""Folder names, lower case; the README and the submissions of the challenge say jp."""

DEV_ZIPS = {"cic_json_data", "yi_json_data", "iris_json_data", "json_data_100"}
"""Folders inside the four zips of the challenge's data/dev: English development data."""

_CHAT_PARTS = {"init100", "rest1046"}
"""Folders of the chat dialogue corpus: 100 dialogues by 24 annotators each, and the rest by 2 or 3."""

CHAT_CORPUS = "chat_dialogue_corpus"
_CHAT_FOLDER = re.compile(r"(projectnextnlp[-_ ]?)?chat[-_ ]dialogue[-_ ]corpus")
_OLDER = re.compile(r"(dbdc[12])([_\-. ].*)?")
"""Folders of the first two challenges, which were in Japanese."""


class PathFacts(NamedTuple):
    """The facts that a path states, or None if it states none."""

    release: str | None
    language: str | None
    split: str | None
    subset: str | None


def locate(file: SourceFile) -> SourceLocation | Unrecognised:
    """Locate the record of a log by its path; its name is the native id, as far as the path knows."""
    if _DESCRIPTION.fullmatch(file.name):
        return Unrecognised(file, "the publisher's description, no data", is_meant=True)
    if not file.name.endswith(LOG):
        return Unrecognised(file, f"neither *{LOG} nor *{CONTEXT}")
    facts = path_facts(file)
    return SourceLocation(file, "", facts.subset, facts.release, facts.split, native_id=stem(file))


def locate_attributes(file: SourceFile) -> SourceLocation:
    """Locate the record of a table of speakers or annotators."""
    return SourceLocation(file, subset=file.name.removesuffix(".tsv"), release=CHAT_CORPUS)


class Attributes(Struct):
    """A table of speakers or annotators."""

    fields: list[str] = []
    """Names of its columns, verbatim; the first is that of the ids."""
    people: dict[str, dict[str, str]] = {}
    """What it says of each, by id."""

    @classmethod
    def parse(cls, text: str) -> tuple["Attributes", list[str]]:
        """Read a table; return with it the ids of rows that are repeated, or of other cells than the header."""
        lines = [line.removesuffix("\r").split("\t") for line in text.split("\n")]
        fields, *rows = [cells for cells in lines if cells != [""]] or [[]]
        table, others = cls(fields, {}), list[str]()
        for person, *cells in rows:
            if person in table.people or len(cells) != len(fields) - 1:
                others.append(person)
            table.people.setdefault(person, dict(zip(fields[1:], cells, strict=False)))
        return table, others

    def text(self) -> str:
        """Write the table as its publisher does, unless something about it is unusual."""
        rows = [[person, *facts.values()] for person, facts in self.people.items()]
        return "".join("\t".join(cells) + "\n" for cells in (self.fields, *rows))


def locate_context(file: SourceFile) -> SourceLocation:
    """Locate the record of a background paragraph."""
    return SourceLocation(file, subset="context", native_id=stem(file), size=file.size)


def stem(file: SourceFile) -> str:
    """Return a file's name without its ending."""
    return file.name.removesuffix(LOG).removesuffix(CONTEXT)


def inner_path(file: SourceFile) -> PurePosixPath:
    """Return a file's path inside the corpus's folder, archives as folders."""
    return PurePosixPath(*file.path.parts[1:])


def path_facts(file: SourceFile) -> PathFacts:
    """Read what the path of a log says.

    ``dev.zip`` and ``eval.zip`` of the first challenge name nothing else; what lies in a folder of that name alone is
    taken to be theirs if it is named as their dialogues are, by a number.
    """
    folder = inner_path(file).parent
    facts = folder_facts(folder)
    if facts.split and {*map(str.lower, folder.parts)} <= {*PHASES} and stem(file).isdecimal():
        return PathFacts("dbdc1", "ja", facts.split, "DCM")
    return facts


@cache
def folder_facts(folder: PurePosixPath) -> PathFacts:
    """Read the path of a folder inside the corpus's folder; each holds many files.

    The published tree is ``<release>/<language>/<phase>/<subset>/<id>.log.json``. In a tree that is not known, the
    subset is the folder itself, and the publisher's release the last folder above language and phase.
    """
    folders = folder.parts
    last = folders[-1] if folders else ""
    if last.lower() in DEV_ZIPS:
        return PathFacts("dev_zips", "en", "dev", last)
    words = [_words(folder) for folder in folders]
    split = _first(PHASES, words)
    if last.lower() in _CHAT_PARTS or any(_CHAT_FOLDER.fullmatch(name.lower()) for name in folders):
        return PathFacts(CHAT_CORPUS, "ja", split or "dev", last if last.lower() in _CHAT_PARTS else None)
    plain = [index for index, name in enumerate(folders) if name.lower() not in {*LANGUAGES, *PHASES}]
    named = [index for index in range(len(folders)) if index not in plain]
    subset = last if (len(folders) - 1) in plain else None
    if older := [found for name in folders if (found := _OLDER.fullmatch(name.lower()))]:
        release = older[-1][1]
        is_subset = subset is not None and not _OLDER.fullmatch(subset.lower())
        return PathFacts(release, "ja", split, subset if is_subset else "DCM" if release == "dbdc1" else None)
    above = [index for index in plain if index < (named[0] if named else len(folders) - 1)]
    return PathFacts(folders[above[-1]] if above else None, _first(LANGUAGES, words), split, subset)


def _words(folder: str) -> list[str]:
    """Split a folder's name, lower case: DBDC2_dev -> dbdc2_dev, dbdc2, dev."""
    name = folder.lower()
    return [name, *re.split(r"[_\-. ]", name)]


def _first(table: dict[str, str], words: list[list[str]]) -> str | None:
    """Look up the innermost folder that is in the table."""
    return next((table[word] for folder in reversed(words) for word in folder if word in table), None)
