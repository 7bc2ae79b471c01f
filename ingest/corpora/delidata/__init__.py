"""DeliData: groups of people solve a card puzzle in a chat; messages are labelled by what they do for deliberation."""

from talkhouse.ingest.corpora.delidata.format import (
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
from talkhouse.ingest.corpus import Author, Corpus, Datasheet, Exempt, LicenceTerms, People, Reference, Scheme
from talkhouse.ingest.stored_record import whole_files

DATASHEET = Datasheet(
    motivation=(
        "Made by G. Karadzhov, T. Stafford and A. Vlachos to study how groups deliberate: what people say that helps a "
        "group to a better decision than its members make alone."
    ),
    composition=(
        "500 written chats, each of 2 to 6 people who solve the Wason card selection task: four cards lie on the "
        "table, and the group is to turn only those that test whether every card with a vowel on one side has an even "
        "number on the other. 14,003 messages and 3,107 submitted solutions; after each of them a tracker says which "
        "cards each person stands for, and how good the solutions of the group are on average, from 0 to 1."
    ),
    collection=(
        "Each person first solved the task alone, then the group discussed it in a chat of the authors' platform; "
        "people could submit a solution at any time. People have the names of animals. How they were found and paid is "
        "not said in the files."
    ),
    labelling=(
        "Each message has labels at three levels: type (probing, non-probing deliberation, none), target (such as "
        "reasoning or solution) and additional marks. The files have one label each, without the annotators and "
        "without their agreement. Solutions were extracted from the messages; performance is computed from them."
    ),
    uses=(
        "Telling what a message does for the discussion, writing messages that probe, finding what changes minds, and "
        "whether a group gains by talking. In 64 % of the groups it does, says the paper."
    ),
    limits=(
        "One task with one right answer, which is in textbooks, discussed in written English. Performance follows the "
        "tracker, which takes solutions from what people wrote: who says nothing keeps the solution of before. That a "
        "message comes before a change does not show that it caused the change."
    ),
    quirks=(
        "No deliberation is spelled in two ways, None and 0, both as text; the authors' classifier takes them as one.",
        "A name such as Otter is a person only within its group: the same 29 names occur in all groups.",
        "In 257 groups the tracker has people who say nothing and are not on the group's list. They count in the "
        "performance.",
        "N/A among the cards means that no solution is known; it is published as a list of three letters. It scores "
        "0.5, and so does an empty list.",
        "There is no published split. Folds over messages put the same chat on both sides: split by dialogue.",
        "Counts of groups that gain agree between these files and the raw room dumps (318 of 500), but for 18 groups "
        "the two say different things.",
        "All first rows have the message id -1: whoever keys on the id alone loses 499 rows.",
    ),
    sources=(
        "Paper (arXiv 2108.05271), abstract: 500 groups, 14,000 utterances, 64 %, 43.8 %.",
        "README of the corpus in delitoolkit: what the fields mean.",
        "ConvoKit's page on the corpus: the rule that the cards test.",
        "Counted in all 500 files: rows, names, labels, the tracker, how performance is computed.",
    ),
)


_CARDS = "labels are the cards of a group, any letter or digit"

CORPUS = Corpus(
    id="delidata",
    version=6,
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
    authors=(Author("Karadzhov", "Georgi"), Author("Stafford", "Tom"), Author("Vlachos", "Andreas")),
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
