"""DeliData: every clause of its rules."""

from collections.abc import Callable

from talkhouse.ingest.corpora.delidata.format import GroupRow
from talkhouse.testing.clauses import Change, Clause, copied, line, replaced, write

GROUP = "delidata_corpus/10000001-aaaa-4bbb-8ccc-000000000001"
OTHER = "delidata_corpus/20000002-aaaa-4bbb-8ccc-000000000002"
"""The second has a user without a name, and one without a known solution."""

SAME_ID = replaced(OTHER, "20000002-m001-4000-8000-000000000001", "10000001-m001-4000-8000-000000000001")
ELSEWHERE, STRAY = "delidata_corpus/other", "delidata_corpus/stray.txt"
LAST = 9
"""The number of the last row of the first group, a MESSAGE."""


def cells(row: int, **texts: str) -> Change:
    return line(GROUP, row + 1, lambda text: "\t".join(GroupRow(*text.split("\t"))._replace(**texts)))


def doubled(row: int, **texts: str) -> Change:
    """Put a row of the first group there again, with other cells, as the last one."""

    def run(text: str) -> str:
        lines = text.split("\n")
        return "\n".join([*lines[:-1], "\t".join(GroupRow(*lines[row + 1].split("\t"))._replace(**texts)), ""])

    return whole(run)


def whole(make: Callable[[str], str]) -> Change:
    return lambda folder: write(GROUP, make((folder / GROUP).read_bytes().decode()))(folder)


def of_cell(rule: str, row: int, column: str, text: str, words: str) -> Clause:
    """Return the finding about one changed cell, at its place."""
    return Clause(rule, cells(row, **{column: text}), f"{GROUP}#/{row}/{column}", words)


def checked(rule: str, words: str, row: int, **texts: str) -> Clause:
    """Return the finding of a check about changed cells."""
    return Clause(rule, cells(row, **texts), f"{GROUP}#", words, is_check=True)


TRACKERS = ("{", "[]", "7", '{"Otter": "E"}', '{"Otter": [3]}', '{"Otter": ["E"], "Otter": ["E"]}', '{"Otter": [NaN]}')

