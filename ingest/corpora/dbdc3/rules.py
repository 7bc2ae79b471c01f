"""What can be wrong with a file of DBDC3, how severe it is, and what to do."""

from talkhouse.ingest.common_rules import Rule

RULES = (
    Rule(
        "DB-01",
        "reject_file",
        "Not a dialogue log: dialogue-id or turns missing, a turn without speaker or utterance, a system turn "
        "without its list of annotations, a label without breakdown.",
        "Take the publisher's own file. Where somebody replaced the lists of annotations by one majority label, "
        "the votes are gone.",
    ),
    Rule(
        "DB-02",
        "reject_example",
        "An annotated system turn whose labels are all outside O, T and X (the challenge's script divides by "
        "zero); a single label that is unknown or null is ignored in the distribution.",
        "Look at the labels with: select * from main.annotations where record_id = ...",
    ),
    Rule(
        "DB-03",
        "warn",
        "The file's name is not the dialogue-id, an id occurs twice within a publisher's release, or "
        "turn-index is not 0, 1, 2 ...",
        "Nothing, if it is meant; if a folder is there both packed and unpacked, remove one of the two.",
    ),
    Rule(
        "DB-04",
        "warn",
        "A speaker other than U and S (the challenge's script takes it for the system), or annotations on a user "
        "turn (that script ignores them).",
        "Nothing; the label is in main.annotations and makes no example.",
    ),
    Rule(
        "DB-05",
        "warn",
        "A system turn with other than 30 annotations (in the chat dialogue corpus 24 in init100, 2 or 3 in rest1046), "
        "an annotator twice on one turn, or an empty annotator-id.",
        "Nothing; do not count annotators by their id in these records.",
    ),
    Rule(
        "DB-06",
        "warn",
        "An empty utterance, a system turn other than the first without annotations, a CIC dialogue without its "
        "background paragraph, or a paragraph without its dialogue.",
        "For paragraphs, add DBDC3_context.zip or the logs that belong to it.",
    ),
    Rule(
        "DB-08",
        "warn",
        "Other words under a dialogue-id that is already in use: both are kept, the later under a key with "
        "'~' and a hash.",
        "Compare them: select * from main.turns where starts_with(dialogue_id, 'dbdc3:<id>')",
    ),
    Rule(
        "DB-09",
        "warn",
        "The place of a log does not say its release, language, split, subset or bot, so that column is null; "
        "once for "
        "each folder.",
        "Move the logs to <release>/<language>/<dev or eval>/<subset>, for instance dbdc1/ja/dev/DCM.",
    ),
    Rule(
        "DB-10",
        "warn",
        "Numbers where the format has texts: the challenge's script takes them, so they are read as they are spelled.",
        "Nothing.",
    ),
    Rule(
        "DB-11",
        "warn",
        "A row of a table of speakers or annotators has an id that an earlier row has, which counts, or more or fewer "
        "cells than the header.",
        "Nothing, if that is meant; the table is in records.extra ->> 'verbatim'.",
    ),
)
