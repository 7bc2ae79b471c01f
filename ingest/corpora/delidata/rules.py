"""What can be wrong with a group's file of DeliData, how severe it is, and what to do."""

from talkhouse.ingest.common_rules import Rule

RULES = (
    Rule(
        "DE-01",
        "reject_file",
        "Not a group's file: it is empty, its header lacks one of the 13 names, or the file's name is not the group_id "
        "of every row.",
        "Take the publisher's own file; an editor or a spreadsheet changes tabs, quotes and line ends.",
    ),
    Rule(
        "DE-02",
        "reject_dialogue",
        "Row 0 is not INITIAL by SYSTEM with the message_id -1, there is a second INITIAL, or its text is not "
        "names, '&&' and four cards.",
        "Compare the file with the publisher's: its beginning is missing, or two files were joined.",
    ),
    Rule(
        "DE-03",
        "reject_example",
        "A message_id that came before in the corpus (other than -1), or an unknown message_type: the turn is "
        "loaded and makes no example.",
        "If a folder is there both packed and unpacked, remove one of the two.",
    ),
    Rule(
        "DE-04",
        "reject_example",
        "A tracker that is not a JSON object of lists of texts, or a performance that is not a number or out of range: "
        "the turn is loaded and makes no example; a group whose first or last performance is unknown has no outcome.",
        "Compare the row with the publisher's; the published cell is in main.records: extra -> 'differs'.",
    ),
    Rule(
        "DE-05",
        "warn",
        "The team's performance is not the mean of what the tracker's solutions score, or its change is not the "
        "step from the row before, by more than 0.001.",
        "Nothing; the views have the published numbers.",
    ),
    Rule(
        "DE-06",
        "warn",
        "An origin that the INITIAL row does not name, a tracker that lacks somebody whom it names, or a card that "
        "is none of the group's four (the '/' of the letters N, /, A too).",
        "Nothing; leave these cards out when you compare solutions.",
    ),
    Rule(
        "DE-07",
        "warn",
        "The cards of a SUBMIT, or of a message that proposes a solution, are not those that the tracker then has for "
        "its origin; or a SUBMIT has a clean text or annotations.",
        "Nothing; the cards of both are in main.annotations (delidata.solution, delidata.tracker).",
    ),
    Rule(
        "DE-08",
        "warn",
        "An annotation of a MESSAGE that the documentation does not know, or a target that does not go with its type.",
        "Nothing; the views have the published label.",
    ),
    Rule(
        "DE-09",
        "warn",
        "A cell with a quote ' at one end only or an undoubled one inside its quotes, a cell that begins with the "
        'quote " of the reference readers, or a MESSAGE without text.',
        "Nothing; the published cell is in main.turns: extra -> 'cells'. Reference readers may read beyond the end "
        'of a cell that begins with ".',
    ),
    Rule(
        "DE-10",
        "warn",
        "A file that only a lenient reader takes, as the authors' does (Python's csv.DictReader): columns in another "
        'order or further ones, blank lines, rows with fewer or more cells, line ends in quotes " or of several kinds.',
        "Nothing; the file is read as there, what is missing as empty, and kept whole in main.records: extra -> "
        "'published'. Take the publisher's own file if it is at hand.",
    ),
)
