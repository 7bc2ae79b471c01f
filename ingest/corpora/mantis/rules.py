"""What can be wrong with a file of MANtIS, how severe it is, and what to do."""

from talkhouse.ingest.common_rules import Rule

RULES = (
    Rule(
        "MA-01",
        "reject_file",
        "The top level is not an object of dialogues, or one of its keys is not a whole number; as a warning: a file "
        "that belongs to this one is missing.",
        "Take the publisher's own file; put the files of a split into one folder.",
    ),
    Rule(
        "MA-02",
        "reject_dialogue",
        "A dialogue without category or utterances, or an utterance without actor_type, utterance or utterance_pos, or "
        "one of another type; or no utterance of the user, which the authors' code can't do without.",
        "Compare the dialogue with the publisher's file.",
    ),
    Rule(
        "MA-03",
        "warn",
        "utterance_pos is not 1, 2, 3 ...; the first utterance is not the user's; the same role speaks twice in a row; "
        "or an actor_type is neither user nor agent.",
        "Nothing; the response-ranking contexts follow the published numbers, as the authors' code does.",
    ),
    Rule(
        "MA-04",
        "warn",
        "A category that is none of the 14 sites, a dialogue that is earlier than the one before it in its category, "
        "more than two user ids, fewer than two utterances of the agent, or no link in any of them.",
        "Nothing; the publisher's filters should have left these dialogues out.",
    ),
    Rule(
        "MA-05",
        "warn",
        "An id, votes, is_answer or a time that is not written as the others are, an is_answer above 0, or an "
        "utterance that is only a placeholder for an empty one.",
        "Nothing; every value is kept as it was published.",
    ),
    Rule(
        "MA-06",
        "reject_example",
        "A block of a response-ranking file whose rows do not fit together: a label that is neither 0 nor 1, fewer "
        "than three columns, other than one leading row with label 1, another number of negatives, another context; "
        "or a lookup that is shorter or longer than its file, or names an unknown dialogue.",
        "Compare the block, which is in the quarantine, with the publisher's file.",
    ),
    Rule(
        "MA-07",
        "warn",
        "A block whose context or response is not the one that its dialogue gives, or a negative that repeats another, "
        "equals the true response, or is a bare number.",
        "A model that picks a negative equal to the answer is counted as wrong.",
    ),
    Rule(
        "MA-08",
        "reject_example",
        "A labelled dialogue with an utterance that has no intents; a row of the table of intents that names an "
        "unknown dialogue or utterance. As a warning: a row that occurs twice, a first utterance with other "
        "intents than OQ, or spaces around a label.",
        "Nothing: the authors' code stops here; the utterance is in main.turns, the row in the quarantine.",
    ),
    Rule(
        "MA-09",
        "warn",
        "Other words under a key that is taken: the plain and the intent file disagree. Both are kept, the later under "
        "a key with '~' and a hash.",
        "Compare them: select * from main.dialogues where native_id = ...",
    ),
    Rule(
        "MA-10",
        "warn",
        "The second file that has a dialogue states its title, category, time or another fact otherwise.",
        "Nothing; the first file's facts are in the tables, the other's in extra -> 'differs' of its record.",
    ),
)
