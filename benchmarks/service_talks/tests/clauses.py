"""Every clause of the rules: a change of the sample, the place of the finding, and part of its words."""

from talkhouse.testing.clauses import Clause, changed, copied, put, replaced, write

TALKS = "train/dialogues_001.json"
TURN = f"{TALKS}#/0/turns/0"

CLAUSES = [
    Clause("SERVICETALKS-01", put(f"{TURN}/speaker", "DOG"), f"{TURN}/speaker", "no speaker"),
    Clause("SERVICETALKS-01", put(f"{TURN}/frames/0/slots", 1), f"{TURN}/frames/0/slots", "Expected `array`"),
    Clause("SERVICETALKS-01", put(f"{TURN}/more", 1), TURN, "unknown field"),
    Clause(
        "SERVICETALKS-01",
        changed(TURN, lambda turn: {"frames": turn.pop("frames"), **turn}),
        f"{TALKS}#/0",
        "another order",
    ),
    Clause("SERVICETALKS-01", put("dev/schema.json#/0/slots/0/name", 1), "dev/schema.json#/0/slots/0/name", "Expected"),
    Clause("SERVICETALKS-02", copied(TALKS, f"again/{TALKS}"), f"{TALKS}#", "came before"),
    Clause("TH-01", replaced(TALKS, '"act": "INFORM"', '"act" "INFORM"'), f"{TALKS}#/0", "malformed JSON"),
    Clause("TH-02", replaced(TALKS, "please", b"pl\xe9ase"), f"{TALKS}#/0", "not UTF-8"),
    Clause("TH-03", replaced(TALKS, '"act": "INFORM"', '"act": "INFORM", "act": "OFFER"'), f"{TALKS}#/0", "twice"),
    Clause("TH-04", replaced(TALKS, '"price": 1.5', '"price": NaN'), f"{TALKS}#/0", "NaN"),
    Clause("TH-05", write("dev/more.json", "[]"), "dev/more.json#", "it is neither"),
]
