"""What a user of Blended Skill Talk should know before using it."""

from talkhouse.ingest.corpus import Datasheet

DATASHEET = Datasheet(
    motivation=(
        "Made by E. M. Smith, M. Williamson, K. Shuster, J. Weston and Y.-L. Boureau (Facebook AI Research) to see how "
        "an agent blends three skills that were studied apart: personality, empathy and knowledge."
    ),
    composition=(
        "6,808 dialogues of two people: 4,819 for training, 1,009 for validation, 980 for testing. Each person has a "
        "persona of sentences from ConvAI2. A dialogue begins with two utterances of ConvAI2, EmpatheticDialogues or "
        "Wizard of Wikipedia; these were not said in it. With it come lists of personas and topics that ParlAI uses."
    ),
    collection=(
        "Crowd workers in pairs. One writes freely. The other is guided: each time they see what three models suggest, "
        "each trained for one of the three skills, and may take one, change it or write their own. The files name "
        "workers and tasks by ids as Amazon Mechanical Turk has them. Pay is not in the files."
    ),
    labelling=(
        "Which suggestion the guided worker took was recorded as they chose. For about 700 turns of the validation set "
        "people said which skills they show (human_annotations.json); its layout is not documented."
    ),
    uses=(
        "Answering as the guided person does; choosing the answer among 100 candidates in valid and test. The lists of "
        "personas and topics give contexts for such talk."
    ),
    limits=(
        "English small talk of crowd workers who play a persona. Half of all utterances were written with suggestions "
        "of models in view, even where none was taken. Which suggestion was taken shows a choice, not that it was "
        "best."
    ),
    quirks=(
        "No suggestion taken is spelled in two ways: an empty text, and one blank (in train).",
        "ParlAI writes the data to text files and reads them back, which adds a blank to the last field of a line and "
        "turns a literal \\t or \\n into a tab or a line feed. guided_response has that, guided_response_clean not.",
        "165 dialogues in valid and 190 in test end without an answer of the guided worker; that last turn makes no "
        "example.",
        "Who speaks follows from the position of an utterance, whatever its flag says.",
        "The README says that the situation of EmpatheticDialogues is part of a dialogue's context. ParlAI's code puts "
        "the topic of Wizard of Wikipedia there and leaves the situation out, and so do the views; dialogues.extra has "
        "it.",
        "The lists repeat themselves: 310 of 17,878 personas, and 599 of 16,434 lines of safe personas.",
    ),
    sources=(
        "Paper (ACL 2020, arXiv 2004.08449): purpose and collection.",
        "ParlAI's README, code and tests of the task: files, counts, what is read.",
        "Counted in the published lists; odd dialogues and fields as seen in the original files.",
    ),
)
