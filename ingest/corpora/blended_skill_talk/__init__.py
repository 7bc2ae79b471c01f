"""Blended Skill Talk: people talk in pairs, one of them guided by the suggestions of three models."""

from talkhouse.ingest.corpora.blended_skill_talk.format import CHOSEN, MODELS, SPLITS
from talkhouse.ingest.corpora.blended_skill_talk.human_annotations import MODES, scheme_of
from talkhouse.ingest.corpora.blended_skill_talk.read import read
from talkhouse.ingest.corpora.blended_skill_talk.rules import RULES
from talkhouse.ingest.corpora.blended_skill_talk.write import write, write_record
from talkhouse.ingest.corpus import Author, Corpus, Datasheet, Exempt, LicenceTerms, People, Reference, Scheme, Source

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


_FROM = "http://parl.ai/downloads/blended_skill_talk"
_CACHED = "ed_persona_topicifier__"

CORPUS = Corpus(
    id="blended_skill_talk",
    version=8,
    title="Blended Skill Talk",
    description=(
        "Dialogues of two crowd workers with personas, in contexts of ConvAI2, EmpatheticDialogues and Wizard of "
        "Wikipedia. One of them may take what one of three models suggests. With it come lists of personas, topics "
        "and cached acts that ParlAI uses beside them."
    ),
    homepage="https://parl.ai/projects/bst/",
    licence="CC BY 4.0",
    licence_url="https://creativecommons.org/licenses/by/4.0/",
    licence_terms=(LicenceTerms(spdx="CC-BY-4.0", is_attribution=True),),
    citation=(
        "E. M. Smith, M. Williamson, K. Shuster, J. Weston, Y.-L. Boureau: Can You Put it All Together: Evaluating "
        "Conversational Agents' Ability to Blend Skills. Proceedings of ACL 2020."
    ),
    authors=(
        Author("Smith", "Eric Michael"),
        Author("Williamson", "Mary"),
        Author("Shuster", "Kurt"),
        Author("Weston", "Jason"),
        Author("Boureau", "Y-Lan"),
    ),
    year=2020,
    reference=Reference(
        kind="inproceedings",
        title="Can You Put it All Together: Evaluating Conversational Agents' Ability to Blend Skills",
        venue="Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics",
        doi="10.18653/v1/2020.acl-main.183",
        arxiv="2004.08449",
    ),
    people=People(members=("carried.workers", "carried.bad_workers", "carried.hit_ids", "carried.assignment_ids")),
    languages=("en",),
    files=(
        "blended_skill_talk.tar.gz or train.json, valid.json, test.json; persona_list.txt, topic_to_persona_list.txt, "
        "safe_personas.txt, ed_persona_topicifier__*.json, human_annotations.json; folders convai2 and "
        "wizard_of_wikipedia with ParlAI's files of these corpora"
    ),
    sources=(
        Source(
            "blended_skill_talk.tar.gz",
            f"{_FROM}/blended_skill_talk.tar.gz",
            "5fbed0068ee89e2d43b93c3ecb341e784617033efa5e8e911a219d4eda6134a6",
            holds=("train.json", "valid.json", "test.json"),
        ),
        Source(
            "persona_list.txt",
            f"{_FROM}/personas_list.txt",
            "59a51adedc78e806a380f16477de3740cefe3494d20f8a2a733841bedaaa3ee5",
            size=3_620_406,
        ),
        Source(
            "topic_to_persona_list.txt",
            f"{_FROM}/topic_to_persona_list.txt",
            "47cdb6cbee0516ca7400be35fa07761339b86c6c026425bf5dba00e5534e8182",
            size=93_950,
        ),
        Source(
            f"{_CACHED}train__both_sides.json",
            f"{_FROM}/{_CACHED}train__both_sides.json",
            "ff2ea7c5fcb0449890d57a629cc3e8794ab95ac6db1057bf58d540c2b576e4cc",
        ),
        Source(
            f"{_CACHED}train__experiencer_only.json",
            f"{_FROM}/{_CACHED}train__experiencer_only.json",
            "751f0ba2f421a11eee2bfc896d60ab70d669093c3a5f6cb30e8d202133a90ec7",
        ),
        Source(
            f"{_CACHED}valid__experiencer_only.json",
            f"{_FROM}/{_CACHED}valid__experiencer_only.json",
            "15d5412f5990a8a9c892305009d8597a737322aafe878b03ec71143703b25ba0",
        ),
        Source(
            f"{_CACHED}test__experiencer_only.json",
            f"{_FROM}/{_CACHED}test__experiencer_only.json",
            "2604e977787be0b5edc54561f7ce8a54c40758d235a3fee262fe20fe36b8cd15",
        ),
        Source(
            "safe_personas.txt",
            f"{_FROM}/safe_personas_2.txt",
            "2ee292aa0006ea002e9b23d4f7326fe9e17514ce5793d31fd8d679035d4366a7",
            size=2_095_137,
        ),
        Source(
            "human_annotations.json",
            f"{_FROM}/human_annotations.json",
            "fe76a989d4fdcfa4a5beb214054069ed0abf45f3530eaeb8df38e75f7bb14795",
        ),
    ),
    splits=SPLITS,
    schemes=(
        Scheme(
            CHOSEN,
            "The model whose suggestion the guided worker took; the suggestion itself is in extra, as 'text'.",
            "turn",
            {
                "": "No suggestion: the worker wrote freely.",
                " ": "No suggestion, in the publisher's other spelling.",
                **{model: f"The suggestion of the model that was trained on {model}." for model in MODELS},
            },
            kind="single_label",
        ),
        *(
            Scheme(
                scheme_of(mode),
                f"Whether a turn of the validation set shows the mode {mode}; the label is as human_annotations.json "
                "has it.",
                "record",
                {"true": "The turn shows it.", "false": "The turn does not show it."},
            )
            for mode in MODES
        ),
    ),
    datasheet=DATASHEET,
    rules=RULES,
    exceptions=tuple(
        Exempt("labels_are_declared", scheme_of(mode), "the layout of human_annotations.json is not documented")
        for mode in MODES
    ),
    read=read,
    write=write,
    write_record=write_record,
)
