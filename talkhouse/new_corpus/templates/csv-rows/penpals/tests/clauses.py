"""Every clause of the rules: a change of the sample, the place of the finding, and part of its words."""

from talkhouse.testing.clauses import Clause, copied, replaced, write

LETTERS = "train.csv"

CLAUSES = [
    Clause("PENPALS-01", replaced(LETTERS, "exchange,by", "exchange,from"), f"{LETTERS}#/0", "columns"),
    Clause("PENPALS-01", replaced(LETTERS, "So be it.", '"So be it."'), f"{LETTERS}#/0", "quoted"),
    Clause("PENPALS-01", replaced(LETTERS, "e1,Cleo,So", "e2,Ben,No.,\ne1,Cleo,So"), f"{LETTERS}#", "don't follow"),
    Clause("PENPALS-02", replaced(LETTERS, "it.,cross", "it.,green"), f"{LETTERS}#/e1", "is none of"),
    Clause("PENPALS-03", copied(LETTERS, f"again/{LETTERS}"), f"{LETTERS}#", "came before"),
    Clause("TH-02", replaced(LETTERS, "short", b"sh\xf6rt"), f"{LETTERS}#", "not UTF-8"),
    Clause("TH-05", write("dev.csv", ""), "dev.csv#", "its name is not"),
]
