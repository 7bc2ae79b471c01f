"""What can be wrong with a file of Blended Skill Talk, how grave it is, and what to do."""

from ingest.common_rules import Rule

RULES = (
    Rule(
        "BS-01",
        "reject_file",
        "In an episode, dialog, suggestions and chosen_suggestions have different lengths: the reference code stops.",
        "Compare the file with the publisher's; the three lists go turn by turn.",
    ),
    Rule(
        "BS-02",
        "reject_dialogue",
        "An episode with fewer than two personas, fewer than two sentences of the guided worker's, no seed utterances, "
        "or, from Wizard of Wikipedia, without a topic. Fewer than two sentences of the free worker's: the episode is "
        "loaded and makes no persona_context.",
        "Compare the episode with the publisher's; the raw one is in meta.quarantine.",
    ),
    Rule(
        "BS-03",
        "reject_dialogue",
        "A message, a suggestion of one of the three models, a chosen suggestion or the context's data set is "
        "missing or no text.",
        "Compare the episode with the publisher's; the raw one is in meta.quarantine.",
    ),
    Rule(
        "BS-04",
        "reject_dialogue",
        "label_candidates has fewer lists than the episode has entries, or is no list of lists of texts.",
        "Compare the episode with the publisher's; there is one list for each turn of the guided worker.",
    ),
    Rule(
        "BS-05",
        "warn",
        "Somebody else's flag on a turn than the free worker's and the guided one's in turn, an odd number of turns "
        "(the last makes no example), fewer than two (the episode makes none), or a turn that is no pair.",
        "Nothing; the reference code goes by the position of a turn.",
    ),
    Rule(
        "BS-06",
        "warn",
        "Other than 100 label candidates, or the label is not among them, several times, or last (where the "
        "reference teacher adds a blank to it).",
        "Nothing; compare with guided_response_clean, which has no such blank.",
    ),
    Rule(
        "BS-07",
        "warn",
        "A text that the reference teacher's round trip changes (a literal \\t, \\n or __PIPE__), or a name of a data "
        "set that is none of the three.",
        "Nothing; guided_response_clean has the texts as published.",
    ),
    Rule(
        "BS-08",
        "warn",
        "Label candidates in train, none in valid or test, or an empty list of them.",
        "Compare the file with the publisher's.",
    ),
    Rule(
        "BS-09",
        "reject_dialogue",
        "A record of an auxiliary file that does not have its format: a line that is not 'topic: [list of texts]', "
        "a cached episode without texts and labels, a line of ConvAI2 without number, an episode of Wizard of "
        "Wikipedia without dialogue. The reference code stops there.",
        "Compare the file with the publisher's; the raw record is in meta.quarantine.",
    ),
    Rule(
        "BS-10",
        "warn",
        "A file that was given twice, or an episode under a key that already has other words.",
        "Where a folder was given both packed and unpacked, take one of them away; the first in path order counts.",
    ),
    Rule(
        "BS-11",
        "note",
        "Repetitions within a published list, and the shape of human_annotations.json, which nothing documents.",
        "Nothing; every repetition is a record of its own.",
    ),
)
