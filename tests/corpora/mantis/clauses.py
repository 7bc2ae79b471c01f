"""MANtIS: every clause of its rules."""

from collections.abc import Callable
from typing import Any

from talkhouse.testing.clauses import Change, Clause, changed, drop, line, put, removed, replaced, together, write

TRAIN, INTENTS, TABLE = "merged_train.json", "merged_train_intents.json", "intents.csv"
TSV, LOOKUP = "data_train_easy.tsv", "data_train_easy_lookup.txt"
TALK = f"{TRAIN}#/2"
"""Four utterances, user and agent by turns; it has one context, the fifth block of the rankings."""

SAID = f"{TALK}/utterances"
HEADER = "conversation_id,comment_pos,annotations,allocation\r\n"
ROWS = 11
"""Rows of a block."""

BLOCK = 3 * ROWS
"""The first row of the block of dialogue 2."""


def table(*rows: str) -> Change:
    return write(TABLE, HEADER + "".join(f"{row}\r\n" for row in rows))


def row(number: int, make: Callable[[list[str]], list[str]]) -> Change:
    """Change the cells of a row of the block; none of them is quoted but by chance."""
    return line(TSV, BLOCK + number, lambda text: "\t".join(make(text.split("\t"))))


def labelled(label: str) -> Callable[[list[str]], list[str]]:
    return lambda cells: [label, *cells[1:]]


def answered(text: str) -> Callable[[list[str]], list[str]]:
    return lambda cells: [*cells[:-1], text]


def spoken(**fields: Any) -> Change:
    return together(*(put(f"{SAID}/2/{name}", value) for name, value in fields.items()))


def with_context(text: str) -> Callable[[list[str]], list[str]]:
    return lambda cells: [*cells[:-2], text, cells[-1]]


def each(fields: Callable[[int], dict[str, Any]]) -> Change:
    """Change fields of each utterance by its place."""
    return changed(SAID, lambda some: [utterance | fields(at) for at, utterance in enumerate(some)])


def checked(rule: str, change: Change, file: str, words: str, *severity: Any) -> Clause:
    """Return the finding of a check about a file."""
    return Clause(rule, change, f"{file}#", words, *severity, is_check=True)


def misfit(change: Change, words: str, first: int = BLOCK) -> Clause:
    """Return the finding about a block whose rows do not match."""
    return Clause("MA-06", change, f"{TSV}#/{first}", words)


def odd(change: Change, words: str) -> Clause:
    """Return the finding about a block that is loaded nevertheless."""
    return Clause("MA-07", change, f"{TSV}#/{BLOCK}", words)


def rejected(text: str, words: str) -> Clause:
    """Return the finding about a row of the table of intents."""
    return Clause("MA-08", table(text), f"{TABLE}#/0", words)


INTENT = f"{INTENTS}#/0/utterances/2/intent"
ONLY_TABLE = together(
    *(removed(f"merged_{split}_intents.json") for split in ("train", "dev", "test")), table("2,2,PA,train")
)

