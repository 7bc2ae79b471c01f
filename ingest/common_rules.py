"""What a rule is, and the rules that hold for every corpus."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["reject_file", "reject_dialogue", "reject_example", "warn", "note"]


@dataclass(frozen=True)
class Rule:
    """A rule that a source record can break: when it applies, how severe that is, and what to do."""

    id: str
    severity: Severity
    condition: str
    remedy: str


COMMON_RULES = (
    Rule(
        "TH-01",
        "reject_file",
        "The JSON is malformed.",
        "Compare the file with the publisher's and take that one; a truncated download is the usual cause.",
    ),
    Rule(
        "TH-02",
        "reject_file",
        "The text is not UTF-8, or holds half of a surrogate pair, which no database can store.",
        "Save the file as UTF-8; a lone \\ud800 ... \\udfff escape has to be fixed by hand.",
    ),
    Rule(
        "TH-03",
        "reject_dialogue",
        "An object has the same key twice, so that one of the values would be lost.",
        "Decide which of the values is meant and remove the other.",
    ),
    Rule(
        "TH-04",
        "reject_dialogue",
        "NaN or Infinity, which this format does not have.",
        "Replace it by null or a number.",
    ),
    Rule(
        "TH-05",
        "warn",
        "A file or folder that nothing recognises.",
        "Remove it from the folder, or move it to the folder of its corpus.",
    ),
    Rule(
        "TH-06",
        "warn",
        "A write-ahead log of DuckDB was beside the published file, which is never written to: it was moved aside.",
        "Delete it, unless somebody changed the file by hand and wants to know what is in it.",
    ),
    Rule(
        "TH-07",
        "warn",
        "A label of a scheme is declared twice, with different meanings: the first one counts.",
        "Decide which meaning is right; if both are, the reader has to tell them apart by a namespace (Label.within).",
    ),
    Rule(
        "TH-08",
        "note",
        "Files that the corpus declares as its publisher's are not there, while others of them are.",
        "Nothing, if you mean to do without them; else: talkhouse fetch CORPUS, or the addresses on its page.",
    ),
    Rule(
        "TH-09",
        "warn",
        "A file has another checksum than the corpus declares for it: it is damaged, changed, or of another version.",
        "Move it away and run talkhouse fetch CORPUS. If the publisher has replaced it, what its README says of its "
        "contents may not hold.",
    ),
)
"""Rules that hold for every corpus."""