CLAUSES = [
    Clause("DE-01", write(GROUP, ""), f"{GROUP}#", "the file is empty"),
    Clause("DE-01", line(GROUP, 0, lambda text: text.replace("origin", "user")), f"{GROUP}#", "the header is"),
    Clause("DE-10", line(GROUP, 3, lambda text: text.rpartition("\t")[0]), f"{GROUP}#/2", "12 cells in a row under 13"),
    Clause("DE-10", line(GROUP, 3, lambda text: text + "\t"), f"{GROUP}#/2", "14 cells in a row under 13"),
    Clause("DE-10", line(GROUP, 0, lambda text: text + "\tmore"), f"{GROUP}#/0", "columns in another order"),
    Clause("DE-10", whole(lambda text: text.replace("\n", "\r\n", 3)), f"{GROUP}#/0", "lines that end in several ways"),
    Clause("DE-10", whole(lambda text: text.replace("\n", "\n\n", 3)), f"{GROUP}#/0", "a blank line"),
    Clause("DE-10", cells(4, original_text='"a\nb"'), f"{GROUP}#/4", "a line end in a quoted cell"),
    Clause("DE-01", copied(GROUP, ELSEWHERE), f"{ELSEWHERE}#/0/group_id", "the file is named other"),
    Clause("DE-01", cells(4, group_id="other"), f"{GROUP}#/4/group_id", "its group_id is other"),
    *(
        Clause("DE-02", change, f"{GROUP}#/0", "row 0 is not INITIAL by SYSTEM with the message_id -1")
        for change in (
            line(GROUP, 1, lambda _: None),
            *(cells(0, message_type="MESSAGE"), cells(0, origin="Otter"), cells(0, message_id="0")),
        )
    ),
    Clause("DE-02", doubled(0), f"{GROUP}#/{LAST + 1}", "a second INITIAL row"),
    *(
        of_cell("DE-02", 0, "original_text", text, "not 'names&&cards' with 4 cards")
        for text in ("Otter,SYSTEM&E,T,8,3", "Otter&&SYSTEM&&E,T,8,3", "Otter,SYSTEM&&E,T,8", "Otter&&E,T,8,3,5")
    ),
    of_cell("DE-03", 4, "message_id", "10000001-m002-4000-8000-000000000002", "came before, at delidata/"),
    Clause("DE-03", SAME_ID, f"{OTHER}#/1/message_id", f"came before, at delidata/{GROUP}/1"),
    Clause("DE-03", copied(GROUP, f"more/{GROUP[16:]}"), f"more/{GROUP[16:]}#", "the group came before"),
    of_cell("DE-03", 4, "message_type", "WHISPER", "unknown message_type 'WHISPER'"),
    *(of_cell("DE-04", 4, "sol_tracker_all", text, "no JSON object of lists of cards") for text in TRACKERS),
    *(
        of_cell("DE-04", 4, "team_performance", text, "no number from 0 to 1")
        for text in ("", "high", "nan", "1.5", "-0.1")
    ),
    *(of_cell("DE-04", 4, "performance_change", text, "no number from -1 to 1") for text in ("", "up", "1.1", "-1.1")),
    checked("DE-05", "team_performance is 0.998, the solutions score 1.0", LAST, team_performance="0.998"),
    checked("DE-05", "performance_change is 0.002, the step is 0.0", LAST, performance_change="0.002"),
    checked("DE-06", "the INITIAL row does not name Yak", LAST, origin="Yak"),
    checked("DE-06", "the tracker lacks Otter", LAST, sol_tracker_all='{"Guinea pig": ["E", "3"]}'),
    checked("DE-06", "the card on is none of the group's four, in 1 rows", 7, original_text="E,on"),
    checked("DE-06", "the card Z is none of the group's four, in 1 rows", 3, sol_tracker_message="E,Z"),
    checked("DE-06", "the card Y is none", LAST, sol_tracker_all='{"Guinea pig": ["Y"], "Otter": ["3", "E"]}'),
    checked("DE-07", "the cards are E, the tracker has for Guinea pig: 3,E", 7, original_text="E"),
    checked("DE-07", "the cards are 3, the tracker has for Otter: 3,E", 3, sol_tracker_message="3"),
    checked("DE-07", "a SUBMIT with clean_text <CARD>", 7, clean_text="<CARD>"),
    *(
        checked("DE-07", f"a SUBMIT with delidata.{name}", 7, **{f"annotation_{name}": text})
        for name, text in (("type", "Probing"), ("target", "Solution"), ("additional", "complete_solution"))
    ),
    of_cell("DE-08", 4, "annotation_type", "Non-probing deliberation", "unknown type 'Non-probing deliberation'"),
    of_cell("DE-08", 4, "annotation_type", "", "unknown type ''"),
    of_cell("DE-08", 4, "annotation_target", "Agree", "the target 'Agree' does not go with the type 'Probing'"),
    of_cell("DE-08", 4, "annotation_target", "Other", "the target 'Other' does not go with the type 'Probing'"),
    of_cell("DE-08", 5, "annotation_target", "Moderation", "does not go with the type 'Non-probing-deliberation'"),
    of_cell("DE-08", 1, "annotation_target", "Solution", "the target 'Solution' does not go with the type 'None'"),
    of_cell("DE-08", LAST, "annotation_target", "Solution", "the target 'Solution' does not go with the type '0'"),
    of_cell("DE-08", 4, "annotation_additional", "specific_referee", "unknown items ['specific_referee']"),
    of_cell("DE-09", 4, "original_text", "'it is 3", "a quote at one end only"),
    of_cell("DE-09", 4, "clean_text", "it is 3'", "a quote at one end only"),
    of_cell("DE-09", 4, "original_text", "'", "a quote at one end only"),
    of_cell("DE-09", 4, "original_text", "'it's 3'", "a single quote inside a quoted cell"),
    of_cell("DE-09", 4, "original_text", '"3" it is', "begins with a quote that the reference readers take"),
    of_cell("DE-09", 4, "original_text", "", "a MESSAGE without text"),
    Clause("TH-02", replaced(GROUP, b"Why 3?", b"caf\xe9"), f"{GROUP}#", "not UTF-8"),
    Clause("TH-05", write(STRAY, "stray\n"), f"{STRAY}#", "its first line is not"),
]
