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


_OF_ALL = (
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
        "An object has the same key twice, so that one of the values would be lost. As a warning: in a record of a "
        "corpus whose authors read it with Python's json, the last value counts, as there.",
        "Decide which of the values is meant and remove the other; a record that is loaded has its text in "
        "records.extra ->> 'verbatim'.",
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

FORMAT_RULES = (
    Rule(
        "GF-01",
        "reject_dialogue",
        "A field that corpus.toml declares is missing, null, or of another type.",
        "Correct the record, or the declaration if the field is called otherwise.",
    ),
    Rule("GF-02", "warn", "A record has no turns.", "Nothing, if that is meant; else check the path of the turns."),
    Rule("GF-03", "warn", "An answer is empty.", "Nothing, if that is meant."),
    Rule(
        "GF-04",
        "warn",
        "Two records have one id and other words; the key of the later one ends in '~' and 8 hex digits.",
        "Give each dialogue an id of its own, or declare none.",
    ),
    Rule(
        "GF-05",
        "warn",
        "A role that this format does not know; it is kept as it is.",
        "Say in [roles] what the word means.",
    ),
    Rule(
        "GF-06",
        "warn",
        "Two turns of a dialogue have the same id; replies and labels mean the first.",
        "Give each turn an id of its own.",
    ),
    Rule(
        "GF-07",
        "warn",
        "A reply to a turn that is not in the dialogue, or to one that replies to it in the end.",
        "Nothing, if the turn was never published; what the file says is kept.",
    ),
    Rule(
        "GF-08",
        "warn",
        "A span that is not inside its text.",
        'Check what the offsets count: code points, or with offsets = "utf-16" what a browser counts.',
    ),
    Rule(
        "GF-09",
        "warn",
        "A time of another form than declared: the column is null, and what the file says is kept.",
        "Declare the form in [times]: unix, unix_ms, or a pattern such as %d.%m.%Y %H:%M.",
    ),
    Rule(
        "GF-10",
        "reject_dialogue",
        "A transcript that begins with no marker: nobody knows who speaks. As a warning: lines of a text file before "
        "the first turn, which belong to none.",
        "Add the marker to [markers], or correct the text; of lines nothing, if they are a heading, else check the "
        "pattern in [lines].",
    ),
    Rule("GF-11", "warn", "The chosen and the rejected answer are the same.", "Nothing, if that is meant."),
    Rule(
        "GF-12",
        "reject_file",
        "A column that corpus.toml declares is missing or there twice, or any is there more than 100 times; or the "
        "pattern in [lines] fits no line.",
        "Correct the declaration, or the file's first line.",
    ),
    Rule(
        "GF-13",
        "reject_file",
        "A row has more or fewer cells than the header, a quote is never closed, or text stands behind a closing one.",
        'Check delimiter and quoteChar in [dialect]; where quotes are letters, quoteChar = ""; where they have a '
        'backslash before them, escapeChar = "\\\\".',
    ),
    Rule(
        "GF-14",
        "reject_file",
        "A file is not what its ending says.",
        "Give the file the ending of what it is; for a truncated download, fetch it again.",
    ),
    Rule(
        "GF-15",
        "reject_dialogue",
        "Labels for a dialogue or turn that is not there.",
        "Load the dialogues that the labels are about, or remove the rows.",
    ),
    Rule("GF-16", "warn", "The result of a tool call that nobody made.", "Nothing, if the call was cut off."),
    Rule("GF-17", "warn", "A pickle, which is never opened.", "Nothing; what is in it stays in its file."),
    Rule(
        "GF-18",
        "warn",
        "Rows of one dialogue differ in what they say about it: the first counts, and the others are kept.",
        "Nothing, if that is meant; else correct the rows.",
    ),
    Rule(
        "GF-19",
        "warn",
        "A reply to a later turn: the answer stands before what it answers.",
        "Nothing, if that is meant; of rows, [turn] order can name the column of the turns' places.",
    ),
    Rule(
        "GF-20",
        "warn",
        "An utterance without a conversation: it gets that of the utterance that it replies to, or one of its own, as "
        "in ConvoKit.",
        "Nothing, if that is right; else give it the conversation's id.",
    ),
    Rule(
        "GF-21",
        "warn",
        "A number that a double does not hold: the column has the nearest one, and what the file says is kept.",
        "Declare it as a label, which is a text, where each digit counts.",
    ),
    Rule(
        "GF-22",
        "warn",
        "Turns without a text, such as pictures and calls: their text is empty. One finding counts those of a corpus.",
        "Nothing, if that is meant; else check [turn] text.",
    ),
    Rule(
        "GF-23",
        "warn",
        "A file of speakers has an id twice: the first counts.",
        "Nothing, if that is meant; else correct the file.",
    ),
    Rule(
        "GF-24",
        "warn",
        "The place of a turn in its dialogue is missing or no number: the turns stand in the order of their lines.",
        "Correct the rows, or the column that [turn] order names.",
    ),
    Rule(
        "GF-25",
        "warn",
        "Some times of a file have an offset from UTC and some have none: all are stored as written.",
        "Nothing, if all are of one clock; else an answer may seem to be before its question.",
    ),
    Rule(
        "GF-26",
        "warn",
        "A word or number by which nobody can tell which answer is the best: none counts as that.",
        "Say in [winners] what the word means, or correct the record.",
    ),
)
"""Rules of the formats that ``corpus.toml`` may name, for every corpus that is declared so."""

COMMON_RULES = (*_OF_ALL, *FORMAT_RULES)
"""Rules that several corpora share."""
