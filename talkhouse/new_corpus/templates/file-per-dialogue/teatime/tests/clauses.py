"""Every clause of the rules: a change of the sample, the place of the finding, and part of its words."""

from talkhouse.testing.clauses import Clause, replaced, write

RAIN = "test/rain.txt"

CLAUSES = [
    Clause("TEATIME-01", replaced(RAIN, "# Rain", "Rain"), f"{RAIN}#", "no '# topic'"),
    Clause("TEATIME-01", replaced(RAIN, "[+]\n", "[+]"), f"{RAIN}#", "no newline"),
    Clause("TEATIME-01", replaced(RAIN, "Ben: It", "It"), f"{RAIN}#/1", "expected 'Name: text'"),
    Clause("TH-02", replaced(RAIN, "tea", b"t\xe9"), f"{RAIN}#", "not UTF-8"),
    Clause("TH-05", write("dev/rain.txt", "# Rain\n"), "dev/rain.txt#", "it is not <split>"),
]
