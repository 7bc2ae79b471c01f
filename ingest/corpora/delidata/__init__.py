"""DeliData: groups of people solve a card puzzle in a chat; messages are labelled by what they do for deliberation."""

from talkhouse.ingest.corpora.delidata.datasheet import DATASHEET
from talkhouse.ingest.corpora.delidata.labels import (
    ADDITIONAL,
    PERFORMANCE_CHANGE,
    SOLUTION,
    TARGET,
    TEAM_PERFORMANCE,
    TRACKER,
    TYPE,
)
from talkhouse.ingest.corpora.delidata.read import read
from talkhouse.ingest.corpora.delidata.rules import RULES
from talkhouse.ingest.corpora.delidata.write import write_record
from talkhouse.ingest.corpus import Author, Corpus, Exempt, LicenceTerms, People, Reference, Scheme
from talkhouse.ingest.stored_record import whole_files

_CARDS = "labels are the cards of a group, any letter or digit"

CORPUS = Corpus(
    id="delidata",
    version=5,
    title="DeliData: deliberation in multi-party problem solving",
    description=(
        "Chats of groups of two to six people who solve the Wason card selection task together. Messages are labelled "
        "as probing or non-probing deliberation; who holds which solution is tracked row by row."
    ),
    homepage="https://delibot.xyz/delidata",
    licence="Apache-2.0, that of the repository delitoolkit, which the corpus comes with",
    licence_url="https://github.com/gkaradzhov/delitoolkit/blob/HEAD/LICENSE",
    licence_terms=(
        LicenceTerms(
            spdx="Apache-2.0",
            is_attribution=True,
            note=(
                "That of the repository that it comes with. Elsewhere its authors are said to have published it under "
                "CC BY 4.0: ask them where that matters."
            ),
        ),
    ),
    citation=(
        "G. Karadzhov, T. Stafford, A. Vlachos: DeliData: A dataset for deliberation in multi-party problem solving. "
        "Proceedings of the ACM on Human-Computer Interaction 7 (CSCW2), 2023."
    ),
    authors=(
        Author("Karadzhov", "Georgi"),
        Author("Stafford", "Tom"),
        Author("Vlachos", "Andreas"),
    ),
    year=2023,
    reference=Reference(
        kind="article",
        title="DeliData: A dataset for deliberation in multi-party problem solving",
        venue="Proceedings of the ACM on Human-Computer Interaction",
        doi="10.1145/3610056",
        arxiv="2108.05271",
    ),
    people=People(note="Some texts name others of the group by the aliases that they had in it, as @Otter."),
    languages=("en",),
    files="the folder delidata_corpus: tab-separated files without an ending, each named after its group",
    by_hand=(
        "The files are the folder delitoolkit/delidata_corpus of https://github.com/gkaradzhov/delitoolkit: clone the "
        "repository, or download it as a .zip and unpack that, and copy the folder delidata_corpus."
    ),
    splits={"all": None},
    schemes=(
        Scheme(
            TYPE,
            "What a message does for deliberation; None and 0 are one class of the reference classifier.",
            "turn",
            {
                "Probing": "Provokes discussion without bringing in new information.",
                "Non-probing-deliberation": "Discusses the task: reasoning, solutions, agreement.",
                "None": "No deliberation: greetings, small talk, hesitation.",
                "0": "No deliberation, in the publisher's other spelling.",
            },
            kind="single_label",
        ),
        Scheme(
            TARGET,
            "What a deliberating message is about.",
            "turn",
            {
                "Moderation": "How the group goes about its discussion.",
                "Reasoning": "Why a card should or should not be turned.",
                "Solution": "Which cards to turn.",
                "Agree": "Agreement with what was said.",
                "Disagree": "Disagreement with what was said.",
                "0": "No target: the message is no deliberation.",
                "None": "No target, in the publisher's other spelling.",
            },
            kind="single_label",
        ),
        Scheme(
            ADDITIONAL,
            "What else a message does; one row per item, no row where the publisher has 0.",
            "turn",
            {
                "complete_solution": "Proposes all cards to turn.",
                "partial_solution": "Proposes some of the cards to turn.",
                "specific_addressee": "Speaks to somebody in particular.",
                "solution_summary": "Sums up the solutions so far.",
                "consider_opposite": "Asks to consider the opposite.",
            },
            kind="multi_label",
        ),
        Scheme(
            TEAM_PERFORMANCE,
            "Mean score of the tracker's solutions after this row, 0 to 1 (value).",
            "turn",
            kind="single_label",
        ),
        Scheme(
            PERFORMANCE_CHANGE, "Team performance less that of the row before (value).", "turn", kind="single_label"
        ),
        Scheme(SOLUTION, "The cards that a message proposes; one row per card.", "turn", kind="multi_label"),
        Scheme(
            TRACKER,
            "The cards that each user stands for after this row; one row per user (annotator_id) and card, a label "
            "that is null for an empty list.",
            "turn",
            {"N/A": "No solution of this user is known; published as the letters N, / and A."},
            kind="multi_label",
        ),
    ),
    datasheet=DATASHEET,
    rules=RULES,
    common_rules=("TH-02", "TH-05"),
    exceptions=(Exempt("labels_are_declared", SOLUTION, _CARDS), Exempt("labels_are_declared", TRACKER, _CARDS)),
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
