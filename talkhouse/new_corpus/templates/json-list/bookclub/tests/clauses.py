"""Every clause of the rules: a change of the sample, the place of the finding, and part of its words."""

from talkhouse.testing.clauses import Clause, changed, copied, drop, put, replaced, write

TALKS = "train.json"
LAST = f"{TALKS}#/1"
SAID = f"{TALKS}#/0/talk"

CLAUSES = [
    Clause("BOOKCLUB-01", put(f"{SAID}/1/tags", "pace"), f"{SAID}/1/tags", "Expected `array`"),
    Clause("BOOKCLUB-01", put(f"{SAID}/0/by", "Dan"), f"{SAID}/0/by", "none of the people"),
    Clause("BOOKCLUB-01", put(f"{SAID}/2/mentions/0/end", 17), f"{SAID}/2/mentions/0", "outside of the text"),
    Clause("BOOKCLUB-01", put(f"{SAID}/2/mentions/0/what", "end"), f"{SAID}/2/mentions/0/what", "Invalid enum value"),
    Clause("BOOKCLUB-01", drop(f"{LAST}/book"), LAST, "missing required field `book`"),
    Clause("BOOKCLUB-01", put(f"{LAST}/more", 1), LAST, "unknown field"),
    Clause("BOOKCLUB-01", changed(LAST, lambda talk: {"talk": talk.pop("talk"), **talk}), LAST, "order"),
    Clause("BOOKCLUB-02", copied(TALKS, f"again/{TALKS}"), f"{TALKS}#", "came before"),
    Clause("TH-01", replaced(TALKS, '"Ben": "critic"', '"Ben" "critic"'), f"{TALKS}#/0", "malformed JSON"),
    Clause("TH-02", replaced(TALKS, "slow", b"sl\xf6w"), f"{TALKS}#/0", "not UTF-8"),
    Clause("TH-03", replaced(TALKS, '"id": "t2"', '"id": "t2", "id": "t3"'), LAST, "stands twice"),
    Clause("TH-04", replaced(TALKS, '"start": 0', '"start": NaN'), f"{TALKS}#/0", "NaN"),
    Clause("TH-05", write("dev.json", "[]"), "dev.json#", "its name is not"),
]
