"""What can be wrong with a file of MPChat, how severe it is, and what to do."""

from talkhouse.ingest.common_rules import Rule

RULES = (
    Rule(
        "MP-01",
        "reject_file",
        "The top level is not an object with the lists train, val and test (the README shows a bare list, which the "
        "authors' code could not read); or a file of image addresses is not an object of texts.",
        "Take the publisher's own file.",
    ),
    Rule(
        "MP-02",
        "reject_dialogue",
        "A dialogue without main_author, authors, messages or has_image, a field of another type, or lists of "
        "different lengths where each has an item per message.",
        "Compare the dialogue with the publisher's file.",
    ),
    Rule(
        "MP-03",
        "reject_example",
        "val and test: a turn of the main author without candidates, or a first candidate that is not the answer: "
        "another response, another persona id, or other joined titles.",
        "Nothing: the authors' code stops here; the dialogue and its lists are in the tables.",
    ),
    Rule(
        "MP-04",
        "reject_example",
        "val and test: other than 100 candidate responses, or fewer than 100 candidate personas or authors. More of "
        "these are a warning, since the authors' code takes the first 100.",
        "Nothing: the authors' code stops here; the list is in main.candidates.",
    ),
    Rule(
        "MP-05",
        "reject_example",
        "A persona list that is missing, empty, or longer than 5 elements (4 for grounding persona prediction).",
        "Nothing: the authors' code stops here; the list is in main.persona_uses or main.candidates.",
    ),
    Rule(
        "MP-06",
        "reject_dialogue",
        "has_image without a file_name, or a persona element without id, title or file_name or of another type.",
        "Compare the dialogue with the publisher's file.",
    ),
    Rule(
        "MP-07",
        "warn",
        "A persona element with a time in neither or both of created_utc and created_utcs, or whose label_overall is "
        "unknown or not what its three workers say.",
        "Nothing; look at main.annotations before you count labels.",
    ),
    Rule(
        "MP-08",
        "warn",
        "A persona or candidate list on a turn of somebody other than the main author (the authors' code skips it), or "
        "a main author who says nothing.",
        "Nothing; the list is in the tables and makes no example.",
    ),
    Rule(
        "MP-09",
        "warn",
        "The file_name of a dialogue's picture or of a persona is not the id (a dialogue's is its first message_id), "
        "'_' and the last part of the direct_url; a candidate persona of the main author is not among all_personas; "
        "or the answer is among its candidates twice.",
        "Nothing; every value is kept as it was published. Where the answer is repeated, a model that picks the other "
        "position is counted as wrong.",
    ),
    Rule(
        "MP-10",
        "warn",
        "A train dialogue with the field of candidates that only val and test have, be it empty, or a val or test "
        "dialogue without it.",
        "Nothing; train examples have no candidates in the views.",
    ),
    Rule(
        "MP-11",
        "reject_dialogue",
        "A message that is null or not a text, or no messages at all.",
        "Compare the dialogue with the publisher's file.",
    ),
    Rule(
        "MP-12",
        "warn",
        "Other content under an id that is already in use: other words between the same first and last message, or "
        "another title, picture or author of a persona. Both are kept, the later under a key with '~' and a hash.",
        "Compare them: select * from main.personas where native_id = ...",
    ),
    Rule(
        "MP-13",
        "warn",
        "A file of a name that came before (packed and unpacked, say): both are kept, and the first in path order "
        "makes the examples.",
        "Remove one of the two: it makes the warehouse larger and adds nothing.",
    ),
    Rule(
        "MP-14",
        "warn",
        "An author that is null (the account was deleted), has_image that is 0, 1 or null, or a message's time that is "
        "NaN: the authors' code takes them. The turn has no speaker, or no time.",
        "Nothing; they are restored as they were published.",
    ),
)
