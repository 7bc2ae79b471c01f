"""Every clause of the rules: a change of the sample, the place of the finding, and part of its words."""

from talkhouse.testing.clauses import Clause, replaced, write

LOCK, KETTLE = "lock.vtt", "kettle.srt"

CLAUSES = [
    Clause("SUBTITLES-01", replaced(LOCK, "WEBVTT", "WEBVT"), f"{LOCK}#", "the first line is not WEBVTT"),
    Clause("SUBTITLES-01", replaced(LOCK, "NOTE Said", "Said"), f"{LOCK}#/3", "found 'Said at the gate'"),
    Clause("SUBTITLES-01", replaced(LOCK, "gate\n\nSTYLE", "--> gate\n\nSTYLE"), f"{LOCK}#/3", "expected a cue"),
    Clause("SUBTITLES-01", replaced(LOCK, "full?\n\n", "full?\n"), f"{LOCK}#/8", "expected a cue"),
    Clause("SUBTITLES-01", replaced(KETTLE, "00:00:01,200", "00:00:01"), f"{KETTLE}#/1", "expected a cue"),
    Clause("TH-02", replaced(KETTLE, "Please", b"Pl\xe4ase"), f"{KETTLE}#", "not UTF-8"),
    Clause("TH-05", write("talk.sub", "{0}{25}Tea?"), "talk.sub#", "does not end in .vtt or .srt"),
]
