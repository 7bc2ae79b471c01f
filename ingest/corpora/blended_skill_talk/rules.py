"""What can be wrong with a file of Blended Skill Talk, how severe it is, and what to do."""

from talkhouse.ingest.common_rules import Rule

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
        "An episode with fewer than two personas, fewer than two sentences in the guided worker's, no seed utterances, "
        "or, from Wizard of Wikipedia, no topic. With fewer than two sentences in the free worker's, the episode is "
        "loaded and makes no persona_context.",
        "Compare the episode with the publisher's; the raw one is in meta.quarantine.",
    ),
    Rule(
        "BS-03",
        "reject_dialogue",
        "A message, a suggestion of one of the three models, a chosen suggestion or the context's data set is "
        "missing or not a text.",
        "Compare the episode with the publisher's; the raw one is in meta.quarantine.",
    ),
    Rule(
        "BS-04",
        "reject_dialogue",
        "label_candidates has fewer lists than the episode has entries, or is not a list of lists of texts.",
        "Compare the episode with the publisher's; there is one list for each turn of the guided worker.",
    ),
    Rule(
        "BS-05",
        "warn",
        "A turn with another flag than that of the worker whose turn it is, an odd number of turns (the last makes no "
        "example), fewer than two (the episode makes none), or a turn that is not a pair.",
        "Nothing; the reference code goes by the position of a turn.",
    ),
    Rule(
        "BS-06",
        "warn",
        "Other than 100 label candidates, or the label is not among them, several times, or last (where the "
        "reference teacher adds a space to it).",
        "Nothing; compare with guided_response_clean, which has no such space.",
    ),
    Rule(
        "BS-07",
        "warn",
        "A text that the reference teacher's round trip changes (a literal \\t, \\n or __PIPE__), or the name of a "
        "data set that is not one of the three.",
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
        "a cached episode without texts and labels, a line of ConvAI2 without a number, an episode of Wizard of "
        "Wikipedia without a dialogue. The reference code stops there. Or human_annotations.json is not a list of rows "
        "under the key data, or a row has other than its seven fields in their order, four of them true or false.",
        "Compare the file with the publisher's; the raw record is in meta.quarantine.",
    ),
    Rule(
        "BS-10",
        "warn",
        "A file of a kind that came before, or an episode under a key that already has other words.",
        "Where a folder is there both packed and unpacked, remove one of them; the first in path order counts.",
    ),
    Rule(
        "BS-11",
        "note",
        "Repetitions within a published list.",
        "Nothing; every repetition is a record of its own.",
    ),
    Rule(
        "BS-12",
        "warn",
        "Rows of human_annotations.json that valid.json does not go with: no loaded episode has the place "
        "internal_id, the rows of a dialogue are interrupted, too few or too many (a dialogue has them of all its "
        "turns but the last two, or three of an odd number), or a turn has other words. Such a row belongs to no turn; "
        "of a dialogue with such rows, neither does one whose words the dialogue has twice.",
        "Put both files of one download there; rows without a turn are in the view human_annotation all the same.",
    ),
)