CLAUSES = [
    Clause("MA-01", write(TRAIN, "[]"), f"{TRAIN}#", "not an object of dialogues"),
    Clause("MA-01", replaced(TRAIN, '"2": {', '"two": {'), f"{TRAIN}#/two", "the key 'two' is not a whole number"),
    Clause("MA-01", replaced(TRAIN, '"2": {', '"2.0": {'), f"{TRAIN}#/2.0", "the key '2.0' is not a whole number"),
    *(
        Clause("MA-01", removed(name), f"{other}#", f"{name} is not there: {words}", "warn")
        for name, other, words in (
            ("merged_dev.json", TRAIN, "dev has none"),
            ("merged_dev_intents.json", INTENTS, "dev has none"),
            ("data_dev_easy.tsv", TSV, "dev has none"),
            ("data_dev.tsv", "data_train.tsv", "dev has none"),
            ("data_dev.tsv", "data_dev_lookup.txt", "its keys belong to no row"),
            ("data_dev_easy_lookup.txt", "data_dev_easy.tsv", "nothing says which dialogue"),
            ("data_dev_lookup.txt", "data_dev.tsv", "nothing says which dialogue"),
        )
    ),
    Clause("MA-02", drop(f"{TALK}/category"), TALK, "`category`"),
    Clause("MA-02", drop(f"{TALK}/utterances"), TALK, "`utterances`"),
    *(
        Clause("MA-02", drop(f"{SAID}/2/{name}"), f"{SAID}/2", f"`{name}`")
        for name in ("actor_type", "utterance", "utterance_pos")
    ),
    Clause("MA-02", spoken(utterance=7), f"{SAID}/2/utterance", "Expected `str`, got `int`"),
    Clause("MA-02", spoken(user_id=[7]), f"{SAID}/2/user_id", "user_id is a list or an object"),
    Clause("MA-02", put(SAID, []), SAID, "no utterances"),
    Clause("MA-02", each(lambda _: {"actor_type": "agent"}), SAID, "no utterance of the user"),
    Clause("MA-03", spoken(utterance_pos=7), f"{SAID}/2/utterance_pos", "the utterance_pos 7"),
    Clause("MA-03", spoken(utterance_pos="3"), f"{SAID}/2/utterance_pos", 'the utterance_pos "3"'),
    Clause("MA-03", each(lambda at: {"utterance_pos": at}), f"{SAID}/0/utterance_pos", "utterance_pos 0 (4 times)"),
    Clause("MA-03", put(f"{SAID}/0/actor_type", "agent"), f"{SAID}/0/actor_type", "the first utterance is of 'agent'"),
    Clause("MA-03", spoken(actor_type="agent"), f"{SAID}/2/actor_type", "'agent' speaks twice in a row"),
    Clause("MA-03", spoken(actor_type="bot"), f"{SAID}/2/actor_type", "the actor_type 'bot'"),
    Clause("MA-04", put(f"{TALK}/category", "cooking"), f"{TALK}/category", "'cooking' is none of the 14 sites"),
    Clause("MA-04", spoken(user_id=1.0), SAID, "3 user ids"),
    Clause("MA-04", put(f"{SAID}/3/actor_type", "user"), SAID, "only 1 of the utterances are the agent's"),
    checked(
        "MA-04", put(f"{TALK}/dialog_time", "2014-01-01T00:00:00.000"), TRAIN, "2011-09-30 17:45:12.88, before dial"
    ),
    checked("MA-04", each(lambda _: {"utterance": "No address."}), TRAIN, "1 dialogues of train have no link in what"),
    *(
        Clause("MA-05", spoken(**{name: value}), f"{SAID}/2/{name}", f"the {name} {words}")
        for name, value, words in (
            ("id", "eleven", '"eleven"'),
            ("id", 12, "12"),
            ("id", "11-", '"11-"'),
            ("votes", "many", '"many"'),
            ("votes", None, "null"),
            ("is_answer", "no", '"no"'),
            ("is_answer", 1, "1"),
            ("utterance_time", "yesterday", '"yesterday"'),
        )
    ),
    Clause("MA-05", drop(f"{SAID}/2/votes"), f"{SAID}/2/votes", "the votes is missing"),
    Clause("MA-05", put(f"{TALK}/dialog_time", "now"), f"{TALK}/dialog_time", 'the dialog_time "now"'),
    Clause("MA-05", spoken(utterance="<Placeholder Response>"), f"{SAID}/2/utterance", "only a placeholder"),
    misfit(row(4, labelled("2")), "the label '2', expected 0, in row 38"),
    misfit(row(0, labelled("yes")), "22 rows of one context, expected 11", BLOCK - ROWS),
    misfit(row(4, lambda cells: cells[:2]), "fewer than 3 columns, in row 38"),
    misfit(row(0, lambda cells: cells[:2]), "fewer than 3 columns"),
    misfit(row(0, labelled("0")), "22 rows of one context, expected 11", BLOCK - ROWS),
    misfit(row(4, labelled("1")), "4 rows of one context, expected 11"),
    misfit(line(TSV, BLOCK + 4, lambda _: None), "10 rows of one context, expected 11"),
    misfit(line(TSV, BLOCK + 4, lambda text: f"{text}\n{text}"), "12 rows of one context, expected 11"),
    misfit(row(4, with_context("other")), "another context than in the first row of the block, in row 38"),
    misfit(line(LOOKUP, BLOCK, lambda _: "9"), "rows of one context with different keys"),
    misfit(together(*(line(LOOKUP, BLOCK + at, lambda _: "9") for at in range(ROWS))), "no dialogue '9'"),
    Clause("MA-06", line(LOOKUP, 87, lambda _: None), f"{TSV}#/77", "the lookup file ends after 87 lines"),
    Clause("MA-06", line(LOOKUP, 87, lambda text: f"{text}\n5"), f"{LOOKUP}#/88", "the keys of rows that are"),
    odd(row(0, answered("Another answer.")), "the right response is not the utterance 4 of dialogue 2"),
    odd(together(*(row(at, with_context("other")) for at in range(ROWS))), "no context of dialogue 2 has these words"),
    odd(row(4, answered("4711")), "1 wrong responses are bare numbers, such as 4711"),
    odd(together(row(4, answered("again")), row(5, answered("again"))), "1 wrong responses are repeated"),
    odd(together(*(row(at, answered("the same")) for at in (0, 4))), "wrong response 4 is the right one"),
    Clause("MA-08", drop(INTENT), INTENT, "no intents in a labelled dialogue"),
    Clause("MA-08", put(INTENT, None), INTENT, "no intents in a labelled dialogue"),
    Clause("MA-08", put(f"{INTENTS}#/0/utterances/0/intent", ["FQ"]), f"{INTENTS}#/0", "not ['OQ']", "warn"),
    Clause("MA-08", put(INTENT, ["PF "]), f"{INTENTS}#/0", "spaces around 'PF '", "warn"),
    rejected("99,2,PA,train", "train has no dialogue '99'"),
    rejected("2,5,PA,train", "comment_pos 5 of a dialogue of 4 utterances"),
    rejected("2,0,PA,train", "comment_pos 0 of a dialogue of 4 utterances"),
    rejected("2,two,PA,train", "the comment_pos 'two' is not a whole number"),
    rejected("2,2,PA,validation", "the allocation 'validation' is none of train, dev, test"),
    rejected("2,2", "2 cells instead of 4"),
    Clause("MA-08", table("2,2,PA,train", "2,2,PF,train"), f"{TABLE}#/1", "an earlier row labels this", "warn"),
    Clause("MA-08", table("2,1,PA,train"), f"{TABLE}#/0", "the first utterance has the intents ['PA']", "warn"),
    Clause("MA-08", table('2,2,"PA, PF",train'), f"{TABLE}#/0", "spaces around ' PF'", "warn"),
    checked("MA-08", ONLY_TABLE, TABLE, "no intents for 2 utterances of mantis:train:2, the first is 3", "warn"),
    Clause("MA-09", put(f"{INTENTS}#/2/utterances/2/utterance", "Other."), f"{INTENTS}#/2", "kept as mantis:train:2~"),
    *(
        Clause("MA-10", put(f"{INTENTS}#/2/{name}", value), f"{INTENTS}#/2/{place}", "an earlier file states otherwise")
        for name, place, value in (
            ("title", "title", "another"),
            ("category", "category", "apple"),
            ("dialog_time", "dialog_time", "2011-04-01T06:00:59.124"),
            ("utterances/2/votes", "utterances", "77"),
        )
    ),
    Clause("TH-01", replaced(TRAIN, '"2": {', '"2": {,'), TALK, "malformed JSON"),
    Clause("TH-01", replaced(TRAIN, '"2": {', '"2" {'), f"{TRAIN}#", "malformed JSON"),
    Clause("TH-02", replaced(TRAIN, b'"2": {', b'"2": {"caf\xe9": 1,'), TALK, "not UTF-8"),
    Clause("TH-02", spoken(utterance="\ud800"), f"{SAID}/2/utterance", "half of a surrogate pair"),
    Clause("TH-02", write(TABLE, HEADER.encode() + b"2,2,caf\xe9,train\r\n"), f"{TABLE}#", "not UTF-8"),
    Clause("TH-02", replaced(TSV, b"1\t", b"1\tcaf\xe9"), f"{TSV}#/0", "not UTF-8"),
    Clause("TH-03", replaced(TRAIN, '"2": {', '"2": {"title": "", '), f"{TALK}/title", "stands twice", "warn"),
    Clause("TH-04", spoken(votes=float("inf")), TALK, "Infinity is not a JSON number"),
    Clause("TH-04", spoken(votes=[float("nan")]), TALK, "NaN is not a JSON number, in the list 'votes'"),
    Clause("TH-05", write("labels.txt", "u1\n"), "labels.txt#", "transcripts for annotators, without labels"),
    Clause("TH-05", write("other.csv", "a,b\r\n1,2\r\n"), "other.csv#", "a .csv without the header conversation_id"),
]
