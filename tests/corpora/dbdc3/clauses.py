"""DBDC3: every clause of its rules."""

from typing import Any

from talkhouse.testing.clauses import Clause, changed, copied, drop, put, removed, replaced, together, write

FOLDER = "DBDC3/dbdc3/en/dev"
LOG = f"{FOLDER}/YI_100/YI9001.log.json"
"""Seven turns, S and U by turns; the first has no annotations."""

CIC = f"{FOLDER}/CIC_115/CIC9001.log.json"
CONTEXTS = ("DBDC3_context/dbdc3/en/dev/CIC_115/CIC9001.log.context", "CIC_json_data/CIC9001.log.context")
BESIDE = (*CONTEXTS, "CIC_json_data/CIC9001.log.json", f"DBDC3/dbdc3_revised{CIC[11:]}")
MINE, AGAIN = "mine/YI9001.log.json", f"{FOLDER}/YI_100/more/YI9001.log.json"
LONE = "DBDC3_context/dbdc3/en/dev/CIC_115/CIC9009.log.context"
TURN = f"{LOG}#/turns/2"
VOTES = f"{TURN}/annotations"


def labels(*some: str) -> Any:
    return put(VOTES, [{"breakdown": label, "annotator-id": f"a{number}"} for number, label in enumerate(some)])


CLAUSES = [
    Clause("DB-01", drop(f"{LOG}#/dialogue-id"), f"{LOG}#", "`dialogue-id`"),
    Clause("DB-01", drop(f"{LOG}#/turns"), f"{LOG}#", "`turns`"),
    Clause("DB-01", drop(f"{LOG}#/turns/1/speaker"), f"{LOG}#/turns/1", "`speaker`"),
    Clause("DB-01", drop(f"{LOG}#/turns/1/utterance"), f"{LOG}#/turns/1", "`utterance`"),
    Clause("DB-01", drop(VOTES), VOTES, "the list of annotations is missing"),
    Clause("DB-01", drop(f"{LOG}#/turns/0/annotations"), f"{LOG}#/turns/0/annotations", "the list of annotations is"),
    Clause("DB-01", put(VOTES, None), VOTES, "the list of annotations is null"),
    Clause("DB-01", put(VOTES, "X"), VOTES, "Expected `array | null`, got `str`"),
    Clause("DB-01", drop(f"{VOTES}/3/breakdown"), f"{VOTES}/3", "`breakdown`"),
    Clause("DB-01", write(LOG, "[]"), f"{LOG}#", "Expected `object`, got `array`"),
    Clause("DB-02", labels("N", "?"), VOTES, "no label is O, T or X but ['?', 'N']"),
    Clause("DB-02", labels("N", "?", "O"), VOTES, "labels outside O, T and X are not counted: ['?', 'N']", "warn"),
    Clause("DB-02", put(f"{VOTES}/3/breakdown", None), VOTES, "are not counted: [None]", "warn"),
    Clause("DB-03", put(f"{LOG}#/dialogue-id", "YI9009"), f"{LOG}#/dialogue-id", "the file is named YI9001"),
    Clause("DB-03", copied(LOG, AGAIN), f"{AGAIN}#", "the id YI9001 occurs twice within the publisher's release dbdc3"),
    Clause("DB-03", put(f"{TURN}/turn-index", 3), TURN, "turn-index is not the position: 1 of 7 turns (2)"),
    Clause("DB-03", put(f"{TURN}/turn-index", "2"), TURN, "turn-index is not the position: 1 of 7 turns (2)"),
    Clause("DB-03", drop(f"{TURN}/turn-index"), TURN, "turn-index is not the position: 1 of 7 turns (2)"),
    Clause("DB-04", put(f"{TURN}/speaker", "B"), TURN, "speaker neither U nor S: 1 of 7 turns (2)"),
    Clause("DB-04", put(f"{LOG}#/turns/1/annotations", [{"breakdown": "O"}]), f"{LOG}#/turns/1", "on a user turn"),
    Clause("DB-05", drop(f"{VOTES}/0"), TURN, "other than 30 annotations: 1 of 7 turns (2)"),
    Clause("DB-05", put(f"{VOTES}/-", {"breakdown": "O", "annotator-id": "x"}), TURN, "other than 30 annotations"),
    Clause("DB-05", changed(VOTES, lambda some: [*some[1:], some[-1]]), TURN, "an annotator twice: 1 of 7 turns (2)"),
    Clause("DB-05", put(f"{VOTES}/3/annotator-id", ""), TURN, "annotations without annotator-id: 1 of 7 turns (2)"),
    Clause("DB-05", drop(f"{VOTES}/3/annotator-id"), TURN, "annotations without annotator-id: 1 of 7 turns (2)"),
    Clause("DB-06", put(f"{TURN}/utterance", ""), TURN, "empty utterance: 1 of 7 turns (2)"),
    Clause("DB-06", put(f"{LOG}#/turns/1/utterance", ""), f"{LOG}#/turns/1", "empty utterance: 1 of 7 turns (1)"),
    Clause("DB-06", put(VOTES, []), TURN, "a system turn without annotations: 1 of 7 turns (2)"),
    Clause("DB-06", together(*map(removed, BESIDE)), f"{CIC}#", "no background paragraph (CIC9001.log.context) for"),
    Clause("DB-06", write(LONE, "A river.\n"), f"{LONE}#", "a background paragraph without the dialogue CIC9009"),
    Clause("DB-08", put(f"{TURN}/utterance", "Other."), f"DBDC3/dbdc3_revised{LOG[11:]}#", "kept as dbdc3:YI9001~"),
    Clause("DB-09", copied(LOG, MINE), f"{MINE}#", "in 'mine' does not say the release, split"),
    Clause("DB-10", put(f"{VOTES}/3/breakdown", 1), f"{VOTES}/3/breakdown", "in place of texts: 1 (breakdown)"),
    Clause("DB-10", put(f"{LOG}#/speaker-id", 1.5), f"{LOG}#/speaker-id", "in place of texts: 1 (speaker-id)"),
    Clause("DB-11", write("annotator-attribute.tsv", "id\tsex\n1_A\n"), "annotator-attribute.tsv#", "header: 1_A"),
    Clause("DB-11", write("speaker-attribute.tsv", "id\n1_1\n1_1\n"), "speaker-attribute.tsv#", "came before"),
    Clause("TH-01", replaced(LOG, '"turns":', '"turns" 1:'), f"{LOG}#", "malformed JSON"),
    Clause("TH-02", replaced(LOG, b'"speaker"', b'"caf\xe9": "", "speaker"'), f"{LOG}#", "not UTF-8"),
    Clause("TH-02", put(f"{TURN}/utterance", "\ud800"), f"{TURN}/utterance", "half of a surrogate pair"),
    Clause("TH-02", write(CONTEXTS[0], b"caf\xe9\n"), f"{CONTEXTS[0]}#", "not UTF-8"),
    Clause("TH-03", replaced(LOG, '"turns":', '"x": 1, "x": 2, "turns":'), f"{LOG}#/x", "stands twice", "warn"),
    Clause("TH-04", put(f"{TURN}/turn-index", float("nan")), f"{LOG}#", "NaN is not a JSON number"),
    Clause("TH-05", write("DBDC3/YI9001.labels.json", "{}"), "DBDC3/YI9001.labels.json#", "neither *.log.json nor"),
]
